import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/verwerkingenlog.ts';
import { type InvalidParam, Problem } from '../../lib/problem.ts';
import { callerOf } from '../../plugins/auth.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { type Categorie, categorieOf } from '../domain/access.ts';
import { personKey } from '../domain/identity-keys.ts';
import { readVertrouwelijkheid } from '../domain/read-actie.ts';
import { parseVerwerktObjectId, type VerwerktObject } from '../domain/verwerkingsactie.ts';
import { readCurrentPart, reveal, revealWithinBudget } from '../store/versions.ts';
import { hashesOf, namedPerson, preparePersonPage, queryFaults, shownObjects } from './person-page.ts';
import {
  actieAnswer,
  allow,
  etag,
  may,
  objectAnswer,
  type RouteNeeds,
  readerOf,
  refuse,
  tagged,
} from './request-reply.ts';

/**
 * An action about more persons is read for one person, whom the caller names: the entry of a reading names everybody whose data were read,
 * and is stored for ten years.
 */
const MAX_UNNAMED = 1000;

/** One action by its identity. */
export function getVerwerkingsactie(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;
  contract.serve(app, 'getVerwerkingsactie', { authenticate: access }, async (request, reply) => {
    const reader = readerOf(request, reply, needs, 'Verwerkingsactie opvragen');
    const person = namedPerson(request.query);
    const { versie, beperkteSet } = await needs.loggedRead(reader, async (db) => {
      const wanted = person === undefined ? { most: MAX_UNNAMED } : { hashes: hashesOf(person, needs.log.keys) };
      const part = await readCurrentPart(db, request.params.actieId, wanted);
      if (part === undefined) throw actieNotFound();
      const { stored } = part;
      const categorie = categorieOf(stored);
      requireVisible(request, categorie);
      const read = await revealWithinBudget(stored, needs.log.keys);
      const objecten = shownObjects(request, request.query, read.objecten);
      if (objecten === undefined) throw actieNotFound();
      // By default all that the caller may see: a PUT must give every field back.
      const beperkteSet = request.query.beperkteSet ?? !may(request, 'opvragen', [categorie], false);
      allow(request, 'opvragen', [categorie], beperkteSet);
      if (person === undefined && isReadByNameOnly(part.objects)) refuse(personRequired());
      return {
        result: { versie: { ...read, objecten }, beperkteSet },
        persons: person === undefined ? distinctPersons(objecten) : [person],
        confidential: categorie === 'vertrouwelijk',
      };
    });
    return tagged(request, reply, etag(versie.versie), actieAnswer(versie, base(), beperkteSet));
  });
}

/** Whether an action with so many objects is read for one named person only. */
export function isReadByNameOnly(objects: number): boolean {
  return objects > MAX_UNNAMED;
}

export function personRequired(): InvalidParam[] {
  const reason = `ontbreekt: van een actie met meer dan ${MAX_UNNAMED} verwerkte objecten zijn alleen die van een genoemde persoon op te vragen`;
  return ['objecttype', 'soortObjectId', 'objectId'].map((name) => ({ name, code: 'required', reason }));
}

/** Each person once, even with several objects. */
export function distinctPersons(objects: readonly VerwerktObject[]): VerwerktObject[] {
  return [...new Map(objects.map((object) => [personKey(object), object])).values()];
}

/**
 * A caller who may not see an action gets the answer for an unknown one: a 403 would tell that there is something confidential.
 * @throws {Problem} 404
 */
export function requireVisible(request: FastifyRequest, categorie: Categorie): void {
  if (!may(request, 'opvragen', [categorie], true)) throw actieNotFound();
}

export function actieNotFound(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'De actie bestaat niet of is vervallen.' });
}

type ListQuery = operations['getVerwerkingsacties']['parameters']['query'];

/** F4086, F2525, F9787 and F0143: the actions in which a person was processed. */
export function getVerwerkingsacties(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;
  contract.serve(
    app,
    'getVerwerkingsacties',
    { authenticate: access, furtherFaults: ({ query }) => queryFaults(query, 'actie') },
    async (request, reply) => {
      const { query } = request;
      const categorieen = askedCategorieen(query);
      allow(request, 'opvragen', categorieen, query.beperkteSet);
      const address = `${base()}/verwerkingsacties`;
      const read = preparePersonPage(request, query, needs, { categorieen, address, per: 'actie' });
      const reader = readerOf(request, reply, needs, 'Verwerkingsacties van een persoon opvragen');
      const { versies, ...page } = await needs.loggedRead(reader, async (db) => ({
        ...(await read(db)),
        persons: [{ soortObjectId: query.soortObjectId, objectId: query.objectId }],
      }));
      const results = versies.map((versie) => actieAnswer(versie, base(), query.beperkteSet));
      return { ...page, results };
    },
  );
}

/** Both spellings of the parameter together, each value once; without either, what is not confidential. */
function askedCategorieen(query: ListQuery): Categorie[] {
  const words = [...(query.vertrouwelijkheid ?? []), ...(query.vertrouwelijkheid__in?.split(',') ?? [])];
  return words.length === 0 ? ['normaal'] : [...new Set(words.map(readVertrouwelijkheid))];
}

export function objectNotFound(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'Het verwerkte object bestaat niet of is vervallen.' });
}

/** What inspection shows: nothing that is confidential, and what was lifted only with the scope for confidential actions. */
export function shownCategorieen(request: FastifyRequest): readonly Categorie[] {
  return callerOf(request).scopes.has('read:confidential') ? ['normaal', 'opgeheven'] : ['normaal'];
}

/** Inspection by the person: where he was processed. */
export function getVerwerkteObjecten(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;

  contract.serve(
    app,
    'getVerwerkteObjecten',
    { authenticate: access, furtherFaults: ({ query }) => queryFaults(query, 'object') },
    async (request, reply) => {
      const { query } = request;
      const address = `${base()}/verwerkte-objecten`;
      const read = preparePersonPage(request, query, needs, {
        categorieen: shownCategorieen(request),
        address,
        per: 'object',
      });
      const { versies, ...page } = await needs.loggedRead(
        readerOf(request, reply, needs, 'Inzage door de betrokkene'),
        async (db) => ({
          ...(await read(db)),
          persons: [{ soortObjectId: query.soortObjectId, objectId: query.objectId }],
        }),
      );
      const results = versies.flatMap((versie) =>
        versie.objecten.map((object) => objectAnswer(object, versie, base())),
      );
      return { ...page, results };
    },
  );

  contract.serve(app, 'getVerwerktObject', { authenticate: access }, async (request, reply) => {
    const { actieId, number } = parseVerwerktObjectId(request.params.verwerktObjectId);
    const reader = readerOf(request, reply, needs, 'Inzage door de betrokkene');
    const { object, versie } = await needs.loggedRead(reader, async (db) => {
      const part = await readCurrentPart(db, actieId, { number });
      const versie =
        part !== undefined && shownCategorieen(request).includes(categorieOf(part.stored))
          ? reveal(part.stored, needs.log.keys)
          : undefined;
      const [object] = shownObjects(request, request.query, versie?.objecten ?? []) ?? [];
      if (versie === undefined || object === undefined) {
        throw objectNotFound();
      }
      return { result: { object, versie }, persons: [object], confidential: false };
    });
    return tagged(request, reply, etag(versie.versie), objectAnswer(object, versie, base()));
  });
}
