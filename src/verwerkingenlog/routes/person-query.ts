import type { FastifyRequest } from 'fastify';
import type { InvalidParam } from '../../kernel/problem.ts';
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

const ACTIE_PARTS = [
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/,
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
];

/** A list of objects has a place within the action too. */
const CURSOR_PARTS = { actie: ACTIE_PARTS, object: [...ACTIE_PARTS, /^\d{1,5}$/] };

/** What is wrong with a question that the contract cannot tell: moments, their order, and the cursor. It may hold anything. */
export function questionFaults(query: unknown, per: PersonQuestion['per']): InvalidParam[] {
  const { beginDatum, eindDatum, cursor }: Record<string, unknown> = Object(query);
  const faults: InvalidParam[] = [];
  const bound = (name: string, text: unknown): number => {
    if (typeof text !== 'string') return Number.NaN;
    const at = toUtc(text);
    if (at === undefined) {
      faults.push({ name, code: 'range', reason: 'moet in UTC in de jaren 1 tot en met 9999 liggen' });
      return Number.NaN;
    }
    return Date.parse(at);
  };
  if (bound('beginDatum', beginDatum) >= bound('eindDatum', eindDatum)) {
    faults.push({ name: 'eindDatum', code: 'order', reason: 'moet na beginDatum liggen' });
  }
  if (typeof cursor === 'string' && readPlace(cursor, per) === undefined) {
    faults.push({ name: 'cursor', code: 'format', reason: 'is geen cursor van deze lijst' });
  }
  return faults;
}

/** Reads a query without faults. */
export function readPersonQuery(
  query: PersonQuery,
  keys: IdentityKeys,
  { categorieen, per }: Pick<PersonQuestion, 'categorieen' | 'per'>,
): { question: PersonQuestion; cursor: Cursor<readonly string[]> | undefined } {
  const { beginDatum, eindDatum, cursor } = query;
  const question = {
    hashes: keys.names.map((name) => keys.hash(name, query.soortObjectId, query.objectId)),
    categorieen,
    per,
    begin: beginDatum === undefined ? undefined : toUtc(beginDatum),
    eind: eindDatum === undefined ? undefined : toUtc(eindDatum),
    verwerkingsactiviteitId: query.verwerkingsactiviteitId,
  };
  return { question, cursor: cursor === undefined ? undefined : readPlace(cursor, per) };
}

function readPlace(text: string, per: PersonQuestion['per']): Cursor<readonly string[]> | undefined {
  const cursor = readCursor(text, CURSOR_PARTS[per]);
  return isMoment(cursor?.key[0] ?? '') ? cursor : undefined;
}

/** Whether a text is a moment as the log itself writes it; dates that no calendar has are read as others, and come out otherwise. */
function isMoment(text: string): boolean {
  return !Number.isNaN(Date.parse(text)) && toUtc(text) === text;
}

/** Address of the page beside this one: what was asked, with another cursor. */
export function pageLink(
  request: FastifyRequest,
  address: string,
  per: PersonQuestion['per'],
  direction: 'after' | 'before',
  place: Place | undefined,
): string | null {
  if (place === undefined) return null;
  const { tijdstip, actieId, posities } = place;
  const key = [tijdstip, actieId, ...(per === 'object' ? [posities.slice(1, -1)] : [])];
  return linkTo(request, address, writeCursor({ direction, key }));
}

/** The address of the request with another cursor. */
export function linkTo(request: FastifyRequest, address: string, cursor: string): string {
  const asked = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  asked.set('cursor', cursor);
  return `${address}?${asked.toString()}`;
}
