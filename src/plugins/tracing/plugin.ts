/**
 * Tracing with OpenTelemetry, for operators: each request of the public listener as a trace, down to its SQL statements. It has nothing to do with LDV, whose lines are spans too: those are entries of the processing log.
 * @see docs/decisions/0010-traces-hold-what-is-listed.md
 */
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

/** Everything that a span may say. None of it comes from a client, except for the method, which is one that a route has. */
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
/** Longest attribute in characters: a statement may be longer. */
const MAX_ATTRIBUTE_LENGTH = 4096;
/** Spans that wait to be sent; others are dropped. Each holds some kilobytes at most. */
const MAX_WAITING = 2048;
const EXPORT_TIMEOUT_MS = 2000;
/** Failures to send are logged once in this time. */
const COMPLAINT_MS = 60_000;

/**
 * Traces every request; registered before anything that has hooks (`isOutermost`).
 * @throws {Error} when this process is traced already: OpenTelemetry has one context per process
 */
export const tracing = fp(traceRequests, { name: 'tracing', dependencies: ['service'] });

async function traceRequests(app: FastifyInstance): Promise<void> {
  const { log } = app;
  const contexts = new AsyncLocalStorageContextManager().enable();
  if (!context.setGlobalContextManager(contexts)) throw new Error('this process is traced already');
  propagation.setGlobalPropagator(incomingTrace);
  const complain = complainer(log);
  const ignore = (): void => undefined;
  // What the collector said is left out.
  diag.setLogger({ error: complain, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
  const exporter = new OTLPTraceExporter({
    url: `${app.settings.tracing.endpoint}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'koppelvlak' }),
    // Whatever the caller's flag says; a collector samples better, as it sees how each trace ended.
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
  // Sends what is left, as long as one export may take, and undoes what was changed in the process.
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

/** The trace that a request names joins as for logs and entries; what `tracestate` says goes into no span. */
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

/** The span of a request gets the name of its route, and its identity is the one in log lines and own entries. */
function nameRequest(span: ReturnType<typeof trace.wrapSpanContext>, request: FastifyRequest): void {
  span.updateName(`${request.method} ${request.routeOptions.url ?? 'unknown'}`);
  const { traceId, spanId } = span.spanContext();
  request.traceContext = { ...traceOf(request), traceId, spanId };
}

/**
 * Patches the driver itself: it is loaded long before this, through ECMAScript modules, which the usual hooks of OpenTelemetry on loading do
 * not see. Only statements of a request become spans.
 * @returns what takes the patch away
 */
function traceStatements(provider: TracerProvider): () => void {
  const statements = new PgInstrumentation({ enabled: false, requireParentSpan: true, ignoreConnectSpans: true });
  statements.setTracerProvider(provider);
  const driver = statements.getModuleDefinitions().find(({ name }) => name === 'pg');
  if (driver?.patch === undefined) throw new Error('the instrumentation of pg has no patch for it');
  driver.patch(pg, undefined);
  return () => void driver.unpatch?.(pg, undefined);
}

/** Passes on of each span what is listed: attributes, and no events, links, messages of errors or `tracestate`. */
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
    ...{ name, kind, startTime, endTime, duration, ended, resource, instrumentationScope, attributes },
    ...(parentSpanContext === undefined ? {} : { parentSpanContext }),
    spanContext: () => ({ traceId, spanId, traceFlags }),
    // A request that was refused is the client's fault, and no error of the service (semantic conventions for HTTP).
    status: { code: isRefused ? SpanStatusCode.UNSET : span.status.code },
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** OpenTelemetry reports to its own log only that spans were not taken. */
function complainer(log: Logger): () => void {
  let complained = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - complained < COMPLAINT_MS) return;
    complained = performance.now();
    log.warn('spans were not taken by TRACING_ENDPOINT');
  };
}
