/** The messages of OTLP over HTTP, in protobuf and JSON: reading and writing requests, answers and errors. */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { isRecord } from '../../lib/json/json-value.ts';
import { JsonCounter, UntrustedJsonError } from '../../lib/json/parse-untrusted.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import {
  type Attributes,
  OtlpError,
  readAttributes,
  readId,
  readInteger,
  readList,
  readText,
  type Span,
  STATUSES,
  writeAttributes,
} from './span.ts';

export type OtlpForm = 'protobuf' | 'json';

export const MEDIA_TYPES: Readonly<Record<OtlpForm, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** Items of lists for each span that a request may have; most are attributes. */
const PARTS_PER_SPAN = 10;
/** A request of few spans may have so many all the same. */
const LEAST_PARTS = 100_000;
/** How many protobuf fields, known or not, each item may have. */
const FIELDS_PER_PART = 8;

const { root } = protobuf.parse(readFileSync(new URL('trace.proto', import.meta.url), 'utf8'));
const typeOf = (name: string): protobuf.Type => root.lookupType(`koppelvlak.otlp.${name}`);
const types = {
  request: typeOf('ExportTraceServiceRequest'),
  resourceSpans: typeOf('ResourceSpans'),
  scopeSpans: typeOf('ScopeSpans'),
  span: typeOf('Span'),
  response: typeOf('ExportTraceServiceResponse'),
  status: typeOf('Status'),
};

/** A decoded message. @throws {OtlpError} */
function decode(type: protobuf.Type, bytes: unknown): Record<string, unknown> {
  if (!(bytes instanceof Uint8Array)) throw new OtlpError('a message was expected');
  const reader = protobuf.Reader.create(bytes);
  reader.discardUnknown = true;
  try {
    const message: unknown = type.decode(reader);
    // A copy has what was sent, without the defaults of the other members, which are on the prototype.
    return { ...Object(message) };
  } catch (cause) {
    throw new OtlpError('the protobuf cannot be decoded', { cause });
  }
}

function encode(type: protobuf.Type, message: object): Uint8Array {
  return type.encode(type.fromObject(message)).finish();
}

/** A request has more spans than are taken at once. */
export class TooManySpansError extends Error {}

/**
 * The spans of an `ExportTraceServiceRequest`, decoded a few milliseconds at a time.
 * @throws {OtlpError} when the bytes are not such a request
 * @throws {TooManySpansError} before any span is decoded, also when it has far too many other parts
 */
export async function decodeRequest(bytes: Uint8Array, form: OtlpForm, maxSpans: number): Promise<Span[]> {
  if (form === 'protobuf' && hasTooManyParts(bytes, maxSpans)) throw new TooManySpansError();
  const open = (type: protobuf.Type, part: unknown): Record<string, unknown> => {
    if (form === 'protobuf') return decode(type, part);
    if (!isRecord(part)) throw new OtlpError('an object was expected');
    return part;
  };
  const request = open(types.request, form === 'json' ? parseRequest(bytes) : bytes);
  const raw: { readonly span: unknown; readonly resource: Attributes }[] = [];
  for (const resourceSpans of readList(request.resourceSpans)) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    const of = open(types.resourceSpans, resourceSpans);
    const resource = readAttributes(isRecord(of.resource) ? of.resource.attributes : undefined);
    for (const scopeSpans of readList(of.scopeSpans)) {
      const spans = readList(open(types.scopeSpans, scopeSpans).spans);
      if (raw.length + spans.length > maxSpans) throw new TooManySpansError();
      for (const span of spans) raw.push({ span, resource });
    }
  }
  const spans: Span[] = [];
  for (const { span, resource } of raw) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    spans.push(readSpan(open(types.span, span), resource));
  }
  return spans;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Integers of 64 bits as numbers: a parser of JSON would round them. Only the name of a member is followed by a colon. */
const LONG_INTEGER = /("(?:intValue|startTimeUnixNano|endTimeUnixNano)"\s*:\s*)(-?\d{16,20})(?=[\s,}])/g;

/** Sixteen megabytes have 600 000 objects and lists where all of it is short attributes. */
const JSON_LIMITS = { containers: 700_000, members: 1_500_000, values: 3_000_000 };

/** @throws {OtlpError} {TooManySpansError} */
function parseRequest(bytes: Uint8Array): unknown {
  try {
    new JsonCounter({ bytes: bytes.length, ...JSON_LIMITS }).feed(bytes);
    return JSON.parse(utf8.decode(bytes).replaceAll(LONG_INTEGER, '$1"$2"'));
  } catch (cause) {
    if (cause instanceof UntrustedJsonError && cause.code !== 'too-deep')
      throw new TooManySpansError(undefined, { cause });
    throw new OtlpError('the JSON cannot be read', { cause });
  }
}

function readSpan(span: Record<string, unknown>, resource: Attributes): Span {
  const parentSpanId = readId(span.parentSpanId);
  const dropped = Number(readInteger(span.droppedAttributesCount));
  const status = readInteger(isRecord(span.status) ? span.status.code : undefined);
  return {
    traceId: readId(span.traceId),
    spanId: readId(span.spanId),
    // Some senders write the absence of a parent as zeros.
    ...(/^(?:0{16})?$/.test(parentSpanId) ? {} : { parentSpanId }),
    name: readText(span.name),
    start: readInteger(span.startTimeUnixNano),
    end: readInteger(span.endTimeUnixNano),
    status: STATUSES[Number(status)] ?? 'Unset',
    resource,
    attributes: readAttributes(span.attributes),
    ...(dropped > 0 ? { droppedAttributes: dropped } : {}),
  };
}

/** An `ExportTraceServiceRequest` in protobuf; spans of one resource share it. */
export function encodeRequest(spans: readonly Span[]): Uint8Array {
  const byResource = Map.groupBy(spans, ({ resource }) => JSON.stringify(writeAttributes(resource)));
  const resourceSpans = [...byResource.values()].map((own) => {
    const attributes = writeAttributes(own[0]?.resource ?? new Map(), inUtf8);
    const scopeSpans = encode(types.scopeSpans, { spans: own.map(encodeSpan) });
    return encode(types.resourceSpans, { resource: { attributes }, scopeSpans: [scopeSpans] });
  });
  return encode(types.request, { resourceSpans });
}

function encodeSpan(span: Span): Uint8Array {
  return encode(types.span, {
    traceId: Buffer.from(span.traceId, 'hex'),
    spanId: Buffer.from(span.spanId, 'hex'),
    parentSpanId: Buffer.from(span.parentSpanId ?? '', 'hex'),
    name: inUtf8(span.name),
    startTimeUnixNano: String(span.start),
    endTimeUnixNano: String(span.end),
    attributes: writeAttributes(span.attributes, inUtf8),
    ...(span.droppedAttributes === undefined ? {} : { droppedAttributesCount: span.droppedAttributes }),
    status: { code: STATUSES.indexOf(span.status) },
  });
}

/** A receiver refuses a whole request for one text that is not UTF-8, which half of a surrogate pair is not. */
function inUtf8(text: string): string {
  return text.toWellFormed();
}

/** What an `ExportTraceServiceResponse` says: which spans were refused, if any. */
export interface ExportResponse {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/** The empty answer, no bytes of protobuf, when nothing was refused. */
export function encodeResponse({ rejectedSpans, errorMessage }: ExportResponse, form: OtlpForm): Buffer {
  const isPartial = rejectedSpans > 0 || errorMessage !== '';
  const message = isPartial ? { partialSuccess: { rejectedSpans: String(rejectedSpans), errorMessage } } : {};
  return write(types.response, message, form);
}

/** @throws {OtlpError} */
export function decodeResponse(bytes: Uint8Array): ExportResponse {
  const { partialSuccess } = decode(types.response, bytes);
  const partial = isRecord(partialSuccess) ? partialSuccess : {};
  return { rejectedSpans: Number(readInteger(partial.rejectedSpans)), errorMessage: readText(partial.errorMessage) };
}

/** `google.rpc.Status`, without details. */
export interface RpcStatus {
  /** As `google.rpc.Code` numbers it. */
  readonly code: number;
  readonly message: string;
}

export function encodeStatus({ code, message }: RpcStatus, form: OtlpForm): Buffer {
  return write(types.status, { code, message }, form);
}

/** @throws {OtlpError} */
export function decodeStatus(bytes: Uint8Array): RpcStatus {
  const { code, message } = decode(types.status, bytes);
  return { code: Number(readInteger(code)), message: readText(message) };
}

function write(type: protobuf.Type, message: object, form: OtlpForm): Buffer {
  return Buffer.from(form === 'json' ? JSON.stringify(message) : encode(type, message));
}

/**
 * Whether a request has far more items than its spans need, counted on its bytes before it is decoded: an empty message is two bytes, and a
 * hundred as an object, so sixteen megabytes of them would take more memory than the process has.
 */
function hasTooManyParts(bytes: Uint8Array, maxSpans: number): boolean {
  return hasMoreItems(bytes, Math.max(LEAST_PARTS, maxSpans * PARTS_PER_SPAN));
}

/** What is inside the fields of a message, by their numbers; `isList` when there may be many. @see trace.proto */
interface Shape {
  readonly [field: number]: { readonly shape: Shape; readonly isList: boolean };
}

const list = (shape: Shape) => ({ shape, isList: true });
const one = (shape: Shape) => ({ shape, isList: false });
// AnyValue has lists of AnyValue and of KeyValue, which has an AnyValue.
const anyValue: { [field: number]: { shape: Shape; isList: boolean } } = {};
const keyValue: Shape = { 2: one(anyValue) };
anyValue[5] = one({ 1: list(anyValue) });
anyValue[6] = one({ 1: list(keyValue) });
const REQUEST: Shape = {
  1: list({ 1: one({ 1: list(keyValue) }), 2: list({ 2: list({ 9: list(keyValue) }) }) }),
};

const BYTES = 2;

function hasMoreItems(bytes: Uint8Array, most: number): boolean {
  const reader = protobuf.Reader.create(bytes);
  let [items, fields] = [0, 0];
  /** Messages that were entered, and where they end: not by recursion, because the sender chooses how deep they are. */
  const open: { readonly shape: Shape; readonly end: number }[] = [{ shape: REQUEST, end: reader.len }];
  try {
    for (let message = open.at(-1); message !== undefined; message = open.at(-1)) {
      if (reader.pos >= message.end) {
        open.pop();
        continue;
      }
      const tag = reader.uint32();
      fields += 1;
      const inner = (tag & 7) === BYTES ? message.shape[tag >>> 3] : undefined;
      if (inner === undefined) reader.skipType(tag & 7);
      else {
        const length = reader.uint32();
        open.push({ shape: inner.shape, end: reader.pos + length });
        if (inner.isList) items += 1;
      }
      if (items > most || fields > most * FIELDS_PER_PART) return true;
    }
  } catch {
    // Cut off or not protobuf: decoding says so.
  }
  return false;
}
