/** What is kept of a log line of LDV beside its action: the whole line, except for attributes that nobody asked to keep. */
import { isRecord } from '../../lib/json/json-value.ts';
import type { Versie } from '../domain/verwerkingsactie.ts';
import type { KeptAttributes } from './request.ts';
import {
  type Attributes,
  EXCEPTION,
  isOfLdv,
  readAttributes,
  readInteger,
  readText,
  type Span,
  STATUSES,
  writeAttributes,
  writeValue,
} from './span.ts';

/** Attributes of every line that are kept: those of LDV itself, and of its guidance on errors. */
const isOfLine = (name: string): boolean => isOfLdv(name) || EXCEPTION.includes(name);
/** Attributes of every resource that are kept: which application it is, and of which system by NEN 7513. */
const isOfSource = (name: string): boolean => name.startsWith('service.') || name.startsWith('nen7513.');

/** Attribute of a resource: the logbooks that a line has passed, the first one first. It says nothing about what was done. */
export const LOGBOOKS = 'koppelvlak.logbooks';

/** A line as it is kept. */
export interface LdvLine {
  /** With the kept attributes only. */
  readonly span: Span;
  /** Whose line it is: its ids count for this client only. */
  readonly client: string;
}

/**
 * The attributes that are kept. Instrumentation puts addresses and statements of SQL in the others, with identifiers in them.
 * @param names what the operator wants kept too; a name that ends in `.*` means all that begin so
 */
export function keptAttributes(names: readonly string[]): KeptAttributes {
  const exact = new Set(names.filter((name) => !name.endsWith('.*')));
  const prefixes = names.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  const isWanted = (name: string) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  return {
    ofSpan: (name) => isOfLine(name) || isWanted(name),
    ofResource: (name) => isOfSource(name) || name === LOGBOOKS || isWanted(name),
  };
}

/** A line as the text that is stored with the first version of its action, and encrypted there. */
export function writeLine({ span, client }: LdvLine): string {
  return JSON.stringify({
    client,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    start: String(span.start),
    end: String(span.end),
    status: span.status,
    resource: writeAttributes(span.resource),
    attributes: writeAttributes(span.attributes),
  });
}

/**
 * The line of LDV that an action came from; undefined for an action that was logged in another way.
 * @param versie any version of the action, its identifiers decrypted
 */
export function readLdvOf({ ldv }: Pick<Versie, 'ldv'>): LdvLine | undefined {
  return ldv === null ? undefined : readLine(ldv);
}

/** @throws {TypeError} for a text that is not a line */
export function readLine(text: string): LdvLine {
  const line: unknown = JSON.parse(text);
  if (!isRecord(line)) throw new TypeError('what is stored is not a line of LDV');
  const parentSpanId = readText(line.parentSpanId);
  return {
    client: readText(line.client),
    span: {
      traceId: readText(line.traceId),
      spanId: readText(line.spanId),
      ...(parentSpanId === '' ? {} : { parentSpanId }),
      name: readText(line.name),
      start: readInteger(line.start),
      end: readInteger(line.end),
      status: STATUSES.find((status) => status === line.status) ?? 'Unset',
      resource: readAttributes(line.resource),
      attributes: readAttributes(line.attributes),
    },
  };
}

/**
 * What two lines with the same ids must have in common to be the same line. It does not depend on what the operator wants kept, so that a
 * repeated line stays the same after that is changed.
 */
export function contentOf(span: Span): string {
  return JSON.stringify([
    span.parentSpanId ?? '',
    span.name,
    String(span.start),
    String(span.end),
    span.status,
    contentOfAttributes(span.resource, isOfSource),
    contentOfAttributes(span.attributes, isOfLine),
  ]);
}

/** By name, so that their order says nothing. A text is kept as it is, another value in its JSON form. */
function contentOfAttributes(attributes: Attributes, isContent: (name: string) => boolean): unknown[] {
  const names = [...attributes.keys()].filter(isContent).sort();
  return names.flatMap((name) => {
    const value = attributes.get(name) ?? null;
    return [name, typeof value === 'string' ? value : writeValue(value)];
  });
}
