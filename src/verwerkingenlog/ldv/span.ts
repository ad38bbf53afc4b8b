/** A span as the LDV log record is sent over OTLP, and its attributes as JSON. @see Logboek Dataverwerkingen 1.0.0, opentelemetry-proto 1.11 */
import { isRecord } from '../../lib/json/json-value.ts';

/** In the order of their numbers. */
export const STATUSES = ['Unset', 'Ok', 'Error'] as const;
export type SpanStatus = (typeof STATUSES)[number];

/** The value of an attribute: `bigint` is an integer, `number` a double, `null` a value that was not set. */
export type AttributeValue =
  | string
  | boolean
  | bigint
  | number
  | Uint8Array
  | null
  | readonly AttributeValue[]
  | ReadonlyMap<string, AttributeValue>;

/** In the order in which they were sent; the last value of a repeated name counts. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

export interface Span {
  /** Hexadecimal, lower case: 32 digits when it is well-formed. */
  readonly traceId: string;
  /** 16 digits, as its parent; a root has none. */
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly status: SpanStatus;
  readonly resource: Attributes;
  readonly attributes: Attributes;
  readonly droppedAttributes?: number;
}

export function isOfLdv(name: unknown): boolean {
  return typeof name === 'string' && name.startsWith('dpl.');
}

export const DPL = {
  activity: 'dpl.core.processing_activity_id',
  subject: 'dpl.core.data_subject_id',
  subjectType: 'dpl.core.data_subject_id_type',
  processor: 'dpl.core.foreign_operation.processor',
} as const;

export const UNKNOWN_KIND = 'onbekend';

/** An attribute as a text; an integer counts as its digits. */
export function textOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' ? value : undefined;
}

export function activityOf({ attributes }: Span): string | undefined {
  return textOf(attributes, DPL.activity);
}

export function subjectOf({ attributes }: Span): { soortObjectId: string; objectId: string } | undefined {
  const objectId = textOf(attributes, DPL.subject);
  if (objectId === undefined || objectId === '') return undefined;
  const kind = textOf(attributes, DPL.subjectType) ?? '';
  return { soortObjectId: /^bsn$/i.test(kind) ? 'BSN' : kind || UNKNOWN_KIND, objectId };
}

/** The contents of an application's error line, by the guidance of LDV. */
export const EXCEPTION: readonly string[] = ['exception.message', 'exception.type', 'exception.stacktrace'];

export class OtlpError extends Error {
  readonly attribute: string | undefined;

  constructor(message: string, { attribute, ...options }: ErrorOptions & { readonly attribute?: string } = {}) {
    super(message, options);
    this.attribute = attribute;
  }
}

/** Stands for a part of protobuf that cannot be read: no reader accepts it. */
export const UNREADABLE = Symbol('unreadable');

const MAX_DEPTH = 8;

/** Attributes in the JSON form of OTLP: integers as texts, bytes as base64. @param text converts a text; default: unchanged */
export function writeAttributes(attributes: Attributes, text = (one: string) => one): object[] {
  return [...attributes].map(([key, value]) => ({ key: text(key), value: writeValue(value, text) }));
}

export function writeValue(value: AttributeValue, text = (one: string) => one): object {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: text(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: String(value) };
  // JSON has neither infinities nor a negative zero.
  if (Object.is(value, -0)) return { doubleValue: '-0' };
  if (typeof value === 'number') return { doubleValue: Number.isFinite(value) ? value : String(value) };
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') };
  if (isMap(value)) return { kvlistValue: { values: writeAttributes(value, text) } };
  return { arrayValue: { values: value.map((one) => writeValue(one, text)) } };
}

function isMap(value: AttributeValue): value is Attributes {
  return value instanceof Map;
}

/** @param isKept whether an attribute is wanted: the others may hold anything @throws {OtlpError} naming the attribute */
export function readAttributes(list: unknown, isKept?: (name: string) => boolean, depth = 0): Attributes {
  const attributes = new Map<string, AttributeValue>();
  for (const item of readList(list)) {
    if (item === UNREADABLE || (isKept === undefined && !isRecord(item)))
      throw new OtlpError('an attribute has no name that can be read');
    const { key, value }: Readonly<Record<string, unknown>> = isRecord(item) ? item : {};
    if (isKept !== undefined && !(typeof key === 'string' && isKept(key))) continue;
    const attribute = readText(key);
    try {
      attributes.set(attribute, readValue(value, depth));
    } catch (cause) {
      throw new OtlpError('an attribute cannot be read', { cause, attribute });
    }
  }
  return attributes;
}

type ValueReader = (value: unknown, depth: number) => AttributeValue;
const VALUE_READERS = new Map<string, ValueReader>([
  ['stringValue', readText],
  ['boolValue', readBoolean],
  ['intValue', readInteger],
  ['doubleValue', readDouble],
  ['bytesValue', readBytes],
  ['kvlistValue', (value, depth) => readAttributes(valuesOf(value, depth), undefined, depth + 1)],
  ['arrayValue', (value, depth) => readList(valuesOf(value, depth)).map((part) => readValue(part, depth + 1))],
]);

function readValue(value: unknown, depth: number): AttributeValue {
  if (value === undefined || value === null) return null;
  if (!isRecord(value)) throw new OtlpError('the value of an attribute is not an object');
  let [read, given, isUnknown]: [ValueReader | undefined, unknown, boolean] = [undefined, undefined, false];
  for (const kind of Object.keys(value)) {
    if (value[kind] === undefined || value[kind] === null) continue;
    const reader = VALUE_READERS.get(kind);
    if (reader !== undefined && read !== undefined) throw new OtlpError('an attribute has several values');
    if (reader === undefined) isUnknown = true;
    else [read, given] = [reader, value[kind]];
  }
  if (read !== undefined) return read(given, depth);
  if (isUnknown) throw new OtlpError('the value of an attribute has an unknown kind');
  return null;
}

function valuesOf(list: unknown, depth: number): unknown {
  if (depth >= MAX_DEPTH) throw new OtlpError('an attribute is nested too deeply');
  if (!isRecord(list)) throw new OtlpError('a list of values was expected');
  return list.values;
}

function readBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new OtlpError('true or false was expected');
  return value;
}

const STATUS_NAME = 'STATUS_CODE_';

/** By the number or the name of its code; a number that OTLP does not have counts as no status. @throws {OtlpError} */
export function readStatus(status: unknown): SpanStatus {
  if (status === undefined || status === null) return 'Unset';
  if (!isRecord(status)) throw new OtlpError('a status was expected');
  const { code } = status;
  if (typeof code === 'string' && code.startsWith(STATUS_NAME)) {
    const named = STATUSES.find((one) => code === `${STATUS_NAME}${one.toUpperCase()}`);
    if (named === undefined) throw new OtlpError('the status has an unknown name');
    return named;
  }
  return STATUSES[Number(readInteger(code))] ?? 'Unset';
}

/** A repeated field; one that is absent has no items. @throws {OtlpError} */
export function readList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new OtlpError('a list was expected');
  return value;
}

/** @throws {OtlpError} */
export function readText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new OtlpError('a text was expected');
  return value;
}

/** An identity in hexadecimal: bytes of protobuf, or the digits of JSON. @throws {OtlpError} */
export function readId(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  return readText(value).toLowerCase();
}

function readBytes(value: unknown): Uint8Array {
  // A copy, because the bytes of protobuf are a part of the whole request.
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  const text = readText(value);
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new OtlpError('base64 was expected');
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** In JSON a text stands for values that JSON cannot express. */
function readDouble(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && (value === 'NaN' || (value.trim() !== '' && !Number.isNaN(Number(value)))))
    return Number(value);
  throw new OtlpError('a number was expected');
}

/** Digits of the largest double, which earlier releases stored as an integer. */
const MAX_DIGITS = 310;
const TOO_LARGE = 2n ** 64n;

/** A `Long` of protobuf, or a text or number of JSON. Whether it fits 64 bits is judged with its line, which alone is refused. @throws {OtlpError} */
export function readInteger(value: unknown): bigint {
  if (value === undefined || value === null) return 0n;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (value === Infinity || value === -Infinity) return TOO_LARGE;
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return value.length > MAX_DIGITS ? TOO_LARGE : BigInt(value);
  if (isRecord(value) && typeof value.high === 'number' && typeof value.low === 'number') {
    const high = value.unsigned === true ? value.high >>> 0 : value.high;
    return (BigInt(high) << 32n) | BigInt(value.low >>> 0);
  }
  throw new OtlpError('an integer was expected');
}

/** Whether a line has an integer that does not fit 64 bits with a sign, among its attributes or those of its resource. */
export function hasLargeInteger({ resource, attributes }: Span): boolean {
  return holdsLarge(resource) || holdsLarge(attributes);
}

function holdsLarge(value: AttributeValue): boolean {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) !== value;
  if (isMap(value)) return [...value.values()].some(holdsLarge);
  return Array.isArray(value) && value.some(holdsLarge);
}

export const NS_PER_MS = 1_000_000n;

export function dateOf(nanoseconds: bigint): Date {
  return new Date(Number(nanoseconds / NS_PER_MS));
}

/** OTLP has moments from 1970 to 2554. */
export function isTime(nanoseconds: bigint): boolean {
  return BigInt.asUintN(64, nanoseconds) === nanoseconds;
}
