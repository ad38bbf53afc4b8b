/**
 * The six headers that explain a request for personal data, copied into the provider's own entry in the processing log. The package of the client
 * imports this file, so it imports no Fastify. @see API-standaard voor logging van verwerkingen, "Verwerkingsattributen"
 */

import type { components } from '../contracts/verwerkingenlog.ts';
import { isUuid, OIN } from '../lib/patterns.ts';
import type { InvalidParam } from '../lib/problem.ts';
import { isTerm, longerDuration, shorterDuration } from '../lib/time.ts';

export const HEADER_NAMES = [
  'OIN',
  'VerwerkingsactiviteitId',
  'VerwerkingsactiviteitUrl',
  'VerwerkingId',
  'Vertrouwelijkheid',
  'Bewaartermijn',
] as const;

export type ProcessingHeader = (typeof HEADER_NAMES)[number];

export interface ProcessingContext {
  /** Its proven OIN; only when none was proven, the claimed one. */
  readonly oin?: string | undefined;
  readonly verwerkingsactiviteitId?: string | undefined;
  readonly verwerkingsactiviteitUrl?: string | undefined;
  readonly verwerkingId?: string | undefined;
  readonly vertrouwelijkheid?: 'normaal' | 'vertrouwelijk' | undefined;
  readonly bewaartermijn?: string | undefined;
}

interface ProcessingHeadersReading {
  readonly context: ProcessingContext;
  /** Headers with an invalid value; `context` leaves them out. */
  readonly malformed: readonly InvalidParam[];
  readonly missing: readonly ProcessingHeader[];
  /** Whether an organisation was proven and the header `OIN` names another. */
  readonly otherOin: boolean;
}

type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

/** @param headers names in lower case, as Node gives them @param proven organisations, by token and signature: the first is the recipient */
export function readProcessingHeaders(headers: HeaderValues, proven: readonly string[] = []): ProcessingHeadersReading {
  const malformed: InvalidParam[] = [];
  const read = <T>(name: ProcessingHeader, convert: (text: string) => T | undefined, reason: string): T | undefined => {
    const text = headers[name.toLowerCase()];
    if (text === undefined) return undefined;
    const value = typeof text === 'string' ? convert(text) : undefined;
    if (value === undefined) malformed.push({ name, code: 'format', reason });
    return value;
  };
  const oin = read('OIN', oinOf, 'moet een OIN van 20 cijfers zijn');
  return {
    context: {
      oin: proven[0] ?? oin,
      verwerkingsactiviteitId: read('VerwerkingsactiviteitId', uuidOf, 'moet een UUID zijn'),
      verwerkingsactiviteitUrl: read('VerwerkingsactiviteitUrl', addressOf, ADDRESS_REASON),
      verwerkingId: read('VerwerkingId', uuidOf, 'moet een UUID zijn'),
      vertrouwelijkheid: read('Vertrouwelijkheid', confidentialityOf, 'moet normaal of vertrouwelijk zijn'),
      bewaartermijn: read('Bewaartermijn', termOf, TERM_REASON),
    },
    malformed,
    missing: missingHeaders(headers),
    otherOin: oin !== undefined && proven.length > 0 && !proven.includes(oin),
  };
}

/** `OIN` and `VerwerkingId` are always expected; with a `VerwerkingId`, also its confidentiality and retention. */
function missingHeaders(headers: HeaderValues): ProcessingHeader[] {
  const expected: readonly ProcessingHeader[] =
    headers.verwerkingid === undefined ? ['OIN', 'VerwerkingId'] : ['OIN', 'Vertrouwelijkheid', 'Bewaartermijn'];
  return expected.filter((name) => headers[name.toLowerCase()] === undefined);
}

export function entryFromHeaders({ oin, ...context }: ProcessingContext) {
  return {
    ...(oin === undefined ? {} : { soortAfnemerId: 'OIN', afnemerId: oin }),
    verwerkingsactiviteitIdAfnemer: context.verwerkingsactiviteitId,
    verwerkingsactiviteitUrlAfnemer: context.verwerkingsactiviteitUrl,
    verwerkingIdAfnemer: context.verwerkingId,
    vertrouwelijkheid: context.vertrouwelijkheid ?? 'normaal',
    bewaartermijn: context.bewaartermijn,
  } satisfies Partial<ProcessingEntry>;
}

/** The longest term that a consumer can ask for the entry about itself. */
const MAX_CONSUMER_TERM = 'P20Y';

/** The term of an entry about a consumer: our own, or the longer one that it requests. */
export function consumerTerm(at: Date, asked: string | undefined, own: string): string {
  return longerDuration(at, own, shorterDuration(at, asked ?? own, MAX_CONSUMER_TERM));
}

const oinOf = (text: string): string | undefined => (OIN.test(text) ? text : undefined);
const uuidOf = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

const TERM_REASON = 'moet een duur volgens ISO 8601 zijn, langer dan nul en hoogstens P1000Y';
const termOf = (text: string): string | undefined => (isTerm(text) ? text : undefined);

const ADDRESS_REASON = 'moet een adres zijn, hoogstens 2042 tekens';
const ADDRESS = /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/i;
function addressOf(text: string): string | undefined {
  return text.length <= 2042 && ADDRESS.test(text) && URL.canParse(text) ? text : undefined;
}

/** Lifted confidentiality cannot be logged: only a confidential action can be lifted. */
function confidentialityOf(value: string): ProcessingContext['vertrouwelijkheid'] {
  const words = ['normaal', 'vertrouwelijk'] as const;
  return words.find((word) => word === value.toLowerCase());
}

type Fields = Omit<
  components['schemas']['VerwerkingsactieInvoer'],
  'url' | 'actieId' | 'tijdstipRegistratie' | 'tijdstip' | 'vertrouwelijkheid' | 'verwerkteObjecten'
>;
type OptionalFields = { readonly [Field in keyof Fields]: Fields[Field] | undefined };

/** One entry about a use of personal data, for area A, which does not know area B. @see API-standaard voor logging van verwerkingen */
export interface ProcessingEntry extends OptionalFields {
  readonly actieNaam: string;
  readonly vertrouwelijkheid: components['schemas']['Vertrouwelijkheid'];
  readonly tijdstip: Date;
  /** The persons whose data were processed; absent when they are not listed individually. */
  readonly verwerkteObjecten?: readonly ProcessedPerson[] | undefined;
}

export interface ProcessedPerson {
  /** Kind of identification, such as `BSN`. */
  readonly soortObjectId: string;
  readonly objectId: string;
  readonly betrokkenheid?: string | undefined;
  readonly soortenGegevens?: readonly string[] | undefined;
}
