/** Reads the spans of an `ExportTraceServiceRequest` one by one: an unreadable one is named, and the others are read. */
import type protobuf from 'protobufjs';
import { isRecord } from '../../lib/json/json-value.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { type OtlpForm, parseJsonRequest, tooManySpans } from './otlp.ts';
import { hasTooManyParts, readMembers, types } from './protobuf.ts';
import {
  type Attributes,
  isOfLdv,
  OtlpError,
  readAttributes,
  readId,
  readInteger,
  readStatus,
  readText,
  type Span,
  UNREADABLE,
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
  readonly others: readonly string[];
}

/**
 * The spans, decoded a few milliseconds at a time. @throws {OtlpError} when the bytes are not such a request
 * @throws {Problem} before any span is decoded, also when it has far too many other parts
 */
export async function readRequest(
  bytes: Uint8Array,
  form: OtlpForm,
  maxSpans: number,
  kept: KeptAttributes,
): Promise<ReadRequest> {
  if (form === 'protobuf' && hasTooManyParts(bytes, maxSpans)) throw tooManySpans();
  const raw: { readonly span: unknown; readonly resource: Attributes | string }[] = [];
  const unreadable: UnreadableSpan[] = [];
  const others = new Set<string>();

  const request = open(form === 'json' ? parseJsonRequest(bytes) : bytes, types.request, 'resourceSpans');
  if (request.isBroken) throw new OtlpError('the request cannot be decoded');
  for (const name of request.others) others.add(name);
  for (const [i, resourceSpans] of request.items.entries()) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    const of = open(resourceSpans, types.resourceSpans, 'scopeSpans');
    for (const name of of.others) others.add(`resourceSpans[].${name}`);
    if (of.isBroken) unreadable.push(unreadablePart(`resourceSpans[${i}]`));
    const resource = readResource(of.resource, kept.ofResource);
    for (const [j, scopeSpans] of of.items.entries()) {
      const scope = open(scopeSpans, types.scopeSpans, 'spans');
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
    const read = readSpan(span instanceof Uint8Array ? readMembers(types.span, span, 0) : span, resource, kept);
    if ('reason' in read) unreadable.push(read);
    else spans.push(read);
  }
  return { spans, unreadable, others: [...others] };
}

const NO_IDS = { traceId: '', spanId: '', isOther: false };

function unreadablePart(where: string): UnreadableSpan {
  return { ...NO_IDS, reason: `${where} kan niet gelezen worden` };
}

/**
 * A level of the request: its list, the resource, and names of members that OTLP lacks if there is no list; `isBroken` when part of it cannot be read.
 * @param part a message of protobuf, or what JSON has in its place
 */
function open(part: unknown, type: protobuf.Type, list: string) {
  const isMessage = part instanceof Uint8Array;
  const members = isMessage ? readMembers(type, part, 'outer') : part;
  if (!isRecord(members)) return { items: [], others: [], isBroken: true };
  const { [list]: items = null, protobuf: end, ...rest } = members;
  const isOther = (name: string): boolean => !Object.hasOwn(type.fields, name) && (rest[name] ?? null) !== null;
  const others = items === null ? Object.keys(rest).filter(isOther) : [];
  return {
    items: Array.isArray(items) ? items : [],
    resource: rest.resource,
    others: isMessage ? others : others.map(nameInMessage),
    isBroken: end === UNREADABLE || (items !== null && !Array.isArray(items)),
  };
}

/** A name that the sender chose, for an answer. One with six digits, however they are written, may be a number of a person. */
export function nameInMessage(name: string): string {
  return /^[\p{L}\p{N}_.-]{1,100}$/u.test(name) && !/(?:\p{N}\P{N}*){6}/u.test(name) ? name : '(een andere naam)';
}

class UnreadableMember extends Error {}

function readMember<T>(name: string, read: (value: unknown) => T, value: unknown): T {
  try {
    return read(value);
  } catch (error) {
    if (!(error instanceof OtlpError)) throw error;
    const member = error.attribute === undefined ? name : `${name} ${nameInMessage(error.attribute)}`;
    throw new UnreadableMember(`${member} kan niet gelezen worden`);
  }
}

function readOrReason<T extends object>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableMember) return error.message;
    throw error;
  }
}

/** @param end the member that stands for the unreadable end of a message of protobuf */
function requireWhole(end: unknown): void {
  if (end === UNREADABLE) throw new OtlpError('the protobuf cannot be decoded');
}

function readResource(resource: unknown, isKept: (name: string) => boolean): Attributes | string {
  if (resource === undefined || resource === null) return new Map();
  const isMessage = resource instanceof Uint8Array;
  const members = isMessage ? readMembers(types.resource, resource, 0) : resource;
  if (!isRecord(members)) return 'resource: resource kan niet gelezen worden';
  const read = readOrReason(() => {
    readMember('protobuf', requireWhole, members.protobuf);
    const name = isMessage ? 'attributes' : 'resource.attributes';
    return readMember(name, (list) => readAttributes(list, isKept), members.attributes);
  });
  return typeof read === 'string' ? `resource: ${read}` : read;
}

function readSpan(span: unknown, resource: Attributes | string, kept: KeptAttributes): Span | UnreadableSpan {
  if (!isRecord(span)) return { ...NO_IDS, reason: 'de regel is geen object' };
  const read = typeof resource === 'string' ? resource : readOrReason(() => spanOf(span, resource, kept));
  if (typeof read !== 'string') return read;
  const { attributes = [], protobuf: end } = span;
  const names = Array.isArray(attributes) ? attributes.map((item) => (isRecord(item) ? item.key : '')) : undefined;
  return {
    traceId: idOf(span.traceId),
    spanId: idOf(span.spanId),
    // A part that cannot be read may have an attribute of LDV.
    isOther: names !== undefined && !names.some(isOfLdv) && end !== UNREADABLE,
    reason: read,
  };
}

function spanOf(span: Readonly<Record<string, unknown>>, resource: Attributes, kept: KeptAttributes): Span {
  const parentSpanId = readMember('parent_span_id', readId, span.parentSpanId);
  const dropped = Number(readMember('dropped_attributes_count', readInteger, span.droppedAttributesCount));
  const read: Span = {
    traceId: readMember('trace_id', readId, span.traceId),
    spanId: readMember('span_id', readId, span.spanId),
    // Some senders write the absence of a parent as zeros.
    ...(/^(?:0{16})?$/.test(parentSpanId) ? {} : { parentSpanId }),
    name: readMember('name', readText, span.name),
    start: readMember('start_time', readInteger, span.startTimeUnixNano),
    end: readMember('end_time', readInteger, span.endTimeUnixNano),
    status: readMember('status', readStatus, span.status),
    resource,
    attributes: readMember('attributes', (list) => readAttributes(list, kept.ofSpan), span.attributes),
    ...(dropped > 0 ? { droppedAttributes: dropped } : {}),
  };
  readMember('protobuf', requireWhole, span.protobuf);
  return read;
}

function idOf(id: unknown): string {
  return typeof id === 'string' || id instanceof Uint8Array ? readId(id) : '';
}
