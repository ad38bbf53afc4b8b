/**
 * OTLP as a client speaks it, by the published field numbers: requests in both encodings, and the contents of answers.
 */
import protobuf from 'protobufjs';
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import type { Exchange } from '../exchange.ts';

/** The parts of opentelemetry-proto 1.11 and `google.rpc.Status` that the cases use. */
const PROTO = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; SpanStatus status = 15; string unknown_field = 999;
}
message SpanStatus { int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; } }
message ExportTraceServiceResponse { PartialSuccess partial_success = 1; }
message PartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
message Status { int32 code = 1; string message = 2; }`;
const { root } = protobuf.parse(PROTO);

export const MEDIA_TYPES = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
} as const;
export type Form = keyof typeof MEDIA_TYPES;
const IDS = ['traceId', 'spanId', 'parentSpanId'];

export function requestOf(lines: readonly JsonObject[], form: Form): Buffer {
  const whole = (spans: readonly unknown[]): JsonObject => ({
    resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ spans }] }],
  });
  if (form === 'json') return Buffer.from(JSON.stringify(whole(lines)));
  const inBytes = (name: string, value: unknown) => (IDS.includes(name) ? Buffer.from(String(value), 'hex') : value);
  const spans = lines.map((line) =>
    Object.fromEntries(Object.entries(line).map(([name, value]) => [name, inBytes(name, value)])),
  );
  const type = root.lookupType('ExportTraceServiceRequest');
  return Buffer.from(type.encode(type.fromObject(whole(spans))).finish());
}

export const text = (key: string, stringValue: string): JsonObject => ({ key, value: { stringValue } });
const RESOURCE = { attributes: [text('service.name', 'Conformancetest'), text('service.version', '1')] };

/** Contents of an answer: the number of refused lines in a success, the message in an error. */
export interface Said {
  /** Undefined: `partial_success` is not set. */
  readonly rejected?: number;
  readonly message: string;
}

/** Members of `google.rpc.Status`, none of which is required. */
const STATUS = ['code', 'message', 'details'];

/** @returns undefined when the body is not the message for that status */
export function saidIn({ status, headers, body, json }: Exchange): Said | undefined {
  const isProtobuf = headers['content-type']?.startsWith(MEDIA_TYPES.protobuf) === true;
  const message = isProtobuf ? decoded(status < 300 ? 'ExportTraceServiceResponse' : 'Status', body) : json;
  if (!isRecord(message)) return undefined;
  if (status >= 300)
    return Object.keys(message).every((name) => STATUS.includes(name))
      ? { message: String(message.message ?? '') }
      : undefined;
  const { partialSuccess } = message;
  if (!isRecord(partialSuccess)) return { message: '' };
  return { rejected: Number(partialSuccess.rejectedSpans ?? 0), message: String(partialSuccess.errorMessage ?? '') };
}

function decoded(name: string, body: Buffer): unknown {
  const type = root.lookupType(name);
  try {
    return type.toObject(type.decode(body), { longs: String });
  } catch {
    return undefined;
  }
}
