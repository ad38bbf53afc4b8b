import type { FastifyInstance, FastifyReply } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { categorieOf } from '../domain/access.ts';
import { AANVULLEND, BASIS, objectPart } from '../domain/proof-parts.ts';
import { parseVerwerktObjectId, type Versie } from '../domain/verwerkingsactie.ts';
import { proveVersion } from '../store/proof.ts';
import { readLast, revealWithinBudget, type StoredVersie } from '../store/versions.ts';
import { namedPerson, shownObjects } from './person-page.ts';
import {
  actieNotFound,
  distinctPersons,
  isReadByNameOnly,
  objectNotFound,
  personRequired,
  requireVisible,
  shownCategorieen,
} from './read-verwerkingsacties.ts';
import { allow, may, type RouteNeeds, readerOf, refuse } from './request-reply.ts';

/** The proof of an action and of one of its objects: who may read it may have it, and it shows what reading shows. */
export function proofRoutes(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, log } = needs;

  contract.serve(app, 'getVerwerkingsactieBewijs', { authenticate: access }, async (request, reply) => {
    const reader = readerOf(request, reply, needs, 'Bewijs van een verwerkingsactie opvragen');
    const person = namedPerson(request.query);
    const proof = await needs.loggedRead(reader, async (db) => {
      const stored = await readLast(db, request.params.actieId);
      if (stored === undefined) throw actieNotFound();
      const categorie = categorieOf(stored);
      requireVisible(request, categorie);
      const versie = await revealWithinBudget(stored, log.keys);
      const objecten = shownObjects(request, request.query, versie.objecten);
      if (objecten === undefined) throw actieNotFound();
      const beperkteSet = request.query.beperkteSet ?? !may(request, 'opvragen', [categorie], false);
      allow(request, 'opvragen', [categorie], beperkteSet);
      if (person === undefined && isReadByNameOnly(stored.objecten.length)) refuse(personRequired());
      const shown = [BASIS, ...(beperkteSet ? [] : [AANVULLEND])];
      for (const { nummer } of objecten) shown.push(objectPart(stored.actieId, nummer));
      return {
        result: await prove(db, { stored, versie, shown }),
        persons: person === undefined ? distinctPersons(objecten) : [person],
        confidential: categorie === 'vertrouwelijk',
      };
    });
    return sendProof(reply, proof);
  });

  contract.serve(app, 'getVerwerktObjectBewijs', { authenticate: access }, async (request, reply) => {
    const { actieId, number } = parseVerwerktObjectId(request.params.verwerktObjectId);
    const reader = readerOf(request, reply, needs, 'Bewijs van een verwerkt object opvragen');
    const proof = await needs.loggedRead(reader, async (db) => {
      const stored = await readLast(db, actieId);
      if (stored === undefined || !shownCategorieen(request).includes(categorieOf(stored))) throw objectNotFound();
      const versie = await revealWithinBudget(stored, log.keys);
      const own = versie.objecten.filter(({ nummer }) => nummer === number);
      const [object] = shownObjects(request, request.query, own) ?? [];
      if (object === undefined) throw objectNotFound();
      const shown = [BASIS, objectPart(actieId, number)];
      return { result: await prove(db, { stored, versie, shown }), persons: [object], confidential: false };
    });
    return sendProof(reply, proof);
  });

  async function prove(
    db: pg.PoolClient,
    { stored, versie, shown }: { stored: StoredVersie; versie: Versie; shown: readonly string[] },
  ): Promise<string> {
    const writer = needs.proof('verwerkingen', 'kept');
    const made = await proveVersion(db, writer, { stored, versie, shown }, log.keys);
    if ('proof' in made) return made.proof;
    if (made.none === 'removed') throw new Problem(platformProblems.bewijsVerwijderd);
    if (made.none === 'without-entry') throw new Problem(platformProblems.zonderBewijs);
    const retryAfter = String(writer?.intervalSeconds ?? 0);
    throw new Problem(platformProblems.bewijsVolgt, { headers: { 'retry-after': retryAfter } });
  }
}

function sendProof(reply: FastifyReply, proof: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').send(proof);
}
