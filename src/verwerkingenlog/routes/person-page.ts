import type { FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/verwerkingenlog.ts';
import type { Db } from '../../database/transaction.ts';
import { UUID } from '../../lib/patterns.ts';
import type { InvalidParam } from '../../lib/problem.ts';
import { toUtc } from '../../lib/time.ts';
import { callerOf } from '../../plugins/auth.ts';
import { refuse } from '../../plugins/faults.ts';
import type { Categorie } from '../domain/categories.ts';
import { type Cursor, pageOf, readCursor, writeCursor } from '../domain/cursor.ts';
import { type IdentityKeys, reveal } from '../domain/encryption.ts';
import type { Versie } from '../domain/verwerkingsactie.ts';
import { isSamePerson, type Person } from '../domain/verwerkingsactie.ts';
import type { Reading } from '../logged-read.ts';
import { countLocations, findLocations, type Location, type PersonFilter, readVersionsAt } from '../store/find.ts';

interface PersonPage {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  /** Newest first, each with only the objects of this person; per object: once for each of them. */
  readonly versies: readonly Versie[];
}

/**
 * Prepares the reading of one page of a person's actions. The reading resolves when all of its queries have been sent.
 * @throws {Problem} 400 for faults that a contract cannot express
 */
export function preparePersonPage(
  request: FastifyRequest,
  query: PersonQuery,
  options: {
    readonly categorieen: readonly Categorie[];
    readonly address: string;
    readonly per: PersonFilter['per'];
    readonly without?: PersonFilter['without'];
  },
): (db: Db) => Promise<Reading<PersonPage>> {
  refuse(queryFaults(query, options.per));
  const { keys } = request.server.actieLog;
  const { soortObjectId, objectId, beginDatum, eindDatum } = query;
  const filter: PersonFilter = {
    hashes: hashesOf(query, keys),
    categorieen: options.categorieen,
    per: options.per,
    begin: beginDatum === undefined ? undefined : toUtc(beginDatum),
    eind: eindDatum === undefined ? undefined : toUtc(eindDatum),
    verwerkingsactiviteitId: query.verwerkingsactiviteitId,
    without: options.without,
  };
  const cursor = query.cursor === undefined ? undefined : readPersonCursor(query.cursor, options.per);
  return async (db) => {
    const found = await findLocations(db, filter, cursor, query.limit + 1);
    const page = pageOf(found, query.limit, cursor?.direction);
    const alone = !page.next && !page.previous;
    const rest = Promise.all([alone ? page.rows.length : countLocations(db, filter), readVersionsAt(db, page.rows)]);
    return {
      persons: [{ soortObjectId, objectId }],
      confidential: page.rows.some(({ categorie }) => categorie === 'vertrouwelijk'),
      result: rest.then(async ([count, stored]) => {
        const versies: Versie[] = [];
        for (const row of stored) versies.push(onlyPerson(await reveal(row, keys), query));
        return {
          count,
          next: page.next ? pageLink(request, options.address, options.per, 'after', page.rows.at(-1)) : null,
          previous: page.previous ? pageLink(request, options.address, options.per, 'before', page.rows.at(0)) : null,
          versies,
        };
      }),
    };
  };
}

/** The index searches by a hash of 128 bits; the identity itself decides. */
function onlyPerson(versie: Versie, person: Person): Versie {
  return { ...versie, objecten: versie.objecten.filter((object) => isSamePerson(object, person)) };
}

/** Whose actions are wanted, and which of them. */
interface PersonQuery extends Person {
  readonly limit: number;
  readonly beginDatum?: string | undefined;
  readonly eindDatum?: string | undefined;
  readonly verwerkingsactiviteitId?: string | undefined;
  readonly cursor?: string | undefined;
}

/** A person whom a query may name, in full or in part. */
export type AskedPerson = operations['getVerwerktObject']['Querystring'];

/**
 * The objects that a caller may see. With `read:restricted` alone these are the objects of the person whom the caller names in full. With other
 * scopes naming a person is optional, and shows the objects of that person only.
 * @returns undefined when the caller may see no object, or had to name a person
 * @throws {Problem} 400 when a person is named in part
 */
export function shownObjects<T extends { readonly soortObjectId: string; readonly objectId: string }>(
  request: FastifyRequest,
  { objecttype, soortObjectId, objectId }: AskedPerson,
  objects: readonly T[],
): readonly T[] | undefined {
  const named = { objecttype, soortObjectId, objectId };
  const missing = Object.entries(named).filter(([, value]) => value === undefined);
  if (missing.length > 0) {
    const { scopes } = callerOf(request);
    if (!scopes.has('read:normal') && !scopes.has('read:confidential')) return undefined;
    if (missing.length === 3) return objects;
    refuse(missing.map(([name]) => ({ name, code: 'required', reason: 'ontbreekt' })));
  }
  const theirs = objects.filter((one) => one.soortObjectId === soortObjectId && one.objectId === objectId);
  return theirs.length === 0 ? undefined : theirs;
}

/** The person of a query that names one in full. */
export function namedPerson({ objecttype, soortObjectId, objectId }: AskedPerson): Person | undefined {
  if (objecttype === undefined || soortObjectId === undefined || objectId === undefined) return undefined;
  return { soortObjectId, objectId };
}

/** A person's hashes: one for each key that the log may have been written with. */
export function hashesOf(person: Person, keys: IdentityKeys): string[] {
  return keys.names.map((name) => keys.hash(name, person.soortObjectId, person.objectId));
}

const ACTIE_PARTS = [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/, UUID];

/** A list of objects also has the position within the action. */
const CURSOR_PARTS = { actie: ACTIE_PARTS, object: [...ACTIE_PARTS, /^\d{1,5}$/] };

/** The faults of a query that a contract cannot express: moments, their order, and the cursor. Its members may be of any type. */
export function queryFaults(query: unknown, per: PersonFilter['per']): InvalidParam[] {
  const { beginDatum, eindDatum, cursor }: Record<string, unknown> = Object(query);
  const faults: InvalidParam[] = [];
  const bound = (name: string, text: unknown): number => {
    const at = typeof text === 'string' ? toUtc(text) : undefined;
    if (typeof text === 'string' && at === undefined)
      faults.push({ name, code: 'range', reason: 'moet in UTC in de jaren 1 tot en met 9999 liggen' });
    return Date.parse(at ?? '');
  };
  // Equal moments are allowed, and give an empty list.
  if (bound('beginDatum', beginDatum) > bound('eindDatum', eindDatum)) {
    faults.push({ name: 'eindDatum', code: 'order', reason: 'mag niet voor beginDatum liggen' });
  }
  if (typeof cursor === 'string' && readPersonCursor(cursor, per) === undefined) {
    faults.push({ name: 'cursor', code: 'format', reason: 'is geen cursor van deze lijst' });
  }
  return faults;
}

function readPersonCursor(text: string, per: PersonFilter['per']): Cursor<readonly string[]> | undefined {
  const cursor = readCursor(text, CURSOR_PARTS[per]);
  const tijdstip = cursor?.key[0] ?? '';
  // An impossible date parses as another date, so it does not come back as written.
  return !Number.isNaN(Date.parse(tijdstip)) && toUtc(tijdstip) === tijdstip ? cursor : undefined;
}

function pageLink(
  request: FastifyRequest,
  address: string,
  per: PersonFilter['per'],
  direction: 'after' | 'before',
  location: Location | undefined,
): string | null {
  if (location === undefined) return null;
  const { tijdstip, actieId, positions } = location;
  const key = [tijdstip, actieId, ...(per === 'object' ? [positions.slice(1, -1)] : [])];
  return linkTo(request, address, writeCursor({ direction, key }));
}

export function linkTo(request: FastifyRequest, address: string, cursor: string): string {
  const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  query.set('cursor', cursor);
  return `${address}?${query.toString()}`;
}
