import type { FastifyInstance } from 'fastify';
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';
import { categorieOf } from '../domain/access.ts';
import { etag } from '../domain/etag.ts';
import { readCurrent } from '../store/read-versie.ts';
import { reveal } from '../store/stored-versie.ts';
import { actieAnswer } from './answers.ts';
import { shownObjects } from './person-query.ts';
import { allow, may, type RouteNeeds, readerOf, tagged } from './route-needs.ts';

/** One action by its identity. */
export function getVerwerkingsactie(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;
  contract.serve(app, 'getVerwerkingsactie', { authenticate: access }, async (request, reply) => {
    const reader = readerOf(request, needs, 'Verwerkingsactie opvragen');
    const { versie, beperkteSet } = await needs.readInLog(reader, async (db) => {
      const stored = await readCurrent(db, request.params.actieId);
      if (stored === undefined) throw notFound();
      const categorie = categorieOf(stored);
      // Unasked, all that the caller may see: who changes an action must give every field of it back.
      const beperkteSet = request.query.beperkteSet ?? !may(request, 'opvragen', [categorie], false);
      allow(request, 'opvragen', [categorie], beperkteSet);
      const whole = reveal(stored, needs.log.keys);
      // Asked last: of a confidential action nobody learns who stands in it.
      const objecten = shownObjects(request, request.query, whole.objecten);
      if (objecten === undefined) throw notFound();
      const confidential = categorie === 'vertrouwelijk';
      return { result: { versie: { ...whole, objecten }, beperkteSet }, persons: objecten, confidential };
    });
    return tagged(request, reply, etag(versie.versie), actieAnswer(versie, base(), beperkteSet));
  });
}

function notFound(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'De actie bestaat niet of is vervallen.' });
}
