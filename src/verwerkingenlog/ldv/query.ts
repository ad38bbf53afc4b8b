/** A question about lines of LDV: its selectors, and how a line is answered. @see read extension of LDV, work version 0.9 */
import type { components } from '../../contracts/ldv-lezen.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import type { InvalidParam } from '../../lib/problem.ts';
import { toUtc } from '../domain/verwerkingsactie.ts';
import { UNKNOWN_KIND, uuidOf } from './mapping.ts';
import { type AttributeValue, DPL, dateOf, NS_PER_MS, type Span } from './span.ts';

export type Vraag = components['schemas']['Vraag'];
type Selectors = components['schemas']['Filter'];

/** What is asked for; at least a trace, an activity or a person. */
export interface LineQuery {
  /** As a UUID, lower case. */
  readonly traceId: string | undefined;
  readonly activity: string | undefined;
  /** The person under each kind that may be meant. */
  readonly persons: readonly { readonly soortObjectId: string; readonly objectId: string }[];
  /** Whether the kind of the person was given. */
  readonly namesKind: boolean;
  /** From, included; to, not included. */
  readonly begin: string | undefined;
  readonly eind: string | undefined;
}

const SELECTORS = ['processingActivityId', 'dataSubjectId', 'dataSubjectIdType'] as const;
const TRACE = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Reads a question that is right by the contract. @param at where it is in the body, for the names of faults */
export function readQuery(vraag: Vraag, at = ''): { readonly query: LineQuery; readonly faults: InvalidParam[] } {
  const faults: InvalidParam[] = [];
  const fault = (name: string, code: string, reason: string): void =>
    void faults.push({ name: `${at}${name}`, code, reason });
  const given = (name: keyof Selectors): string | undefined => {
    const values = new Set(
      [vraag, vraag.filter ?? {}]
        .flatMap((one) => [textOf(one[name]), ...nested(one.attributes, name)])
        .filter((one) => one !== undefined),
    );
    if (values.size > 1) fault(name, 'conflict', 'is verschillend opgegeven');
    return [...values][0];
  };
  const [activity, subject, kind] = SELECTORS.map(given);
  const trace = given('traceId');
  if (trace !== undefined && !TRACE.test(trace)) fault('traceId', 'format', 'is geen trace');
  if (activity === undefined && subject === undefined && trace === undefined) {
    fault('traceId', 'required', 'traceId, processingActivityId of dataSubjectId is nodig');
  }
  if (kind !== undefined && subject === undefined)
    fault('dataSubjectId', 'required', 'ontbreekt bij dataSubjectIdType');
  const bound = (name: 'startTime' | 'endTime'): string | undefined => {
    const text = given(name);
    const utc = text === undefined ? undefined : toUtc(text);
    if (text !== undefined && utc === undefined)
      fault(name, 'range', 'moet in UTC in de jaren 1 tot en met 9999 liggen');
    return utc;
  };
  const [begin, eind] = [bound('startTime'), bound('endTime')];
  if (begin !== undefined && eind !== undefined && Date.parse(begin) > Date.parse(eind)) {
    fault('endTime', 'order', 'mag niet voor startTime liggen');
  }
  const persons =
    subject === undefined ? [] : kindsOf(kind).map((soortObjectId) => ({ soortObjectId, objectId: subject }));
  const traceId = trace === undefined ? undefined : uuidOf(trace.toLowerCase().replaceAll('-', ''));
  return { query: { traceId, activity, persons, namesKind: kind !== undefined, begin, eind }, faults };
}

/** Without a kind: that of most lines, and that of lines without one. */
function kindsOf(kind: string | undefined): string[] {
  if (kind === undefined) return ['BSN', UNKNOWN_KIND];
  return [/^bsn$/i.test(kind) ? 'BSN' : kind];
}

/** A selector as a line has it: `dpl.core.…` as one name or nested, in either way of writing. */
function nested(attributes: unknown, name: string): (string | undefined)[] {
  if (!isRecord(attributes)) return [];
  const core = isRecord(attributes.dpl) && isRecord(attributes.dpl.core) ? attributes.dpl.core : {};
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [name, snake].flatMap((word) => [textOf(attributes[`dpl.core.${word}`]), textOf(core[word])]);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A line as it is answered. @param limited without where it came from, and without attributes that are not those of LDV */
export function answerOf(span: Span, limited: boolean): components['schemas']['Regel'] {
  return {
    traceId: uuidOf(span.traceId),
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    status: span.status,
    name: span.name,
    startTime: timeOf(span.start),
    endTime: timeOf(span.end),
    resource: { attributes: limited ? {} : plainAttributes(span.resource) },
    attributes: attributesOf(span, limited),
  };
}

function attributesOf({ attributes }: Span, limited: boolean): Record<string, unknown> {
  const dpl: Record<string, unknown> = {};
  const others = new Map<string, AttributeValue>();
  const standard: readonly string[] = Object.values(DPL);
  for (const [name, value] of attributes) {
    if (!name.startsWith('dpl.')) others.set(name, value);
    else if (!limited || standard.includes(name)) nest(dpl, name.slice(4).split('.').map(camelCase), plain(value));
  }
  return { ...(limited ? {} : plainAttributes(others)), dpl };
}

/** Puts a value where its name leads; where a shorter name has a value already, under the rest of the name. */
function nest(into: Record<string, unknown>, [step = '', ...rest]: readonly string[], value: unknown): void {
  const present = Object.hasOwn(into, step) ? into[step] : undefined;
  if (rest.length === 0) define(into, step, value);
  else if (isRecord(present)) nest(present, rest, value);
  else if (present === undefined) {
    const inner = {};
    define(into, step, inner);
    nest(inner, rest, value);
  } else define(into, [step, ...rest].join('.'), value);
}

/** Names come from outside: `__proto__` is a name like any other. */
function define(into: object, name: string, value: unknown): void {
  Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
}

function plainAttributes(attributes: ReadonlyMap<string, AttributeValue>): Record<string, unknown> {
  const all = {};
  for (const [name, value] of attributes) define(all, name, plain(value));
  return all;
}

function plain(value: AttributeValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Map) return plainAttributes(value);
  return Array.isArray(value) ? value.map(plain) : value;
}

/** RFC 3339 in UTC, with as many decimals as there are. */
function timeOf(nanoseconds: bigint): string {
  const whole = dateOf(nanoseconds).toISOString();
  const rest = String(nanoseconds % NS_PER_MS).padStart(6, '0');
  return `${whole.slice(0, -1)}${rest}Z`.replace(/\.?0+Z$/, 'Z');
}
