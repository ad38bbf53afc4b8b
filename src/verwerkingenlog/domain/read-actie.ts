import type { components } from '../../contracts/verwerkingenlog.ts';
import type { InvalidParam } from '../../lib/problem.ts';
import { isDuration, isTerm, LONGEST_TERM } from '../../lib/time.ts';
import { bsnDigits, isBsnKind } from './identity-keys.ts';
import {
  type Actie,
  fieldsOf,
  offsetOf,
  toUtc,
  type Versie,
  type Vertrouwelijkheid,
  type VerwerktObject,
} from './verwerkingsactie.ts';

/** A body accepted by the contract; its read-only members can be anything. */
export type ActieBody = components['schemas']['VerwerkingsactieInvoer'];
type ReplacingBody = components['schemas']['VerwerkingsactieVolledig'];
type ObjectBody = components['schemas']['VerwerktObjectInvoer'];

/** Reads a body accepted by the contract; a moment outside the calendar is an empty text, and one of `actieFaults`. */
export function readActie(body: ActieBody): Actie {
  return {
    ...fieldsOf(body),
    verwerkingId: body.verwerkingId?.toLowerCase() ?? null,
    verwerkingsactiviteitId: body.verwerkingsactiviteitId?.toLowerCase() ?? null,
    verwerkingsactiviteitIdAfnemer: body.verwerkingsactiviteitIdAfnemer?.toLowerCase() ?? null,
    verwerkingIdAfnemer: body.verwerkingIdAfnemer?.toLowerCase() ?? null,
    vertrouwelijkheid: readVertrouwelijkheid(body.vertrouwelijkheid),
    tijdstip: toUtc(body.tijdstip) ?? '',
    tijdstipOffset: offsetOf(body.tijdstip),
    verwerkteObjecten: body.verwerkteObjecten.map(readObject),
  };
}

/** Whether a replacing body has all required members of an action. */
export function isWhole(body: ReplacingBody): body is ActieBody {
  return body.vertrouwelijkheid !== undefined && body.tijdstip !== undefined && body.verwerkteObjecten !== undefined;
}

/** The members that an action would lose because a body omits them. Many clients omit `null` members; that loses nothing. */
export function silentLosses(body: ReplacingBody, current: Versie): InvalidParam[] {
  const { vertrouwelijkheid, tijdstip } = current;
  const kept: Readonly<Record<string, unknown>> = { ...fieldsOf(current), vertrouwelijkheid, tijdstip };
  const given: Readonly<Record<string, unknown>> = { ...body };
  const lost = Object.keys(kept).filter((member) => given[member] === undefined && kept[member] !== null);
  if (body.verwerkteObjecten === undefined) lost.push('verwerkteObjecten');
  return lost.map((name) => ({ name, code: 'required', reason: 'ontbreekt, en is in de actie niet leeg' }));
}

/** @throws {TypeError} for a value that the contract refuses */
export function readVertrouwelijkheid(text: string): Vertrouwelijkheid {
  const word = text.toLowerCase();
  if (word === 'normaal' || word === 'vertrouwelijk' || word === 'opgeheven') return word;
  throw new TypeError('not a word for confidentiality');
}

function readObject(object: ObjectBody): VerwerktObject {
  return {
    soortObjectId: object.soortObjectId,
    objectId: object.objectId,
    betrokkenheid: object.betrokkenheid ?? null,
    soortenGegevens: object.verwerkteSoortenGegevens?.map(({ soortGegeven }) => soortGegeven) ?? null,
  };
}

/** The members of a body that are checked, of whatever type. */
type Judged = {
  readonly [Member in 'tijdstip' | 'bewaartermijn' | 'soortAfnemerId' | 'afnemerId' | 'verwerkteObjecten']?: unknown;
};

/**
 * The faults of a body that a contract cannot express. The body may be anything; members of the wrong type are skipped.
 * @param utc its `tijdstip` as `toUtc` reads it
 * @param latest the latest moment that is taken (milliseconds since 1970), when that is to be judged
 */
export function actieFaults(
  body: Judged,
  { checkBsn }: { readonly checkBsn: boolean },
  utc = typeof body.tijdstip === 'string' ? toUtc(body.tijdstip) : undefined,
  latest = Number.POSITIVE_INFINITY,
): InvalidParam[] {
  const faults = checkBsn ? [...bsnFaults(body), ...termFaults(body.bewaartermijn)] : termFaults(body.bewaartermijn);
  const fault = (reason: string) => faults.push({ name: 'tijdstip', code: 'range', reason });
  if (typeof body.tijdstip === 'string' && !utc) fault('moet in UTC in de jaren 1 tot en met 9999 liggen');
  if (Date.parse(utc ?? '') > latest) fault('mag niet meer dan 24 uur in de toekomst liggen');
  return faults;
}

/** The faults of a `bewaartermijn` that is a duration; the contract refuses any other form. */
export function termFaults(bewaartermijn: unknown): InvalidParam[] {
  if (typeof bewaartermijn !== 'string' || isTerm(bewaartermijn) || !isDuration(bewaartermijn)) return [];
  return [{ name: 'bewaartermijn', code: 'range', reason: `moet langer dan niets zijn, en hoogstens ${LONGEST_TERM}` }];
}

function bsnFaults({ soortAfnemerId, afnemerId, verwerkteObjecten }: Judged): InvalidParam[] {
  const persons = (Array.isArray(verwerkteObjecten) ? verwerkteObjecten : []).map((object, i) => ({
    name: `verwerkteObjecten.${i}.objectId`,
    kind: Object(object).soortObjectId,
    id: Object(object).objectId,
  }));
  return [{ name: 'afnemerId', kind: soortAfnemerId, id: afnemerId }, ...persons]
    .filter(({ kind, id }) => isBsnKind(kind) && typeof id === 'string' && !isBsn(bsnDigits(id) ?? id))
    .map(({ name }) => ({ name, code: 'bsn', reason: 'is geen burgerservicenummer (elfproef)' }));
}

const WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2, -1];

/** Whether a text is a citizen service number: nine digits that pass the eleven test. */
export function isBsn(text: string): boolean {
  if (!/^\d{9}$/.test(text) || text === '000000000') return false;
  const sum = WEIGHTS.reduce((total, weight, i) => total + weight * Number(text[i]), 0);
  return sum % 11 === 0;
}
