/** Tracing for operators; the spans of LDV are entries of the processing log. @see docs/decisions/0010-traces-hold-what-is-listed.md */
import { FastifyOtelInstrumentation } from '@fastify/otel';
import {
  type Attributes,
  context,
  DiagLogLevel,
  diag,
  propagation,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import pg from 'pg';
import type { Logger } from '../../lib/log.ts';
import { readTraceContext } from '../../lib/trace-context.ts';
import { traceOf } from '../headers.ts';

/** The allowed attributes of a span. None comes from a client, except for the method, which is one of a route's. */
const ATTRIBUTES = new Set([
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'db.namespace',
  'db.postgresql.plan',
  'db.query.text',
  'db.system.name',
  'server.address',
  'server.port',
]);
const MAX_ATTRIBUTE_LENGTH = 4096;
/** Spans waiting to be sent; others are dropped. Each holds a few kilobytes at most. */
const MAX_WAITING = 2048;
const EXPORT_TIMEOUT_MS = 2000;
/** Failures to send are logged at most once in this time. */
const COMPLAINT_MS = 60_000;

/** Register it before anything that has hooks. @throws {Error} when this process is traced already: OpenTelemetry has one context per process */
export const tracing = fp(traceRequests, { name: 'tracing', dependencies: ['service'] });

async function traceRequests(app: FastifyInstance): Promise<void> {
  const { log } = app;
  const contexts = new AsyncLocalStorageContextManager().enable();
  if (!context.setGlobalContextManager(contexts)) throw new Error('this process is traced already');
  propagation.setGlobalPropagator(incomingTrace);
  const complain = complainer(log);
  const ignore = (): void => undefined;
  // The collector's own text is omitted.
  diag.setLogger({ error: complain, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
  const exporter = new OTLPTraceExporter({
    url: `${app.settings.tracing.endpoint}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'koppelvlak' }),
    // Regardless of the caller's flag; a collector samples better, because it sees how each trace ended.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH, eventCountLimit: 0, linkCountLimit: 0 },
    spanProcessors: [
      listedOnly(
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: MAX_WAITING,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        }),
      ),
    ],
  });
  const requests = new FastifyOtelInstrumentation({
    instrumentHooks: false,
    recordExceptions: false,
    requestHook: nameRequest,
  });
  requests.setTracerProvider(provider);
  const unpatch = traceStatements(provider);
  // Sends the remaining spans, for as long as one export may take, and undoes the changes in the process.
  app.addHook('onClose', async () => {
    unpatch();
    requests.disable();
    await provider.shutdown().catch(complain);
    propagation.disable();
    context.disable();
    diag.disable();
  });
  await app.register(requests.plugin());
}

/** A request's trace is joined as in logs and entries; `tracestate` goes into no span. */
const incomingTrace: TextMapPropagator<unknown> = {
  extract(active, carrier) {
    const { traceparent } = Object(carrier);
    const { traceId, parentSpanId } = readTraceContext(traceparent);
    if (parentSpanId === undefined) return active;
    return trace.setSpanContext(active, {
      traceId,
      spanId: parentSpanId,
      traceFlags: TraceFlags.NONE,
      isRemote: true,
    });
  },
  inject: () => undefined,
  fields: () => ['traceparent'],
};

/** The span of a request gets the name of its route, and the identity in log lines and own entries. */
function nameRequest(span: ReturnType<typeof trace.wrapSpanContext>, request: FastifyRequest): void {
  span.updateName(`${request.method} ${request.routeOptions.url ?? 'unknown'}`);
  const { traceId, spanId } = span.spanContext();
  request.traceContext = { ...traceOf(request), traceId, spanId };
}

/** Patches the driver itself, which is loaded long before this, and as ECMAScript modules. Only statements of a request become spans. */
function traceStatements(provider: TracerProvider): () => void {
  const statements = new PgInstrumentation({ enabled: false, requireParentSpan: true, ignoreConnectSpans: true });
  statements.setTracerProvider(provider);
  const driver = statements.getModuleDefinitions().find(({ name }) => name === 'pg');
  if (driver?.patch === undefined) throw new Error('the instrumentation of pg has no patch for it');
  driver.patch(pg, undefined);
  return () => void driver.unpatch?.(pg, undefined);
}

/** Passes on only listed parts of each span: attributes, and no events, links, messages of errors or `tracestate`. */
function listedOnly(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, parent) => next.onStart(span, parent),
    onEnd: (span) => next.onEnd(withListed(span)),
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}

function withListed(span: ReadableSpan): ReadableSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const { name, kind, startTime, endTime, duration, ended, resource, instrumentationScope, parentSpanContext } = span;
  const listed = Object.entries(span.attributes).filter(([key]) => ATTRIBUTES.has(key));
  const attributes: Attributes = Object.fromEntries(listed);
  const isRefused = kind === SpanKind.SERVER && Number(attributes['http.response.status_code']) < 500;
  return {
    name,
    kind,
    startTime,
    endTime,
    duration,
    ended,
    resource,
    instrumentationScope,
    attributes,
    ...(parentSpanContext === undefined ? {} : { parentSpanContext }),
    spanContext: () => ({ traceId, spanId, traceFlags }),
    // A refused request is the client's fault, and no error of the service (semantic conventions for HTTP).
    status: { code: isRefused ? SpanStatusCode.UNSET : span.status.code },
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** OpenTelemetry reports only to its own log that spans were not accepted. */
function complainer(log: Logger): () => void {
  let complained = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - complained < COMPLAINT_MS) return;
    complained = performance.now();
    log.warn('TRACING_ENDPOINT did not accept spans');
  };
}
