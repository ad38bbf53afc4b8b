/** OTLP requests and answers from a client's point of view, in both encodings. */

import { isRecord } from '../../../src/lib/json/json-value.ts';
import * as otlp from '../../../src/verwerkingenlog/ldv/otlp.ts';
import { type KeptAttributes, readRequest } from '../../../src/verwerkingenlog/ldv/request.ts';
import { type Span, STATUSES, writeAttributes } from '../../../src/verwerkingenlog/ldv/span.ts';

/** In JSON each span has its own resource. */
export function encodeRequest(spans: readonly Span[], form: otlp.OtlpForm): Uint8Array {
  if (form === 'protobuf') return otlp.encodeRequest(spans);
  const resourceSpans = spans.map((span) => ({
    resource: { attributes: writeAttributes(span.resource) },
    scopeSpans: [{ spans: [spanInJson(span)] }],
  }));
  return Buffer.from(JSON.stringify({ resourceSpans }));
}

function spanInJson(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    startTimeUnixNano: String(span.start),
    endTimeUnixNano: String(span.end),
    attributes: writeAttributes(span.attributes),
    ...(span.droppedAttributes === undefined ? {} : { droppedAttributesCount: span.droppedAttributes }),
    status: { code: STATUSES.indexOf(span.status) },
  };
}

const ALL: KeptAttributes = { ofSpan: () => true, ofResource: () => true };

/**
 * The spans of a request.
 * @throws {Error} when one cannot be read
 */
export async function decodeRequest(bytes: Uint8Array, form: otlp.OtlpForm, kept = ALL): Promise<readonly Span[]> {
  const { spans, unreadable } = await readRequest(bytes, form, 10_000_000, kept);
  if (unreadable[0] !== undefined) throw new Error(unreadable[0].reason);
  return spans;
}

export function decodeResponse(bytes: Uint8Array, form: otlp.OtlpForm): otlp.ExportResponse {
  if (form === 'protobuf') return otlp.decodeResponse(bytes);
  const json: unknown = JSON.parse(Buffer.from(bytes).toString());
  const partial = isRecord(json) && isRecord(json.partialSuccess) ? json.partialSuccess : {};
  return { rejectedSpans: Number(partial.rejectedSpans ?? 0), errorMessage: String(partial.errorMessage ?? '') };
}

export function decodeStatus(bytes: Uint8Array, form: otlp.OtlpForm): otlp.RpcStatus {
  if (form === 'protobuf') return otlp.decodeStatus(bytes);
  const json: unknown = JSON.parse(Buffer.from(bytes).toString());
  if (!isRecord(json)) throw new TypeError('a status was expected');
  return { code: Number(json.code), message: String(json.message) };
}
