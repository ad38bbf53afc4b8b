/** Processing actions, and how their versions follow each other. @see API-standaard voor logging van verwerkingen, versie 0.9.0 */

import type { components } from '../../contracts/verwerkingenlog.ts';
import { isBsn, uuidV7 } from '../../lib/patterns.ts';
import { type InvalidParam, Problem } from '../../lib/problem.ts';
import { isDuration, isTerm, LONGEST_TERM, moment, offsetOf, toUtc } from '../../lib/time.ts';
import type { ProcessingEntry } from '../../plugins/processing-headers.ts';
import { verwerkingenlogProblems } from '../problems.ts';
import { MEMBERS, NO_OPTIONAL, OPTIONAL_NAMES, type OptionalName } from './members.ts';

type Invoer = components['schemas']['VerwerkingsactieInvoer'];

/** How confidential an action is now. */
export type Vertrouwelijkheid = components['schemas']['Vertrouwelijkheid'];

/** A processed person, as named by the caller. */
export interface VerwerktObject {
  readonly soortObjectId: string;
  readonly objectId: string;
  readonly betrokkenheid: string | null;
  /** `null`: not stated. */
  readonly soortenGegevens: readonly string[] | null;
}

/** The fields that describe the action; `null` is unknown. Moments are UTC texts (RFC 3339). */
interface ActieVelden
  extends Required<
    Omit<Invoer, 'url' | 'actieId' | 'tijdstipRegistratie' | 'vertrouwelijkheid' | 'verwerkteObjecten'>
  > {
  readonly vertrouwelijkheid: Vertrouwelijkheid;
  /** The offset from UTC that `tijdstip` was given in, as written (`+01:00`); `null`: UTC. */
  readonly tijdstipOffset: string | null;
}

export interface Actie extends ActieVelden {
  readonly verwerkteObjecten: readonly VerwerktObject[];
}

/** The call about which the service made an own entry; `null` in entries of others. */
export interface Aanroep {
  /** With hyphens, as a UUID. Never the `verwerkingId`, because a caller chooses this one. */
  readonly traceId: string | null;
  /** 16 hexadecimal digits: of the call here, and of the caller. */
  readonly spanId: string | null;
  readonly ouderSpanId: string | null;
  readonly fscTransactieId: string | null;
}

export const GEEN_AANROEP: Aanroep = { traceId: null, spanId: null, ouderSpanId: null, fscTransactieId: null };

/** The author of a version; stored with it. */
export interface Auteur {
  /** Subject of the token. */
  readonly door: string;
  readonly verzoekId: string;
}

/** An object of a version, with the number that its identity ends in. */
export interface GenummerdObject extends VerwerktObject {
  readonly nummer: number;
}

export interface Versie extends ActieVelden, Auteur, Aanroep {
  readonly actieId: string;
  /** Counts from 1. */
  readonly versie: number;
  readonly tijdstipRegistratie: string;
  readonly vervallen: boolean;
  /** Whether this or an earlier version was confidential or lifted. */
  readonly ooitVertrouwelijk: boolean;
  readonly objecten: readonly GenummerdObject[];
  /** The log line of LDV that the action came from, as `verwerkingenlog/ldv/stored-line.ts` writes it; `null` when it was logged in another way. */
  readonly ldv: string | null;
}

/** These members of a version. */
export function pick<V extends object, K extends keyof V & string>(version: V, names: readonly K[]): Pick<V, K> {
  const picked: Partial<V> = {};
  for (const name of names) picked[name] = version[name];
  // Each of the names was just copied.
  return picked as Pick<V, K>;
}

/** The first version of a new action. */
export function eersteVersie(
  actie: Actie,
  actieId: string,
  at: Date,
  { door, verzoekId }: Auteur,
  ldv: string | null = null,
  aanroep: Aanroep = GEEN_AANROEP,
): Versie {
  const { verwerkteObjecten, ...velden } = actie;
  return {
    ...velden,
    ...aanroep,
    door,
    verzoekId,
    actieId,
    versie: 1,
    tijdstipRegistratie: moment(at),
    vervallen: false,
    ooitVertrouwelijk: actie.vertrouwelijkheid !== 'normaal',
    objecten: verwerkteObjecten.map((object, i) => ({ ...object, nummer: i + 1 })),
    ldv,
  };
}

/**
 * The version that replaces the current one. Remaining persons keep their number, and so the identity and address of their object.
 * @param lastNumber highest number that any version of the action has given
 * @throws {Problem} for more objects, over all versions of the action, than an identity can number
 */
export function replaced(current: Versie, actie: Actie, lastNumber: number, at: Date, auteur: Auteur): Versie {
  const { verwerkteObjecten, ...velden } = actie;
  const { traceId, spanId, ouderSpanId, fscTransactieId } = current;
  return {
    ...velden,
    ...auteur,
    traceId,
    spanId,
    ouderSpanId,
    fscTransactieId,
    actieId: current.actieId,
    versie: current.versie + 1,
    tijdstipRegistratie: moment(at),
    vervallen: false,
    ooitVertrouwelijk: current.ooitVertrouwelijk || actie.vertrouwelijkheid !== 'normaal',
    objecten: renumber(verwerkteObjecten, current.objecten, lastNumber),
    ldv: current.ldv,
  };
}

/** The version that ends the action; its fields are those of the current one. */
export function ended(current: Versie, at: Date, auteur: Auteur): Versie {
  return { ...current, ...auteur, versie: current.versie + 1, tijdstipRegistratie: moment(at), vervallen: true };
}

function renumber(
  objects: readonly VerwerktObject[],
  known: readonly GenummerdObject[],
  lastNumber: number,
): GenummerdObject[] {
  const free = new Map<string, number[]>();
  for (const object of known) {
    const numbers = free.get(personKey(object));
    if (numbers === undefined) free.set(personKey(object), [object.nummer]);
    else numbers.push(object.nummer);
  }
  let last = lastNumber;
  return objects.map((object) => {
    const nummer = free.get(personKey(object))?.shift() ?? ++last;
    if (nummer > MAX_OBJECTS) {
      const reason = 'mag over alle versies samen hoogstens 65 535 onderdelen hebben';
      throw new Problem(verwerkingenlogProblems.teVeelObjecten, {
        invalidParams: [{ name: 'verwerkteObjecten', code: 'maxItems', reason }],
      });
    }
    return { ...object, nummer };
  });
}

// Identities that the log gives. @see RFC 9562 section 5.7 (version 7: time-ordered)

/** Maximum number of objects of one action over all its versions: the last four hexadecimal digits of an identity number them. */
const MAX_OBJECTS = 0xffff;

/**
 * A new action's identity: milliseconds since 1970, then 58 random bits, then four zeros. It leads to the month in which the action
 * was registered, and the zeros leave room for the identities of its objects.
 */
export function newActieId(at: Date): string {
  return `${uuidV7(at).slice(0, 32)}0000`;
}

/** The identity of an action's object; it leads back to the action. `number` counts from 1. */
export function verwerktObjectId(actieId: string, number: number): string {
  return actieId.slice(0, 32) + number.toString(16).padStart(4, '0');
}

/** The action of an object's identity, and the object's number in it. */
export function parseVerwerktObjectId(id: string): { actieId: string; number: number } {
  return { actieId: `${id.slice(0, 32).toLowerCase()}0000`, number: Number.parseInt(id.slice(32), 16) };
}

/** An entry as an action: members that are absent are `null`. */
export function actieOf(entry: ProcessingEntry): Actie {
  return {
    ...optionalOf(entry),
    vertrouwelijkheid: entry.vertrouwelijkheid,
    tijdstip: moment(entry.tijdstip),
    tijdstipOffset: null,
    verwerkteObjecten: (entry.verwerkteObjecten ?? []).map((person) => ({
      soortObjectId: person.soortObjectId,
      objectId: person.objectId,
      betrokkenheid: person.betrokkenheid ?? null,
      soortenGegevens: person.soortenGegevens ?? null,
    })),
  };
}

/** The optional members of an entry or a body, `null` where they are absent; identities in lower case. */
function optionalOf(entry: { readonly [Name in OptionalName]?: string | null | undefined }): Optional {
  const optional: Optional = { ...NO_OPTIONAL };
  for (const name of OPTIONAL_NAMES) {
    const value = entry[name] ?? null;
    optional[name] = value !== null && MEMBERS[name].type === 'uuid' ? value.toLowerCase() : value;
  }
  return optional;
}

type Optional = Record<OptionalName, string | null>;

// Bodies.

/** A body accepted by the contract; its read-only members can be anything. */
export type ActieBody = Invoer;
type ReplacingBody = components['schemas']['VerwerkingsactieVolledig'];
type ObjectBody = components['schemas']['VerwerktObjectInvoer'];

/** Reads a body accepted by the contract. `tijdstip` is empty when it lies outside the calendar: `momentFaults` then refuses the body. */
export function readActie(body: ActieBody): Actie {
  return {
    ...optionalOf(body),
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
  const kept: Readonly<Record<string, unknown>> = { ...optionalOf(current), vertrouwelijkheid, tijdstip };
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

/** The members of a body that `bodyFaults` checks, of whatever type. */
type Judged = {
  readonly [Member in 'bewaartermijn' | 'soortAfnemerId' | 'afnemerId' | 'verwerkteObjecten']?: unknown;
};

/** The faults of a body that a contract cannot express, except for its moment. The body may be anything; members of the wrong type are skipped. */
export function bodyFaults(body: Judged, { checkBsn }: { readonly checkBsn: boolean }): InvalidParam[] {
  return checkBsn ? [...bsnFaults(body), ...termFaults(body.bewaartermijn)] : termFaults(body.bewaartermijn);
}

/**
 * The fault of the moment of an action, if it has one.
 * @param utc its `tijdstip` as `toUtc` reads it; empty outside the calendar
 * @param latest the latest accepted moment (milliseconds since 1970); absent: the database was not asked
 */
export function momentFaults(utc: string, latest = Number.POSITIVE_INFINITY): InvalidParam[] {
  const fault = (reason: string): InvalidParam[] => [{ name: 'tijdstip', code: 'range', reason }];
  if (utc === '') return fault('moet in UTC in de jaren 1 tot en met 9999 liggen');
  return Date.parse(utc) > latest ? fault('mag niet meer dan 24 uur in de toekomst liggen') : [];
}

/** The faults of a `bewaartermijn` that is a duration; the contract refuses any other form. */
export function termFaults(bewaartermijn: unknown): InvalidParam[] {
  if (typeof bewaartermijn !== 'string' || isTerm(bewaartermijn) || !isDuration(bewaartermijn)) return [];
  return [{ name: 'bewaartermijn', code: 'range', reason: `moet langer dan nul zijn, en hoogstens ${LONGEST_TERM}` }];
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

// Persons, however their identifications are written.

export interface Person {
  readonly soortObjectId: string;
  readonly objectId: string;
}

/**
 * Whether a kind of identification means a citizen service number. The standard has no closed list of kinds, and callers write it in many
 * ways: ` bsn`, `B.S.N.`, `BSN:`, `Burgerservicenummer`, its older name, its OID or its address in FHIR.
 */
export function isBsnKind(kind: unknown): boolean {
  return typeof kind === 'string' && BSN_KINDS.has(lettersAndDigits(kind).toLowerCase());
}

const BSN_KINDS: ReadonlySet<string> = new Set(
  [
    ...['bsn', 'burgerservicenummer', 'sofi', 'sofinummer'],
    ...['2.16.840.1.113883.2.4.6.3', 'urn:oid:2.16.840.1.113883.2.4.6.3', 'http://fhir.nl/fhir/NamingSystem/bsn'],
  ].map((kind) => lettersAndDigits(kind).toLowerCase()),
);

/** The nine digits of a citizen service number, however it is punctuated; undefined when it has other characters than digits. */
export function bsnDigits(text: string): string | undefined {
  const digits = lettersAndDigits(text).replaceAll(/\p{Nd}/gu, decimal);
  if (!/^\d+$/.test(digits)) return undefined;
  const number = digits.replace(/^0+/, '').padStart(BSN_DIGITS, '0');
  return number.length === BSN_DIGITS ? number : undefined;
}

const BSN_DIGITS = 9;

/** A digit of any script as one of ASCII. Those of a script follow each other by tens. */
function decimal(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value % 10);
}

/** Also without zero-width characters. */
function lettersAndDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The form that a person is looked up by. */
function normalPerson(person: Person): Person {
  const { soortObjectId, objectId } = person;
  if (soortObjectId === 'BSN' && /^\d{9}$/.test(objectId)) return person;
  if (isBsnKind(soortObjectId)) return { soortObjectId: 'BSN', objectId: bsnDigits(objectId) ?? objectId };
  const kind = soortObjectId
    .normalize('NFKC')
    .replaceAll(/[\s.\p{Cf}]/gu, '')
    .toLowerCase();
  // A text of such characters only stays as it is.
  return { soortObjectId: kind === '' ? soortObjectId : kind, objectId };
}

/** A key for a person: the same for every spelling, and different for any two persons. */
export function personKey(person: Person): string {
  return personText(normalPerson(person));
}

/** An identification as one text, different for any two identifications. */
function personText({ soortObjectId, objectId }: Person): string {
  // A kind is never empty, so nothing else begins with a line break.
  return soortObjectId.includes('\n')
    ? `\n${JSON.stringify([soortObjectId, objectId])}`
    : `${soortObjectId}\n${objectId}`;
}

export function isSamePerson(one: Person, other: Person): boolean {
  return personKey(one) === personKey(other);
}
