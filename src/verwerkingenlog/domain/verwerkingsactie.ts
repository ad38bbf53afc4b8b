/** Processing actions: their versions, and their form in bodies and answers. @see API-standaard voor logging van verwerkingen, versie 0.9.0 */

import type { components } from '../../contracts/verwerkingenlog.ts';
import { isBsn, uuidV7 } from '../../lib/patterns.ts';
import { type InvalidParam, Problem } from '../../lib/problem.ts';
import { isDuration, isTerm, LONGEST_TERM, moment, offsetOf, toUtc, withOffset } from '../../lib/time.ts';
import type { ProcessingEntry } from '../../plugins/processing-headers.ts';
import { verwerkingenlogProblems } from '../problems.ts';
import { ANSWERED_NAMES, BASIS_NAMES, MEMBERS, nulls, OPTIONAL_NAMES, type OptionalName } from './members.ts';

type Schemas = components['schemas'];

export type Vertrouwelijkheid = Schemas['Vertrouwelijkheid'];

export interface VerwerktObject extends Person {
  readonly betrokkenheid: string | null;
  /** `null`: not stated. */
  readonly soortenGegevens: readonly string[] | null;
}

/** `null` is unknown. Moments are UTC texts (RFC 3339). */
interface ActieVelden
  extends Required<
    Omit<ActieBody, 'url' | 'actieId' | 'tijdstipRegistratie' | 'vertrouwelijkheid' | 'verwerkteObjecten'>
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

export interface Auteur {
  readonly door: string;
  readonly verzoekId: string;
}

export interface GenummerdObject extends VerwerktObject {
  readonly nummer: number;
}

export interface Versie extends ActieVelden, Auteur, Aanroep {
  readonly actieId: string;
  /** Counts from 1. */
  readonly versie: number;
  readonly tijdstipRegistratie: string;
  readonly vervallen: boolean;
  /** This or an earlier version was confidential or lifted. */
  readonly ooitVertrouwelijk: boolean;
  readonly objecten: readonly GenummerdObject[];
  /** The line of LDV that it came from, as `ldv/stored-line.ts` writes it; `null` when it was logged in another way. */
  readonly ldv: string | null;
}

/** Copies members by name, into a copy of a template: V8 turns an object that gains more than a dozen members by name into a slow one. */
export function picker<Name extends keyof Versie & string>(
  names: readonly Name[],
): (versie: Versie) => Pick<Versie, Name> {
  const template = nulls(names);
  return (versie) => {
    const picked: Record<Name, unknown> = { ...template };
    for (const name of names) picked[name] = versie[name];
    return picked as Pick<Versie, Name>;
  };
}

export function eersteVersie(
  actie: Actie,
  actieId: string,
  tijdstipRegistratie: string,
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
    tijdstipRegistratie,
    vervallen: false,
    ooitVertrouwelijk: actie.vertrouwelijkheid !== 'normaal',
    objecten: verwerkteObjecten.map((object, i) => ({ ...object, nummer: i + 1 })),
    ldv,
  };
}

function nextVersie<V extends Omit<Versie, 'objecten'>>(current: V, at: Date, { door, verzoekId }: Auteur): V {
  return { ...current, door, verzoekId, versie: current.versie + 1, tijdstipRegistratie: moment(at) };
}

/**
 * Remaining persons keep their number, and so the identity and address of their object.
 * @param lastNumber highest number that any version of the action has given
 * @throws {Problem} for more objects, over all versions of the action, than an identity can number
 */
export function replaced(current: Versie, actie: Actie, lastNumber: number, at: Date, auteur: Auteur): Versie {
  const { verwerkteObjecten, ...velden } = actie;
  return {
    ...nextVersie(current, at, auteur),
    ...velden,
    ooitVertrouwelijk: current.ooitVertrouwelijk || actie.vertrouwelijkheid !== 'normaal',
    objecten: renumber(verwerkteObjecten, current.objecten, lastNumber),
  };
}

export function ended(current: Versie, at: Date, auteur: Auteur): Versie {
  return { ...nextVersie(current, at, auteur), vervallen: true };
}

export interface Patch {
  readonly vertrouwelijkheid?: Vertrouwelijkheid | undefined;
  readonly bewaartermijn?: string | undefined;
}

/** The next version, in clear or as it is stored. */
export function patched<V extends Omit<Versie, 'objecten'>>(current: V, patch: Patch, at: Date, auteur: Auteur): V {
  const { vertrouwelijkheid = current.vertrouwelijkheid, bewaartermijn = current.bewaartermijn } = patch;
  const ooitVertrouwelijk = current.ooitVertrouwelijk || vertrouwelijkheid !== 'normaal';
  return { ...nextVersie(current, at, auteur), vertrouwelijkheid, ooitVertrouwelijk, bewaartermijn };
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

/** Over all versions of an action: the last four hexadecimal digits of an identity number its objects. */
const MAX_OBJECTS = 0xffff;

/** Begins with the time (RFC 9562 section 5.7), so that it leads to a month, and ends in zeros, which leave room for the identities of its objects. */
export function newActieId(at: Date): string {
  return `${uuidV7(at).slice(0, 32)}0000`;
}

export function verwerktObjectId(actieId: string, number: number): string {
  return actieId.slice(0, 32) + number.toString(16).padStart(4, '0');
}

export function parseVerwerktObjectId(id: string): { actieId: string; number: number } {
  return { actieId: `${id.slice(0, 32).toLowerCase()}0000`, number: Number.parseInt(id.slice(32), 16) };
}

/** Accepted by the contract; its read-only members can be anything. */
export type ActieBody = Schemas['VerwerkingsactieInvoer'];
type ReplacingBody = Schemas['VerwerkingsactieVolledig'];

const NO_OPTIONAL = nulls(OPTIONAL_NAMES);

/** `null` where they are absent; identities in lower case. */
function optionalOf(entry: { readonly [Name in OptionalName]?: string | null | undefined }) {
  const optional: Record<OptionalName, string | null> = { ...NO_OPTIONAL };
  for (const name of OPTIONAL_NAMES) {
    const value = entry[name] ?? null;
    optional[name] = value !== null && MEMBERS[name].type === 'uuid' ? value.toLowerCase() : value;
  }
  return optional;
}

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

/** Reads a body accepted by the contract. `tijdstip` is empty when it lies outside the calendar: `bodyFaults` then refuses the body. */
export function readActie(body: ActieBody): Actie {
  return {
    ...optionalOf(body),
    vertrouwelijkheid: readVertrouwelijkheid(body.vertrouwelijkheid),
    tijdstip: toUtc(body.tijdstip) ?? '',
    tijdstipOffset: offsetOf(body.tijdstip),
    verwerkteObjecten: body.verwerkteObjecten.map((object) => ({
      soortObjectId: object.soortObjectId,
      objectId: object.objectId,
      betrokkenheid: object.betrokkenheid ?? null,
      soortenGegevens: object.verwerkteSoortenGegevens?.map(({ soortGegeven }) => soortGegeven) ?? null,
    })),
  };
}

/** @throws {TypeError} for a value that the contract refuses */
export function readVertrouwelijkheid(text: string): Vertrouwelijkheid {
  const word = text.toLowerCase();
  if (word === 'normaal' || word === 'vertrouwelijk' || word === 'opgeheven') return word;
  throw new TypeError('not a word for confidentiality');
}

export function isWhole(body: ReplacingBody): body is ActieBody {
  return body.vertrouwelijkheid !== undefined && body.tijdstip !== undefined && body.verwerkteObjecten !== undefined;
}

/** The members that an action would lose because a body omits them. Omitting `null` members, as many clients do, loses nothing. */
export function silentLosses(body: ReplacingBody, current: Versie): InvalidParam[] {
  const kept = OPTIONAL_NAMES.filter((name) => current[name] !== null);
  return ([...kept, 'vertrouwelijkheid', 'tijdstip', 'verwerkteObjecten'] as const)
    .filter((name) => body[name] === undefined)
    .map((name) => ({ name, code: 'required', reason: 'ontbreekt, en is in de actie niet leeg' }));
}

const pickBasis = picker(BASIS_NAMES);
const pickAnswered = picker(ANSWERED_NAMES);

function fieldsOf(versie: Versie, base: string, beperkteSet: boolean) {
  const shown = beperkteSet ? pickBasis(versie) : pickAnswered(versie);
  const tijdstip = withOffset(versie.tijdstip, versie.tijdstipOffset);
  return { url: `${base}/verwerkingsacties/${versie.actieId}`, ...shown, tijdstip };
}

export function objectFields(object: GenummerdObject, actieId: string) {
  return {
    verwerktObjectId: verwerktObjectId(actieId, object.nummer),
    objecttype: 'persoon',
    soortObjectId: object.soortObjectId,
    objectId: object.objectId,
    betrokkenheid: object.betrokkenheid,
    verwerkteSoortenGegevens: object.soortenGegevens?.map((soortGegeven) => ({ soortGegeven })) ?? null,
  } as const;
}

function objectAt(base: string, object: GenummerdObject, actieId: string): Schemas['VerwerktObject'] {
  const fields = objectFields(object, actieId);
  return { url: `${base}/verwerkte-objecten/${fields.verwerktObjectId}`, ...fields };
}

/** @param base address of the interface */
export function actieAnswer(versie: Versie, base: string, beperkteSet: boolean): Schemas['Verwerkingsactie'] {
  return {
    ...fieldsOf(versie, base, beperkteSet),
    verwerkteObjecten: versie.objecten.map((object) => objectAt(base, object, versie.actieId)),
  };
}

/** With its action in the limited set, for the person concerned: with this one of the objects only. */
export function objectAnswer(
  object: GenummerdObject,
  versie: Versie,
  base: string,
): Schemas['VerwerktObjectUitgebreid'] {
  const shown = objectAt(base, object, versie.actieId);
  return { ...shown, verwerkingsactie: { ...fieldsOf(versie, base, true), verwerkteObjecten: [shown] } };
}

type Judged = {
  readonly [Member in 'bewaartermijn' | 'soortAfnemerId' | 'afnemerId' | 'verwerkteObjecten']?: unknown;
};

/**
 * Faults that a contract cannot express; members of the wrong type are skipped.
 * @param utc its `tijdstip` as `toUtc` reads it; empty outside the calendar, undefined when it is no text
 * @param latest the latest accepted moment (milliseconds since 1970); absent: the database was not asked
 */
export function bodyFaults(body: Judged, checkBsn: boolean, utc?: string, latest?: number): InvalidParam[] {
  const faults = [...termFaults(body.bewaartermijn), ...momentFaults(utc, latest)];
  return checkBsn ? [...bsnFaults(body), ...faults] : faults;
}

function momentFaults(utc: string | undefined, latest = Number.POSITIVE_INFINITY): InvalidParam[] {
  const fault = (reason: string): InvalidParam[] => [{ name: 'tijdstip', code: 'range', reason }];
  if (utc === '') return fault('moet in UTC in de jaren 1 tot en met 9999 liggen');
  if (utc === undefined || Date.parse(utc) <= latest) return [];
  return fault('mag niet meer dan 24 uur in de toekomst liggen');
}

/** Of one that is a duration; the contract refuses any other form. */
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

export interface Person {
  readonly soortObjectId: string;
  readonly objectId: string;
}

/** The standard closes no list of kinds: ` bsn`, `B.S.N.` and `BSN:` mean a citizen service number too. */
export function isBsnKind(kind: unknown): boolean {
  return typeof kind === 'string' && BSN_KINDS.has(lettersAndDigits(kind).toLowerCase());
}

const BSN_KINDS: ReadonlySet<string> = new Set(
  [
    ...['bsn', 'burgerservicenummer', 'sofi', 'sofinummer'],
    ...['2.16.840.1.113883.2.4.6.3', 'urn:oid:2.16.840.1.113883.2.4.6.3', 'http://fhir.nl/fhir/NamingSystem/bsn'],
  ].map((kind) => lettersAndDigits(kind).toLowerCase()),
);

/** The nine digits, however punctuated; undefined when it has other letters or more digits. */
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

function lettersAndDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The same for every spelling, and different for any two persons. */
export function personKey({ soortObjectId, objectId }: Person): string {
  if (soortObjectId === 'BSN' && /^\d{9}$/.test(objectId)) return `BSN\n${objectId}`;
  if (isBsnKind(soortObjectId)) return `BSN\n${bsnDigits(objectId) ?? objectId}`;
  const normal = soortObjectId
    .normalize('NFKC')
    .replaceAll(/[\s.\p{Cf}]/gu, '')
    .toLowerCase();
  // A text of such characters only stays as it is. A kind is never empty, so nothing else begins with a line break.
  const kind = normal === '' ? soortObjectId : normal;
  return kind.includes('\n') ? `\n${JSON.stringify([kind, objectId])}` : `${kind}\n${objectId}`;
}

export function isSamePerson(one: Person, other: Person): boolean {
  return personKey(one) === personKey(other);
}
