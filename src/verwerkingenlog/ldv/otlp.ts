/** The messages of OTLP over HTTP, in protobuf and JSON: decoding and encoding requests, answers and errors. */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { isRecord } from '../../lib/json/json-value.ts';
import { JsonCounter, type UntrustedJsonCode, UntrustedJsonError } from '../../lib/json/parse-untrusted.ts';
import { Problem } from '../../lib/problem.ts';
import { OBJECT_MEMBERS } from '../../plugins/limits.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { OtlpError, readInteger, readText, type Span, STATUSES, writeAttributes } from './span.ts';

export type OtlpForm = 'protobuf' | 'json';

export const MEDIA_TYPES: Readonly<Record<OtlpForm, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** Items of lists for each span of a request; most are attributes. */
const PARTS_PER_SPAN = 10;
/** A request of few spans may have this many nevertheless. */
const LEAST_PARTS = 100_000;
/** How many protobuf fields, known or not, each item may have. */
const FIELDS_PER_PART = 8;

const { root } = protobuf.parse(readFileSync(new URL('trace.proto', import.meta.url), 'utf8'));
const typeOf = (name: string): protobuf.Type => root.lookupType(`koppelvlak.otlp.${name}`);
export const types = {
  request: typeOf('ExportTraceServiceRequest'),
  resourceSpans: typeOf('ResourceSpans'),
  resource: typeOf('Resource'),
  scopeSpans: typeOf('ScopeSpans'),
  span: typeOf('Span'),
  response: typeOf('ExportTraceServiceResponse'),
  status: typeOf('Status'),
};

/** A decoded message. @throws {OtlpError} */
export function decode(type: protobuf.Type, bytes: unknown): Record<string, unknown> {
  if (!(bytes instanceof Uint8Array)) throw new OtlpError('a message was expected');
  const reader = protobuf.Reader.create(bytes);
  reader.discardUnknown = true;
  try {
    const message: unknown = type.decode(reader);
    // A copy has only the members that were sent; the defaults of the others are on the prototype.
    return { ...Object(message) };
  } catch (cause) {
    throw new OtlpError('the protobuf cannot be decoded', { cause });
  }
}

function encode(type: protobuf.Type, message: object): Uint8Array {
  return type.encode(type.fromObject(message)).finish();
}

/** A request has more spans, or other parts, than are accepted at once. */
export function tooManySpans(cause?: unknown): Problem {
  return new Problem(platformProblems.bodyTooLarge, {
    detail: 'Het verzoek heeft te veel regels of onderdelen.',
    cause,
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Integers of 64 bits as numbers, which a parser of JSON would round. Only the name of a member is followed by a colon. */
const LONG_INTEGER = /("(?:intValue|startTimeUnixNano|endTimeUnixNano)"\s*:\s*)(-?\d{16,20})(?=[\s,}])/g;

/** Sixteen megabytes of short attributes have 600 000 objects and lists. */
const JSON_LIMITS = {
  depth: 100_000,
  containers: 700_000,
  members: 1_500_000,
  objectMembers: OBJECT_MEMBERS,
  values: 3_000_000,
};

/** No real request has these, however many spans it has. */
const ODD_SHAPES: readonly UntrustedJsonCode[] = ['too-deep', 'too-many-object-members'];

/** @throws {OtlpError} {Problem} */
export function parseRequest(bytes: Uint8Array): unknown {
  try {
    new JsonCounter({ bytes: bytes.length, ...JSON_LIMITS }).feed(bytes);
    return JSON.parse(utf8.decode(bytes).replaceAll(LONG_INTEGER, '$1"$2"'));
  } catch (cause) {
    if (cause instanceof UntrustedJsonError && !ODD_SHAPES.includes(cause.code)) throw tooManySpans(cause);
    throw new OtlpError('the JSON cannot be read', { cause });
  }
}

/** An `ExportTraceServiceRequest` in protobuf; spans of one resource share it. */
export function encodeRequest(spans: readonly Span[]): Uint8Array {
  const byResource = Map.groupBy(spans, ({ resource }) => JSON.stringify(writeAttributes(resource)));
  const resourceSpans = [...byResource.values()].map((own) => {
    const attributes = writeAttributes(own[0]?.resource ?? new Map(), inUtf8);
    const scopeSpans = encode(types.scopeSpans, { spans: own.map(encodeSpan) });
    return encode(types.resourceSpans, { resource: encode(types.resource, { attributes }), scopeSpans: [scopeSpans] });
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

/** A receiver refuses a whole request for one text that is not UTF-8, such as half a surrogate pair. */
function inUtf8(text: string): string {
  return text.toWellFormed();
}

/** The contents of an `ExportTraceServiceResponse`: which spans were refused, if any. */
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
 * Whether a request has far more items than its spans need, counted on its bytes before it is decoded: an empty message is two bytes, and a hundred
 * as an object, so sixteen megabytes of them would take more memory than the process has.
 */
export function hasTooManyParts(bytes: Uint8Array, maxSpans: number): boolean {
  return hasMoreItems(bytes, Math.max(LEAST_PARTS, maxSpans * PARTS_PER_SPAN));
}

/** The fields of a message that are messages, by number; `isList` when there may be many. @see trace.proto */
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
  /** Messages that were entered, and where they end. Not recursive, because the sender chooses the depth. */
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
    // Truncated or not protobuf: decoding reports it.
  }
  return false;
}
