import type { FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/verwerkingenlog.ts';
import type { Db } from '../../database/transaction.ts';
import { UUID } from '../../lib/patterns.ts';
import type { InvalidParam } from '../../lib/problem.ts';
import { toUtc } from '../../lib/time.ts';
import { callerOf } from '../../plugins/auth.ts';
import { refuse } from '../../plugins/faults.ts';
import { type Cursor, pageOf, readCursor } from '../domain/cursor.ts';
import { type IdentityKeys, reveal } from '../domain/encryption.ts';
import { isSamePerson, type Person, type Versie } from '../domain/verwerkingsactie.ts';
import type { Reading } from '../logged-read.ts';
import { countLocations, findLocations, type Location, type PersonFilter, readVersionsAt } from '../store/find.ts';

interface PersonPage {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  /** Each with only the objects of this person; per object: once for each of them. */
  readonly versies: readonly Versie[];
}

interface PersonQuery extends Person {
  readonly limit: number;
  readonly beginDatum?: string | undefined;
  readonly eindDatum?: string | undefined;
  readonly verwerkingsactiviteitId?: string | undefined;
  readonly cursor?: string | undefined;
}

/** The result reads one page; it resolves when all queries have been sent. @throws {Problem} 400 for faults that a contract cannot express */
export function preparePersonPage(
  { url, server }: FastifyRequest,
  query: PersonQuery,
  { address, ...which }: Pick<PersonFilter, 'categorieen' | 'per' | 'without'> & { readonly address: string },
): (db: Db) => Promise<Reading<PersonPage>> {
  const { per } = which;
  refuse(queryFaults(query, per));
  const { keys } = server.actieLog;
  const { soortObjectId, objectId, beginDatum, eindDatum, verwerkingsactiviteitId, limit } = query;
  const filter: PersonFilter = {
    ...which,
    hashes: hashesOf(query, keys),
    begin: beginDatum === undefined ? undefined : toUtc(beginDatum),
    eind: eindDatum === undefined ? undefined : toUtc(eindDatum),
    verwerkingsactiviteitId,
  };
  const cursor = query.cursor === undefined ? undefined : readPersonCursor(query.cursor, per);
  const keyOf = ({ tijdstip, actieId, positions }: Location): string[] =>
    per === 'object' ? [tijdstip, actieId, positions.slice(1, -1)] : [tijdstip, actieId];
  return async (db) => {
    const found = await findLocations(db, filter, cursor, limit + 1);
    const { rows, ...links } = pageOf(found, { limit, cursor, keyOf }, { address, url });
    const isAll = cursor === undefined && found.length <= limit;
    const rest = Promise.all([isAll ? rows.length : countLocations(db, filter), readVersionsAt(db, rows)]);
    return {
      persons: [{ soortObjectId, objectId }],
      confidential: rows.some(({ categorie }) => categorie === 'vertrouwelijk'),
      result: rest.then(async ([count, stored]) => {
        const versies: Versie[] = [];
        for (const row of stored) {
          const versie = await reveal(row, keys);
          // The index searches by a hash of 128 bits; the identity itself decides.
          versies.push({ ...versie, objecten: versie.objecten.filter((object) => isSamePerson(object, query)) });
        }
        return { count, ...links, versies };
      }),
    };
  };
}

export type AskedPerson = operations['getVerwerktObject']['Querystring'];

/**
 * The objects that a caller may see. With `read:restricted` alone the caller must name a person; naming one shows the objects of that one only.
 * @returns undefined when the caller may see no object, or had to name a person
 * @throws {Problem} 400 when a person is named in part
 */
export function shownObjects<T extends Person>(
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

export function namedPerson({ objecttype, soortObjectId, objectId }: AskedPerson): Person | undefined {
  if (objecttype === undefined || soortObjectId === undefined || objectId === undefined) return undefined;
  return { soortObjectId, objectId };
}

/** One for each key that the log may have been written with. */
export function hashesOf(person: Person, keys: IdentityKeys): string[] {
  return keys.names.map((name) => keys.hash(name, person.soortObjectId, person.objectId));
}

const ACTIE_PARTS = [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/, UUID];

const CURSOR_PARTS = { actie: ACTIE_PARTS, object: [...ACTIE_PARTS, /^\d{1,5}$/] };

/** Faults that a contract cannot express. @param query its members may be of any type */
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

function readPersonCursor(text: string, per: PersonFilter['per']): Cursor | undefined {
  const cursor = readCursor(text, CURSOR_PARTS[per]);
  const tijdstip = cursor?.key[0] ?? '';
  // An impossible date parses as another date, so it does not come back as written.
  return !Number.isNaN(Date.parse(tijdstip)) && toUtc(tijdstip) === tijdstip ? cursor : undefined;
}
