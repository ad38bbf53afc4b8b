/** The messages of OTLP over HTTP, in protobuf and JSON: reading and writing requests, answers and errors. */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { isRecord } from '../../lib/json/json-value.ts';
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
} from '../../verwerkingenlog/domain/ldv-span.ts';
import { hasTooManyParts } from './count-parts.ts';

export type OtlpForm = 'protobuf' | 'json';

export const MEDIA_TYPES: Readonly<Record<OtlpForm, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

const { root } = protobuf.parse(readFileSync(new URL('trace.proto', import.meta.url), 'utf8'));
const types = Object.fromEntries(
  (
    [
      'ExportTraceServiceRequest',
      'ResourceSpans',
      'ScopeSpans',
      'Span',
      'AnyValue',
      'ExportTraceServiceResponse',
      'Status',
    ] as const
  ).map((name) => [name, root.lookupType(`koppelvlak.otlp.${name}`)]),
);

/** A decoded message. @throws {OtlpError} */
function decode(type: string, bytes: unknown): Record<string, unknown> {
  if (!(bytes instanceof Uint8Array)) throw new OtlpError('a message was expected');
  const reader = protobuf.Reader.create(bytes);
  reader.discardUnknown = true;
  try {
    const message: unknown = types[type]?.decode(reader);
    // A copy has what was sent, without the defaults of the other members, which are on the prototype.
    if (isRecord(message)) return { ...message };
  } catch (cause) {
    throw new OtlpError('the protobuf cannot be decoded', { cause });
  }
  throw new OtlpError('the protobuf cannot be decoded');
}

function encode(type: string, message: object): Uint8Array {
  const messageType = types[type];
  if (messageType === undefined) throw new TypeError(`no message is called ${type}`);
  return messageType.encode(messageType.fromObject(message)).finish();
}

/** A request has more spans than are taken at once. */
export class TooManySpansError extends Error {}

/** A span that was not decoded yet, and its resource. */
interface RawSpan {
  readonly span: unknown;
  readonly resource: Attributes;
}

/**
 * The spans of an `ExportTraceServiceRequest`, decoded a few milliseconds at a time.
 * @throws {OtlpError} when the bytes are no such request
 * @throws {TooManySpansError} before any span is decoded, also when it has far too many other parts
 */
export async function decodeRequest(bytes: Uint8Array, form: OtlpForm, maxSpans: number): Promise<Span[]> {
  if (hasTooManyParts(bytes, form, maxSpans)) throw new TooManySpansError();
  const open = (type: string, part: unknown): Record<string, unknown> => {
    if (form === 'protobuf') return decode(type, part);
    if (!isRecord(part)) throw new OtlpError('an object was expected');
    return part;
  };
  const request = open('ExportTraceServiceRequest', form === 'json' ? parseRequest(bytes) : bytes);
  const raw: RawSpan[] = [];
  for (const resourceSpans of readList(request.resourceSpans)) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    const of = open('ResourceSpans', resourceSpans);
    const resource = readAttributes(isRecord(of.resource) ? of.resource.attributes : undefined);
    for (const scopeSpans of readList(of.scopeSpans)) {
      const spans = readList(open('ScopeSpans', scopeSpans).spans);
      if (raw.length + spans.length > maxSpans) throw new TooManySpansError();
      for (const span of spans) raw.push({ span, resource });
    }
  }
  const spans: Span[] = [];
  for (const { span, resource } of raw) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    spans.push(readSpan(open('Span', span), resource));
  }
  return spans;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Integers of 64 bits as numbers: a parser of JSON would round them. Only the name of a member is followed by a colon. */
const LONG_INTEGER = /("(?:intValue|startTimeUnixNano|endTimeUnixNano)"\s*:\s*)(-?\d{16,20})(?=[\s,}])/g;

function parseRequest(bytes: Uint8Array): unknown {
  return parseJson(bytes, (text) => text.replaceAll(LONG_INTEGER, '$1"$2"'));
}

function parseJson(bytes: Uint8Array, prepare = (text: string): string => text): unknown {
  try {
    return JSON.parse(prepare(utf8.decode(bytes)));
  } catch (cause) {
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

/** An `ExportTraceServiceRequest`; spans of one resource share it. */
export function encodeRequest(spans: readonly Span[], form: OtlpForm): Uint8Array {
  const text = form === 'protobuf' ? inUtf8 : undefined;
  const resources = new Map<string, { readonly attributes: object[]; readonly spans: Span[] }>();
  for (const span of spans) {
    const attributes = writeAttributes(span.resource, text);
    const key = JSON.stringify(attributes);
    const known = resources.get(key);
    if (known === undefined) resources.set(key, { attributes, spans: [span] });
    else known.spans.push(span);
  }
  const groups = [...resources.values()].map(({ attributes, spans: own }) => ({
    resource: { attributes },
    spans: own.map((span) => writeSpan(span, text)),
  }));
  if (form === 'json') {
    const resourceSpans = groups.map(({ resource, spans: own }) => ({ resource, scopeSpans: [{ spans: own }] }));
    return Buffer.from(JSON.stringify({ resourceSpans }));
  }
  const resourceSpans = groups.map(({ resource, spans: own }) => {
    const inBytes = own.map((span) =>
      encode('Span', {
        ...span,
        traceId: Buffer.from(span.traceId, 'hex'),
        spanId: Buffer.from(span.spanId, 'hex'),
        parentSpanId: Buffer.from(span.parentSpanId ?? '', 'hex'),
      }),
    );
    return encode('ResourceSpans', { resource, scopeSpans: [encode('ScopeSpans', { spans: inBytes })] });
  });
  return encode('ExportTraceServiceRequest', { resourceSpans });
}

/** A receiver refuses a whole request for one text that is not UTF-8, which half of a surrogate pair is not. */
function inUtf8(text: string): string {
  return text.toWellFormed();
}

function writeSpan(span: Span, text = (own: string): string => own) {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: text(span.name),
    startTimeUnixNano: String(span.start),
    endTimeUnixNano: String(span.end),
    attributes: writeAttributes(span.attributes, text),
    ...(span.droppedAttributes === undefined ? {} : { droppedAttributesCount: span.droppedAttributes }),
    status: { code: STATUSES.indexOf(span.status) },
  };
}

/** What an `ExportTraceServiceResponse` tells: which spans were refused, if any. */
export interface ExportResponse {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/** The empty answer, no bytes of protobuf, when nothing was refused. */
export function encodeResponse({ rejectedSpans, errorMessage }: ExportResponse, form: OtlpForm): Buffer {
  const isPartial = rejectedSpans > 0 || errorMessage !== '';
  const message = isPartial ? { partialSuccess: { rejectedSpans: String(rejectedSpans), errorMessage } } : {};
  if (form === 'json') return Buffer.from(JSON.stringify(message));
  return Buffer.from(encode('ExportTraceServiceResponse', message));
}

/** @throws {OtlpError} */
export function decodeResponse(bytes: Uint8Array, form: OtlpForm): ExportResponse {
  const message = form === 'json' ? parseJson(bytes) : decode('ExportTraceServiceResponse', bytes);
  const partial = isRecord(message) && isRecord(message.partialSuccess) ? message.partialSuccess : {};
  return {
    rejectedSpans: Number(readInteger(partial.rejectedSpans)),
    errorMessage: readText(partial.errorMessage),
  };
}

/** `google.rpc.Status`, without details. */
export interface RpcStatus {
  /** As `google.rpc.Code` numbers it. */
  readonly code: number;
  readonly message: string;
}

export function encodeStatus({ code, message }: RpcStatus, form: OtlpForm): Buffer {
  if (form === 'json') return Buffer.from(JSON.stringify({ code, message }));
  return Buffer.from(encode('Status', { code, message }));
}

/** @throws {OtlpError} */
export function decodeStatus(bytes: Uint8Array, form: OtlpForm): RpcStatus {
  const status = form === 'json' ? parseJson(bytes) : decode('Status', bytes);
  if (!isRecord(status)) throw new OtlpError('a status was expected');
  return { code: Number(readInteger(status.code)), message: readText(status.message) };
}
