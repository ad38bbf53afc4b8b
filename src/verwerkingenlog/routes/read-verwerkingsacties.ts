import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/verwerkingenlog.ts';
import type { Db } from '../../database/transaction.ts';
import { Problem } from '../../lib/problem.ts';
import { callerOf } from '../../plugins/auth.ts';
import { refuse } from '../../plugins/faults.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { type Categorie, categorieOf } from '../domain/categories.ts';
import { reveal, type StoredVersie } from '../domain/encryption.ts';
import { AANVULLEND, BASIS, objectPart } from '../domain/proof-parts.ts';
import {
  actieAnswer,
  objectAnswer,
  parseVerwerktObjectId,
  personKey,
  readVertrouwelijkheid,
} from '../domain/verwerkingsactie.ts';
import { readerOf } from '../logged-read.ts';
import { proveVersion } from '../store/proof.ts';
import { type PartOfVersie, readCurrentParts, readLast } from '../store/versions.ts';
import {
  type AskedPerson,
  hashesOf,
  namedPerson,
  preparePersonPage,
  queryFaults,
  shownObjects,
} from './person-page.ts';
import { allow, etag, may, sendWithETag } from './verwerkingsacties.ts';

/** About more persons, the caller must name one: the entry of a reading, kept for ten years, names everybody whose data were read. */
const MAX_UNNAMED = 1000;

/** What a caller may see. @throws {Problem} 404 also when that is nothing: a 403 would reveal that there is something confidential */
async function visibleActie(
  request: FastifyRequest<{ Querystring: AskedPerson & { readonly beperkteSet?: boolean } }>,
  found: PartOfVersie | undefined,
) {
  const notFound = new Problem(platformProblems.notFound, { detail: 'De actie bestaat niet of is vervallen.' });
  if (found === undefined) throw notFound;
  const categorie = categorieOf(found.stored);
  if (!may(request, 'opvragen', [categorie], true)) throw notFound;
  const whole = await reveal(found.stored, request.server.actieLog.keys);
  const objecten = shownObjects(request, request.query, whole.objecten);
  if (objecten === undefined) throw notFound;
  // By default everything that the caller may see, because a PUT must return every field.
  const beperkteSet = request.query.beperkteSet ?? !may(request, 'opvragen', [categorie], false);
  allow(request, 'opvragen', [categorie], beperkteSet);
  const person = namedPerson(request.query);
  if (person === undefined && found.objects > MAX_UNNAMED) {
    const reason = `ontbreekt: van een actie met meer dan ${MAX_UNNAMED} verwerkte objecten zijn alleen die van een genoemde persoon op te vragen`;
    refuse(['objecttype', 'soortObjectId', 'objectId'].map((name) => ({ name, code: 'required', reason })));
  }
  // Each person once, even with several objects.
  const all = [...new Map(objecten.map((object) => [personKey(object), object])).values()];
  const persons = person === undefined ? all : [person];
  return {
    stored: found.stored,
    whole,
    objecten,
    beperkteSet,
    logged: { persons, confidential: categorie === 'vertrouwelijk' },
  };
}

/** One action by its identity, and its proof, which has the same access rules and shows the same. */
export function getVerwerkingsactie(app: FastifyInstance): void {
  const { contract, access, base, loggedRead } = app.verwerkingenlog;
  const { keys } = app.actieLog;

  contract.serve(app, 'getVerwerkingsactie', { authenticate: access }, async (request, reply) => {
    const reader = readerOf(request, reply, 'Verwerkingsactie opvragen');
    const person = namedPerson(request.query);
    const { versie, beperkteSet } = await loggedRead(reader, async (db) => {
      const wanted = person === undefined ? { most: MAX_UNNAMED } : { hashes: hashesOf(person, keys) };
      const [found] = await readCurrentParts(db, [request.params.actieId], wanted);
      const { whole, objecten, beperkteSet, logged } = await visibleActie(request, found);
      return { result: { versie: { ...whole, objecten }, beperkteSet }, ...logged };
    });
    return sendWithETag(request, reply, etag(versie.versie), actieAnswer(versie, base(), beperkteSet));
  });

  contract.serve(app, 'getVerwerkingsactieBewijs', { authenticate: access }, async (request, reply) => {
    const reader = readerOf(request, reply, 'Bewijs van een verwerkingsactie opvragen');
    const proof = await loggedRead(reader, async (db) => {
      const last = await readLast(db, request.params.actieId);
      const found = last && { stored: last, objects: last.objecten.length };
      const { stored, whole, objecten, beperkteSet, logged } = await visibleActie(request, found);
      const parts = objecten.map(({ nummer }) => objectPart(whole.actieId, nummer));
      const shown = [BASIS, ...(beperkteSet ? [] : [AANVULLEND]), ...parts];
      return { result: await prove(db, app, { stored, versie: whole, shown }), ...logged };
    });
    return reply.type(PROOF_TYPE).send(proof);
  });
}

const PROOF_TYPE = 'text/plain; charset=utf-8';

/** @throws {Problem} 404 when there is no proof, or not yet */
async function prove(db: Db, app: FastifyInstance, proven: Parameters<typeof proveVersion>[2]): Promise<string> {
  const writer = app.proof('verwerkingen', 'kept');
  const made = await proveVersion(db, writer, proven, app.actieLog.keys);
  if ('proof' in made) return made.proof;
  if (made.none === 'removed') throw new Problem(platformProblems.bewijsVerwijderd);
  if (made.none === 'without-entry') throw new Problem(platformProblems.zonderBewijs);
  const retryAfter = String(writer?.intervalSeconds ?? 0);
  throw new Problem(platformProblems.bewijsVolgt, { headers: { 'retry-after': retryAfter } });
}

/** F4086, F2525, F9787 and F0143: the actions in which a person was processed. */
export function getVerwerkingsacties(app: FastifyInstance): void {
  const { contract, access, base, loggedRead } = app.verwerkingenlog;
  contract.serve(
    app,
    'getVerwerkingsacties',
    { authenticate: access, furtherFaults: ({ query }) => queryFaults(query, 'actie') },
    async (request, reply) => {
      const { query } = request;
      const categorieen = askedCategorieen(query);
      allow(request, 'opvragen', categorieen, query.beperkteSet);
      const address = `${base()}/verwerkingsacties`;
      const read = preparePersonPage(request, query, { categorieen, address, per: 'actie' });
      const reader = readerOf(request, reply, 'Verwerkingsacties van een persoon opvragen');
      const { versies, ...page } = await loggedRead(reader, read);
      const results = versies.map((versie) => actieAnswer(versie, base(), query.beperkteSet));
      return { ...page, results };
    },
  );
}

/** Both spellings of the parameter together, each value once; without either, only actions that are not confidential. */
function askedCategorieen(query: operations['getVerwerkingsacties']['Querystring']): Categorie[] {
  const words = [...(query.vertrouwelijkheid ?? []), ...(query.vertrouwelijkheid__in?.split(',') ?? [])];
  return words.length === 0 ? ['normaal'] : [...new Set(words.map(readVertrouwelijkheid))];
}

/** For inspection: no confidential actions, and lifted ones only with the scope for confidential ones. */
function shownCategorieen(request: FastifyRequest): readonly Categorie[] {
  return callerOf(request).scopes.has('read:confidential') ? ['normaal', 'opgeheven'] : ['normaal'];
}

/** Inspection by the person concerned. */
export function getVerwerkteObjecten(app: FastifyInstance): void {
  const { contract, access, base, loggedRead } = app.verwerkingenlog;
  const { keys } = app.actieLog;

  contract.serve(
    app,
    'getVerwerkteObjecten',
    { authenticate: access, furtherFaults: ({ query }) => queryFaults(query, 'object') },
    async (request, reply) => {
      const { query } = request;
      const address = `${base()}/verwerkte-objecten`;
      const categorieen = shownCategorieen(request);
      const read = preparePersonPage(request, query, { categorieen, address, per: 'object' });
      const reader = readerOf(request, reply, 'Inzage door de betrokkene');
      const { versies, ...page } = await loggedRead(reader, read);
      const results = versies.flatMap((versie) =>
        versie.objecten.map((object) => objectAnswer(object, versie, base())),
      );
      return { ...page, results };
    },
  );

  const notFound = () =>
    new Problem(platformProblems.notFound, { detail: 'Het verwerkte object bestaat niet of is vervallen.' });

  /** @throws {Problem} 404 also when the caller may not see the object */
  async function visibleObject(
    request: FastifyRequest<{ Querystring: AskedPerson }>,
    stored: StoredVersie | undefined,
    number: number,
  ) {
    if (stored === undefined || !shownCategorieen(request).includes(categorieOf(stored))) throw notFound();
    const versie = await reveal(stored, keys);
    const own = versie.objecten.filter(({ nummer }) => nummer === number);
    const [object] = shownObjects(request, request.query, own) ?? [];
    if (object === undefined) throw notFound();
    return { object, versie, stored };
  }

  contract.serve(app, 'getVerwerktObject', { authenticate: access }, async (request, reply) => {
    const { actieId, number } = parseVerwerktObjectId(request.params.verwerktObjectId);
    const reader = readerOf(request, reply, 'Inzage door de betrokkene');
    const { object, versie } = await loggedRead(reader, async (db) => {
      const [part] = await readCurrentParts(db, [actieId], { number });
      const result = await visibleObject(request, part?.stored, number);
      return { result, persons: [result.object], confidential: false };
    });
    return sendWithETag(request, reply, etag(versie.versie), objectAnswer(object, versie, base()));
  });

  contract.serve(app, 'getVerwerktObjectBewijs', { authenticate: access }, async (request, reply) => {
    const { actieId, number } = parseVerwerktObjectId(request.params.verwerktObjectId);
    const reader = readerOf(request, reply, 'Bewijs van een verwerkt object opvragen');
    const proof = await loggedRead(reader, async (db) => {
      const { object, versie, stored } = await visibleObject(request, await readLast(db, actieId), number);
      const shown = [BASIS, objectPart(actieId, number)];
      return { result: await prove(db, app, { stored, versie, shown }), persons: [object], confidential: false };
    });
    return reply.type(PROOF_TYPE).send(proof);
  });
}
