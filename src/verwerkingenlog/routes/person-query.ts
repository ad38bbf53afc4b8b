import type { FastifyRequest } from 'fastify';
import type { InvalidParam } from '../../kernel/problem.ts';
import type { Categorie } from '../domain/access.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { toUtc } from '../domain/moments.ts';
import { type Cursor, readCursor, writeCursor } from '../domain/page.ts';
import type { PersonQuestion, Place } from '../store/find-by-person.ts';

/** The query of a list of one person, as the contract lets it through. */
export interface PersonQuery {
  readonly objecttype: string;
  readonly soortObjectId: string;
  readonly objectId: string;
  readonly beginDatum?: string;
  readonly eindDatum?: string;
  readonly verwerkingsactiviteitId?: string;
  readonly limit: number;
  readonly cursor?: string;
}

const CURSOR_PARTS = [
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/,
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
];

/** Reads what the contract cannot check: moments, their order, and the cursor. */
export function readPersonQuery(
  query: PersonQuery,
  keys: IdentityKeys,
  categorieen: readonly Categorie[],
  now: Date,
): { question: PersonQuestion; cursor: Cursor<readonly string[]> | undefined; faults: InvalidParam[] } {
  const faults: InvalidParam[] = [];
  const bound = (name: 'beginDatum' | 'eindDatum'): string | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const at = toUtc(text);
    if (at === undefined)
      faults.push({ name, code: 'range', reason: 'moet in UTC in de jaren 1 tot en met 9999 liggen' });
    return at;
  };
  const begin = bound('beginDatum');
  const eind = bound('eindDatum');
  if (begin !== undefined && eind !== undefined && Date.parse(begin) >= Date.parse(eind)) {
    faults.push({ name: 'eindDatum', code: 'order', reason: 'moet na beginDatum liggen' });
  }
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, CURSOR_PARTS);
  if (query.cursor !== undefined && (cursor === undefined || !isMoment(cursor.key[0] ?? ''))) {
    faults.push({ name: 'cursor', code: 'format', reason: 'is geen cursor van deze lijst' });
  }
  const question = {
    hashes: keys.names.map((name) => keys.hash(name, query.soortObjectId, query.objectId)),
    categorieen,
    now,
    begin,
    eind,
    verwerkingsactiviteitId: query.verwerkingsactiviteitId,
  };
  return { question, cursor, faults };
}

/** Whether a text is a moment as the log itself writes it; dates that no calendar has are read as others, and come out otherwise. */
function isMoment(text: string): boolean {
  return !Number.isNaN(Date.parse(text)) && toUtc(text) === text;
}

/** Address of the page beside this one: what was asked, with another cursor. */
export function pageLink(
  request: FastifyRequest,
  address: string,
  direction: 'after' | 'before',
  place: Place | undefined,
): string | null {
  if (place === undefined) return null;
  return linkTo(request, address, writeCursor({ direction, key: [place.tijdstip, place.actieId] }));
}

/** The address of the request with another cursor. */
export function linkTo(request: FastifyRequest, address: string, cursor: string): string {
  const asked = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  asked.set('cursor', cursor);
  return `${address}?${asked.toString()}`;
}
