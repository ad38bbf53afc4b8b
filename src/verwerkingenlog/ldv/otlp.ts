/** OTLP over HTTP: its forms, requests as they are sent, and answers and errors in both directions. */
import type protobuf from 'protobufjs';
import { isRecord } from '../../lib/json/json-value.ts';
import { JsonCounter, type UntrustedJsonCode, UntrustedJsonError } from '../../lib/json/parse-untrusted.ts';
import { Problem } from '../../lib/problem.ts';
import { OBJECT_MEMBERS } from '../../plugins/limits.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { types } from './protobuf.ts';
import { OtlpError, readInteger, readText, type Span, STATUSES, writeAttributes } from './span.ts';

export type OtlpForm = 'protobuf' | 'json';

export const MEDIA_TYPES: Readonly<Record<OtlpForm, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

export function tooManySpans(cause?: unknown): Problem {
  const detail = 'Het verzoek heeft te veel regels of onderdelen.';
  return new Problem(platformProblems.bodyTooLarge, { detail, cause });
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
export function parseJsonRequest(bytes: Uint8Array): unknown {
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
  const resourceSpans = [...byResource.values()].map((own) => ({
    resource: { attributes: writeAttributes(own[0]?.resource ?? new Map(), inUtf8) },
    scopeSpans: [{ spans: own.map(messageOf) }],
  }));
  return encode(types.request, { resourceSpans });
}

function messageOf(span: Span): object {
  return {
    traceId: Buffer.from(span.traceId, 'hex'),
    spanId: Buffer.from(span.spanId, 'hex'),
    parentSpanId: Buffer.from(span.parentSpanId ?? '', 'hex'),
    name: inUtf8(span.name),
    startTimeUnixNano: String(span.start),
    endTimeUnixNano: String(span.end),
    attributes: writeAttributes(span.attributes, inUtf8),
    droppedAttributesCount: span.droppedAttributes,
    status: { code: STATUSES.indexOf(span.status) },
  };
}

/** A receiver refuses a whole request for one text that is not UTF-8, such as half a surrogate pair. */
function inUtf8(text: string): string {
  return text.toWellFormed();
}

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

/** @throws {Error} when it is not one */
export function decodeResponse(bytes: Uint8Array): ExportResponse {
  const { partialSuccess } = decode(types.response, bytes);
  const partial = isRecord(partialSuccess) ? partialSuccess : {};
  return { rejectedSpans: Number(readInteger(partial.rejectedSpans)), errorMessage: readText(partial.errorMessage) };
}

export interface RpcStatus {
  readonly code: number;
  readonly message: string;
}

export function encodeStatus(status: RpcStatus, form: OtlpForm): Buffer {
  return write(types.status, status, form);
}

/** @throws {Error} when it is not one */
export function decodeStatus(bytes: Uint8Array): RpcStatus {
  const { code, message } = decode(types.status, bytes);
  return { code: Number(readInteger(code)), message: readText(message) };
}

function write(type: protobuf.Type, message: object, form: OtlpForm): Buffer {
  return Buffer.from(form === 'json' ? JSON.stringify(message) : encode(type, message));
}

function encode(type: protobuf.Type, message: object): Uint8Array {
  return type.encode(type.fromObject(message)).finish();
}

function decode(type: protobuf.Type, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return type.toObject(type.decode(bytes));
}
