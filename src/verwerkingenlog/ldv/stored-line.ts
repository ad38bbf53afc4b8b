/** The stored form of an LDV log line beside its action: the whole line, except for attributes that are not kept. */
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

/** Attributes kept for every line: those of LDV itself, and of its guidance on errors. */
const isOfLine = (name: string): boolean => isOfLdv(name) || EXCEPTION.includes(name);
/** Attributes kept for every resource: the application, and its system according to NEN 7513. */
const isOfSource = (name: string): boolean => name.startsWith('service.') || name.startsWith('nen7513.');

/** Of a resource: the logbooks that a line has passed, in order. */
export const LOGBOOKS = 'koppelvlak.logbooks';

export interface LdvLine {
  readonly span: Span;
  readonly client: string;
}

/** Attributes that are not kept may have addresses and SQL with identifiers. @param names of more to keep; `name.*`: all that begin with it */
export function keptAttributes(names: readonly string[]): KeptAttributes {
  const exact = new Set(names.filter((name) => !name.endsWith('.*')));
  const prefixes = names.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  const isWanted = (name: string) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  return {
    ofSpan: (name) => isOfLine(name) || isWanted(name),
    ofResource: (name) => isOfSource(name) || name === LOGBOOKS || isWanted(name),
  };
}

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

/** The line that an action came from, from any version of it with its identifiers decrypted; undefined when it was logged in another way. */
export function readLdvOf({ ldv }: Pick<Versie, 'ldv'>): LdvLine | undefined {
  return ldv === null ? undefined : readLine(ldv);
}

/** @throws {TypeError} for a text that is not a line */
export function readLine(text: string): LdvLine {
  const line: unknown = JSON.parse(text);
  if (!isRecord(line)) throw new TypeError('the stored text is not a line of LDV');
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

/** What a repeated line must share with the first. Independent of the kept attributes, so that it stays the same when that setting changes. */
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

/** By name, so that order does not matter. */
function contentOfAttributes(attributes: Attributes, isContent: (name: string) => boolean): unknown[] {
  const names = [...attributes.keys()].filter(isContent).sort();
  return names.flatMap((name) => {
    const value = attributes.get(name) ?? null;
    return [name, typeof value === 'string' ? value : writeValue(value)];
  });
}
