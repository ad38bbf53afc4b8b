/** Reads the spans of an `ExportTraceServiceRequest` one by one: an unreadable one is named, and the others are read. */
import protobuf from 'protobufjs';
import { isRecord } from '../../lib/json/json-value.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { decode, hasTooManyParts, type OtlpForm, parseRequest, tooManySpans, types } from './otlp.ts';
import {
  type Attributes,
  isOfLdv,
  OtlpError,
  readAttributes,
  readId,
  readInteger,
  readList,
  readStatus,
  readText,
  type Span,
} from './span.ts';

/** Which attributes are kept, by name. The values of others are not read. */
export interface KeptAttributes {
  readonly ofSpan: (name: string) => boolean;
  readonly ofResource: (name: string) => boolean;
}

export interface UnreadableSpan {
  /** As far as they can be read. */
  readonly traceId: string;
  readonly spanId: string;
  readonly reason: string;
  readonly isOther: boolean;
}

export interface ReadRequest {
  readonly spans: readonly Span[];
  readonly unreadable: readonly UnreadableSpan[];
  /** Names of things found in place of spans. */
  readonly others: readonly string[];
}

/** A level of the request: its list, and the numbers of all its members. */
interface Level {
  readonly list: string;
  readonly numbers: Readonly<Record<string, number>>;
}

const REQUEST: Level = { list: 'resourceSpans', numbers: { resourceSpans: 1 } };
const RESOURCE_SPANS: Level = { list: 'scopeSpans', numbers: { resource: 1, scopeSpans: 2, schemaUrl: 3 } };
const SCOPE_SPANS: Level = { list: 'spans', numbers: { scope: 1, spans: 2, schemaUrl: 3 } };

/** The contents of a level. */
interface Opened {
  readonly items: readonly unknown[];
  readonly resource?: unknown;
  /** Names of members that OTLP lacks; only if the list is missing. */
  readonly others: readonly string[];
  /** Part of it cannot be read. */
  readonly isBroken: boolean;
}

interface Resource {
  readonly attributes: Attributes;
  readonly fault?: string;
}

/**
 * The spans, decoded a few milliseconds at a time.
 * @throws {OtlpError} when the bytes are not such a request
 * @throws {Problem} before any span is decoded, also when it has far too many other parts
 */
export async function readRequest(
  bytes: Uint8Array,
  form: OtlpForm,
  maxSpans: number,
  kept: KeptAttributes,
): Promise<ReadRequest> {
  if (form === 'protobuf' && hasTooManyParts(bytes, maxSpans)) throw tooManySpans();
  const open = form === 'json' ? openJson : openProtobuf;
  const raw: { readonly span: unknown; readonly resource: Resource }[] = [];
  const unreadable: UnreadableSpan[] = [];
  const others = new Set<string>();

  const request = open(form === 'json' ? parseRequest(bytes) : bytes, REQUEST);
  if (request.isBroken) throw new OtlpError('the request cannot be decoded');
  for (const name of request.others) others.add(name);
  for (const [i, resourceSpans] of request.items.entries()) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    const of = open(resourceSpans, RESOURCE_SPANS);
    for (const name of of.others) others.add(`resourceSpans[].${name}`);
    if (of.isBroken) unreadable.push(unreadablePart(`resourceSpans[${i}]`));
    const resource = readResource(of.resource, form, kept.ofResource);
    for (const [j, scopeSpans] of of.items.entries()) {
      const scope = open(scopeSpans, SCOPE_SPANS);
      for (const name of scope.others) others.add(`resourceSpans[].scopeSpans[].${name}`);
      if (scope.isBroken) unreadable.push(unreadablePart(`resourceSpans[${i}].scopeSpans[${j}]`));
      if (raw.length + scope.items.length > maxSpans) throw tooManySpans();
      for (const span of scope.items) raw.push({ span, resource });
    }
  }
  if (raw.length === 0 && unreadable.length > 0) throw new OtlpError('no part of the request can be decoded');

  const spans: Span[] = [];
  for (const { span, resource } of raw) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    const read = readSpan(form === 'json' ? span : recordOf(types.span, span), resource, kept);
    if ('reason' in read) unreadable.push(read);
    else spans.push(read);
  }
  return { spans, unreadable, others: [...others] };
}

const NO_IDS = { traceId: '', spanId: '', isOther: false };

function unreadablePart(where: string): UnreadableSpan {
  return { ...NO_IDS, reason: `${where} kan niet gelezen worden` };
}

function openJson(part: unknown, { list, numbers }: Level): Opened {
  if (!isRecord(part)) return { items: [], others: [], isBroken: true };
  const items = part[list] ?? undefined;
  const isGiven = (name: string): boolean => part[name] !== undefined && part[name] !== null;
  return {
    items: Array.isArray(items) ? items : [],
    resource: part.resource,
    others:
      items === undefined
        ? Object.keys(part)
            .filter((name) => !Object.hasOwn(numbers, name) && isGiven(name))
            .map(nameInMessage)
        : [],
    isBroken: items !== undefined && !Array.isArray(items),
  };
}

function openProtobuf(part: unknown, { list, numbers }: Level): Opened {
  if (!(part instanceof Uint8Array)) return { items: [], others: [], isBroken: true };
  const { fields, isBroken } = fieldsOf(part);
  const contentsOf = (name: string): Uint8Array[] =>
    fields.flatMap(({ number, content }) => (number === numbers[name] && content !== undefined ? [content] : []));
  const items = contentsOf(list);
  const known = Object.values(numbers);
  return {
    items,
    resource: numbers.resource === undefined ? undefined : contentsOf('resource').at(-1),
    others:
      items.length === 0
        ? fields.filter(({ number }) => !known.includes(number)).map(({ number }) => `veld ${number}`)
        : [],
    isBroken,
  };
}

/** A name that the sender chose, for an answer. One with six digits, however they are written, may be a number of a person. */
export function nameInMessage(name: string): string {
  return /^[\p{L}\p{N}_.-]{1,100}$/u.test(name) && !/(?:\p{N}\P{N}*){6}/u.test(name) ? name : '(een andere naam)';
}

interface Field {
  readonly number: number;
  /** Its contents, when it is a message, a text or bytes. */
  readonly content: Uint8Array | undefined;
  readonly start: number;
  readonly end: number;
}

/** The fields of a message, as far as they can be read. @returns with the number of the unreadable one, if that is known */
function fieldsOf(message: Uint8Array): { fields: readonly Field[]; isBroken: boolean; brokenAt: number } {
  const reader = protobuf.Reader.create(message);
  const fields: Field[] = [];
  let number = 0;
  try {
    while (reader.pos < reader.len) {
      const start = reader.pos;
      number = 0;
      const tag = reader.tag();
      number = tag >>> 3;
      const isContent = (tag & 7) === 2;
      const content = isContent ? reader.bytes() : undefined;
      if (!isContent) reader.skipType(tag & 7);
      fields.push({ number, content, start, end: reader.pos });
    }
  } catch {
    return { fields, isBroken: true, brokenAt: number };
  }
  return { fields, isBroken: false, brokenAt: 0 };
}

function readResource(resource: unknown, form: OtlpForm, isKept: (name: string) => boolean): Resource {
  if (resource === undefined || resource === null) return { attributes: new Map() };
  try {
    const record = form === 'json' ? resource : recordOf(types.resource, resource);
    if (!isRecord(record)) throw new UnreadableMember('resource');
    readMember('protobuf', () => requireWhole(record));
    const name = form === 'json' ? 'resource.attributes' : 'attributes';
    return { attributes: readMember(name, () => readAttributes(record.attributes, isKept)) };
  } catch (error) {
    return { attributes: new Map(), fault: `resource: ${reasonOf(error)}` };
  }
}

/** A member of a span or resource that cannot be read. */
class UnreadableMember extends Error {}

function readMember<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OtlpError)) throw error;
    throw new UnreadableMember(error.attribute === undefined ? name : `${name} ${nameInMessage(error.attribute)}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreadableMember) return `${error.message} kan niet gelezen worden`;
  throw error;
}

/** Stands for a part of protobuf that cannot be decoded: no reader accepts it. */
const UNREADABLE = Symbol('unreadable');

/** A message of protobuf with the members that JSON has; each part that cannot be decoded is `UNREADABLE`. */
function recordOf(type: protobuf.Type, message: unknown): Record<string, unknown> {
  if (!(message instanceof Uint8Array)) throw new OtlpError('a message was expected');
  const whole = decodedOrUndefined(type, message);
  if (whole !== undefined) return whole;
  const { fields, isBroken, brokenAt } = fieldsOf(message);
  const attributes: unknown[] = [];
  const record: Record<string, unknown> = {};
  for (const field of fields) {
    const name = type.fieldsById[field.number]?.name;
    if (name === undefined) continue;
    const part = decodedOrUndefined(type, message.subarray(field.start, field.end));
    if (name !== 'attributes') record[name] = part === undefined ? UNREADABLE : part[name];
    else if (part !== undefined) attributes.push(...readList(part.attributes));
    else {
      const key = keyOf(field);
      if (key === undefined) record.attributes = UNREADABLE;
      else attributes.push({ key, value: UNREADABLE });
    }
  }
  if (isBroken) record[type.fieldsById[brokenAt]?.name ?? 'protobuf'] = UNREADABLE;
  return { attributes, ...record };
}

function decodedOrUndefined(type: protobuf.Type, message: Uint8Array): Record<string, unknown> | undefined {
  try {
    return decode(type, message);
  } catch (error) {
    if (error instanceof OtlpError) return undefined;
    throw error;
  }
}

/** @throws {OtlpError} when the end of a message of protobuf cannot be read */
function requireWhole(record: Readonly<Record<string, unknown>>): void {
  if (record.protobuf === UNREADABLE) throw new OtlpError('the protobuf cannot be decoded');
}

/** The name of an attribute; empty when it is no text, and undefined when it cannot be found. */
function keyOf({ content }: Field): string | undefined {
  if (content === undefined) return undefined;
  const { fields, isBroken } = fieldsOf(content);
  const key = fields.findLast(({ number }) => number === 1)?.content;
  if (key === undefined) return isBroken ? undefined : '';
  try {
    return utf8.decode(key);
  } catch {
    return '';
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readSpan(span: unknown, { attributes, fault }: Resource, kept: KeptAttributes): Span | UnreadableSpan {
  if (!isRecord(span)) return { ...NO_IDS, reason: 'de regel is geen object' };
  let reason = fault;
  try {
    if (reason === undefined) return spanOf(span, attributes, kept);
  } catch (error) {
    reason = reasonOf(error);
  }
  const names = Array.isArray(span.attributes) ? span.attributes.map((item) => (isRecord(item) ? item.key : '')) : [];
  return {
    ...{ traceId: idOf(span.traceId), spanId: idOf(span.spanId) },
    isOther: Array.isArray(span.attributes) && !names.some(isOfLdv),
    reason,
  };
}

/** @throws {UnreadableMember} naming the first member that cannot be read */
function spanOf(span: Readonly<Record<string, unknown>>, resource: Attributes, kept: KeptAttributes): Span {
  const traceId = readMember('trace_id', () => readId(span.traceId));
  const spanId = readMember('span_id', () => readId(span.spanId));
  const parentSpanId = readMember('parent_span_id', () => readId(span.parentSpanId));
  const name = readMember('name', () => readText(span.name));
  const start = readMember('start_time', () => readInteger(span.startTimeUnixNano));
  const end = readMember('end_time', () => readInteger(span.endTimeUnixNano));
  const status = readMember('status', () => readStatus(span.status));
  const dropped = Number(readMember('dropped_attributes_count', () => readInteger(span.droppedAttributesCount)));
  const attributes = readMember('attributes', () => readAttributes(span.attributes, kept.ofSpan));
  readMember('protobuf', () => requireWhole(span));
  return {
    traceId,
    spanId,
    // Some senders write the absence of a parent as zeros.
    ...(/^(?:0{16})?$/.test(parentSpanId) ? {} : { parentSpanId }),
    name,
    start,
    end,
    status,
    resource,
    attributes,
    ...(dropped > 0 ? { droppedAttributes: dropped } : {}),
  };
}

function idOf(id: unknown): string {
  return typeof id === 'string' || id instanceof Uint8Array ? readId(id) : '';
}
