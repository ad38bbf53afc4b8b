import type { components } from '../../contracts/verwerkingenlog.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import type { InvalidParam } from '../../lib/problem.ts';
import { isDuration, isTerm, LONGEST_TERM } from '../../lib/time.ts';
import { bsnDigits, isBsnKind } from './identity-keys.ts';
import {
  type Actie,
  offsetOf,
  toUtc,
  type Versie,
  type Vertrouwelijkheid,
  type VerwerktObject,
} from './verwerkingsactie.ts';

/** A body that the contract accepts: its read-only members can be anything. */
export type ActieBody = components['schemas']['VerwerkingsactieInvoer'];
type ReplacingBody = components['schemas']['VerwerkingsactieVolledig'];
type ObjectBody = components['schemas']['VerwerktObjectInvoer'];

/** Reads a body that the contract accepts, and names the faults that a contract cannot express. */
export function readActie(
  body: ActieBody,
  options: { readonly checkBsn: boolean },
): { actie: Actie; faults: InvalidParam[] } {
  const tijdstip = toUtc(body.tijdstip);
  const actie: Actie = {
    actieNaam: body.actieNaam ?? null,
    handelingNaam: body.handelingNaam ?? null,
    verwerkingNaam: body.verwerkingNaam ?? null,
    verwerkingId: body.verwerkingId?.toLowerCase() ?? null,
    verwerkingsactiviteitId: body.verwerkingsactiviteitId?.toLowerCase() ?? null,
    verwerkingsactiviteitUrl: body.verwerkingsactiviteitUrl ?? null,
    vertrouwelijkheid: readVertrouwelijkheid(body.vertrouwelijkheid),
    bewaartermijn: body.bewaartermijn ?? null,
    uitvoerder: body.uitvoerder ?? null,
    systeem: body.systeem ?? null,
    gebruiker: body.gebruiker ?? null,
    gegevensbron: body.gegevensbron ?? null,
    soortAfnemerId: body.soortAfnemerId ?? null,
    afnemerId: body.afnemerId ?? null,
    verwerkingsactiviteitIdAfnemer: body.verwerkingsactiviteitIdAfnemer?.toLowerCase() ?? null,
    verwerkingsactiviteitUrlAfnemer: body.verwerkingsactiviteitUrlAfnemer ?? null,
    verwerkingIdAfnemer: body.verwerkingIdAfnemer?.toLowerCase() ?? null,
    tijdstip: tijdstip ?? '',
    tijdstipOffset: offsetOf(body.tijdstip),
    verwerkteObjecten: body.verwerkteObjecten.map(readObject),
  };
  const faults = [
    ...textFaults(body, options),
    ...momentFaults(tijdstip),
    ...termFaults(body.bewaartermijn, new Date(tijdstip ?? 0)),
  ];
  return { actie, faults };
}

/** The members of an action that a body gives. */
const MEMBERS = [
  'actieNaam',
  'handelingNaam',
  'verwerkingNaam',
  'verwerkingId',
  'verwerkingsactiviteitId',
  'verwerkingsactiviteitUrl',
  'vertrouwelijkheid',
  'bewaartermijn',
  'uitvoerder',
  'systeem',
  'gebruiker',
  'gegevensbron',
  'soortAfnemerId',
  'afnemerId',
  'verwerkingsactiviteitIdAfnemer',
  'verwerkingsactiviteitUrlAfnemer',
  'verwerkingIdAfnemer',
  'tijdstip',
] as const satisfies readonly (keyof ActieBody & keyof Versie)[];

/** Whether a body that replaces an action has what every action has. */
export function isWhole(body: ReplacingBody): body is ActieBody {
  return body.vertrouwelijkheid !== undefined && body.tijdstip !== undefined && body.verwerkteObjecten !== undefined;
}

/** What an action would lose by a body's silence. Many clients leave out what is `null`; that loses nothing. */
export function silentLosses(body: ReplacingBody, current: Versie): InvalidParam[] {
  const lost: string[] = MEMBERS.filter((member) => body[member] === undefined && current[member] !== null);
  if (body.verwerkteObjecten === undefined) lost.push('verwerkteObjecten');
  return lost.map((name) => ({ name, code: 'required', reason: 'ontbreekt, en is in de actie niet leeg' }));
}

/** @throws {TypeError} for a word that the contract refuses */
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

const NO_BSN = { code: 'bsn', reason: 'is geen burgerservicenummer (elfproef)' };

interface FaultOptions {
  readonly checkBsn: boolean;
}

/** The faults of a body that a contract cannot express. The body may be anything; members of the wrong type are skipped. */
export function actieFaults(body: unknown, options: FaultOptions): InvalidParam[] {
  if (!isRecord(body)) return [];
  const { tijdstip, bewaartermijn } = body;
  const utc = typeof tijdstip === 'string' ? toUtc(tijdstip) : undefined;
  return [
    ...textFaults(body, options),
    ...(typeof tijdstip === 'string' ? momentFaults(utc) : []),
    ...termFaults(bewaartermijn, new Date(utc ?? 0)),
  ];
}

/** Faults in texts: half surrogate pairs, and numbers that are no citizen service number. */
function textFaults(body: Identified, { checkBsn }: FaultOptions): InvalidParam[] {
  const faults = illFormedTexts(body);
  return checkBsn ? [...faults, ...bsnFaults(body)] : faults;
}

/** @param utc what `toUtc` made of the body's `tijdstip` */
function momentFaults(utc: string | undefined): InvalidParam[] {
  if (utc !== undefined) return [];
  return [{ name: 'tijdstip', code: 'range', reason: 'moet in UTC in de jaren 1 tot en met 9999 liggen' }];
}

/**
 * The fault of a `tijdstip` that lies too far ahead.
 * @param utc text of a moment in UTC
 * @param latest the latest moment that is taken (milliseconds since 1970)
 */
export function aheadFaults(utc: string, latest: number): InvalidParam[] {
  if (Date.parse(utc) <= latest) return [];
  return [{ name: 'tijdstip', code: 'range', reason: 'mag niet meer dan 24 uur in de toekomst liggen' }];
}

/**
 * The faults of a `bewaartermijn` that is a duration; the contract refuses any other form.
 * @param at the moment that it counts from
 */
export function termFaults(bewaartermijn: unknown, at: Date): InvalidParam[] {
  if (typeof bewaartermijn !== 'string' || !isDuration(bewaartermijn) || isTerm(bewaartermijn, at)) return [];
  return [{ name: 'bewaartermijn', code: 'range', reason: `moet langer dan niets zijn, en hoogstens ${LONGEST_TERM}` }];
}

/** The members of a body that identify persons, of any type. */
interface Identified {
  readonly soortAfnemerId?: unknown;
  readonly afnemerId?: unknown;
  readonly verwerkteObjecten?: unknown;
}

function bsnFaults({ soortAfnemerId, afnemerId, verwerkteObjecten }: Identified): InvalidParam[] {
  const faults: InvalidParam[] = [];
  if (isWrong(soortAfnemerId, afnemerId)) faults.push({ name: 'afnemerId', ...NO_BSN });
  for (const [i, object] of (Array.isArray(verwerkteObjecten) ? verwerkteObjecten : []).entries()) {
    if (isRecord(object) && isWrong(object.soortObjectId, object.objectId)) {
      faults.push({ name: `verwerkteObjecten.${i}.objectId`, ...NO_BSN });
    }
  }
  return faults;
}

function isWrong(kind: unknown, id: unknown): boolean {
  return isBsnKind(kind) && typeof id === 'string' && !isBsn(bsnDigits(id) ?? id);
}

/** Read-only members: in a request they are skipped, and can be anything of any depth. No other member has these names. */
const READ_ONLY = new Set(['url', 'actieId', 'verwerktObjectId', 'verwerkingsactiviteitId', 'tijdstipRegistratie']);

/** Deeper than any body of the contract. */
const MAX_DEPTH = 16;

/**
 * Names every text with half a surrogate pair: JSON can write it (`\ud800`), UTF-8 cannot, and the database would store something that it
 * cannot read.
 */
export function illFormedTexts(value: unknown): InvalidParam[] {
  return isWellFormed(value, MAX_DEPTH) ? [] : findIllFormed(value, []);
}

/** True for nearly every body, so it is asked first: it keeps no paths. */
function isWellFormed(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (!isObjectOrArray(value) || depth === 0) return true;
  if (Array.isArray(value)) return value.every((part) => isWellFormed(part, depth - 1));
  return Object.keys(value).every((name) => READ_ONLY.has(name) || isWellFormed(value[name], depth - 1));
}

function isObjectOrArray(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function findIllFormed(value: unknown, path: readonly string[]): InvalidParam[] {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return [];
    return [{ name: path.join('.'), code: 'unicode', reason: 'is geen geldige Unicode-tekst' }];
  }
  if (!isObjectOrArray(value) || path.length === MAX_DEPTH) return [];
  return membersOf(value).flatMap(([key, part]) => findIllFormed(part, [...path, key]));
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([name]) => !READ_ONLY.has(name));
}

const WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2, -1];

/** Whether a text is a citizen service number: nine digits that pass the eleven test. */
export function isBsn(text: string): boolean {
  if (!/^\d{9}$/.test(text) || text === '000000000') return false;
  const sum = WEIGHTS.reduce((total, weight, i) => total + weight * Number(text[i]), 0);
  return sum % 11 === 0;
}
