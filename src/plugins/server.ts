/** The public server, and what it gives each interface that is mounted on it: limits, version header, errors, contract, metrics, log lines. */
import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { Histogram, type Registry } from 'prom-client';
import type { Platform } from '../platform.ts';
import { checkAnnouncedBody, limitBodies, limitUnreadAnswers, strictJsonBody } from './bodies.ts';
import { MAX_PARAM_LENGTH, methodNotAllowed, requireAccessPolicy } from './contract.ts';
import { beginExchanges } from './exchange.ts';
import { checkRequestHead, cutTarget, SECURITY_HEADERS, traceIdsOf } from './headers.ts';
import { createRateCounter, limitRate, shedLoad } from './limits.ts';
import type { OpenapiDocument } from './openapi-document.ts';
import { operations } from './operations.ts';
import { apiDocs, problemPages } from './pages.ts';
import { handleProblems, type ProblemStyle, refuseUnreadable, sendProblem } from './problem-reply.ts';
import { securityTxt } from './security-txt.ts';

/**
 * Builds the public server: the Fastify options and what all parts share. The parts are registered on it; it does not listen yet.
 * @param instrument called before anything is registered
 */
export async function buildServer(
  platform: Platform,
  instrument?: (app: FastifyInstance) => Promise<void>,
): Promise<FastifyInstance> {
  const { server } = platform.config;
  const loggerInstance: FastifyBaseLogger = platform.log;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: server.bodyLimitBytes,
    http: {
      maxHeaderSize: server.headerLimitBytes,
      // Node would refuse with an empty body; `requireHost` answers with a problem document.
      requireHostHeader: false,
      // Node swaps the two when the time for the head exceeds that for the whole request.
      headersTimeout: Math.min(60_000, server.requestTimeoutMs),
      // How often Node checks for late requests; by default only every 30 seconds.
      connectionsCheckingInterval: Math.min(5000, server.requestTimeoutMs),
    },
    // The whole request must have arrived by then.
    requestTimeout: server.requestTimeoutMs,
    // An idle connection is cut: its client does not read the answer. A handler may be silent for half this time.
    connectionTimeout: 2 * server.requestTimeoutMs,
    // Longer than an FSC Inway keeps an idle connection (90 s), so that it never reuses a closed one.
    keepAliveTimeout: 100_000,
    trustProxy: trusted(server.trustProxy),
    rewriteUrl: ({ url = '/' }) => cutTarget(url),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    return503OnClosing: false,
    clientErrorHandler: refuseUnreadable(platform.publicBaseUrl),
    frameworkErrors: (error, request, reply) => {
      reply.headers(SECURITY_HEADERS);
      sendProblem(error, request, reply, platform.publicBaseUrl);
    },
  });
  await instrument?.(app);
  await app.register(operations);
  app.decorateRequest('caller');
  app.decorateRequest('tokenRefusal');
  app.decorateRequest('rateCounter');
  app.decorateRequest('traceContext');
  methodNotAllowed(app);
  requireAccessPolicy(app);
  beginExchanges(app, { deadlineMs: server.requestTimeoutMs, publicBaseUrl: platform.publicBaseUrl });
  await shedLoad(app, server.overloadEventLoopDelayMs);
  measureRequests(app, platform.metrics);
  strictJsonBody(app);
  handleProblems(app, platform.publicBaseUrl).refuseEarly();
  problemPages(app);
  securityTxt(app, platform);
  return app;
}

/** A number trusts that many proxies in front. */
function trusted(proxies: false | number | string[]): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : proxies;
}

interface MountOptions {
  readonly platform: Platform;
  readonly prefix: string;
  readonly contract: { readonly document: OpenapiDocument };
  /** Requests per minute per client; 0 is no limit. */
  readonly rateLimit: number;
  /** Its answers hold personal data: no proxy may write them to disk. */
  readonly isPersonal?: boolean;
  /** Bytes of bodies in work at once; absent: as configured for every mount. */
  readonly bodiesInProgressBytes?: number;
  readonly problemStyle?: ProblemStyle;
  readonly routes: (app: FastifyInstance) => void | Promise<void>;
}

/** Mounts routes below a prefix, with what every mount has: limits, version header, errors in its own shape, its contract and pages. */
export async function mount(server: FastifyInstance, options: MountOptions): Promise<void> {
  const { platform, prefix, contract, rateLimit } = options;
  const counter = createRateCounter(rateLimit);
  await server.register(
    async (app) => {
      const { version } = contract.document.info;
      const settings = platform.config.server;
      const { refuseEarly } = handleProblems(app, platform.publicBaseUrl, options.problemStyle);
      app.addHook('onRequest', (request, reply, done) => {
        // The full version of the interface (API Design Rules, /core/version-header); before anything that can refuse.
        reply.header('api-version', version);
        // A proxy that buffers an answer may write it to disk, and hides whether the client has read it.
        if (options.isPersonal === true) reply.header('x-accel-buffering', 'no');
        checkRequestHead(request.raw);
        limitRate(request, reply, counter);
        checkAnnouncedBody(request);
        done();
      });
      limitBodies(app, options.bodiesInProgressBytes ?? settings.bodiesInProgressBytes);
      limitUnreadAnswers(app, settings.unreadAnswersBytes);
      await options.routes(app);
      refuseEarly();
      await apiDocs(app, contract.document, mountAddress(platform, prefix));
    },
    { prefix },
  );
}

/** Address of a mount as clients see it, without a trailing slash. With port 0 it is known only after listening. */
export function mountAddress({ publicBaseUrl }: Pick<Platform, 'publicBaseUrl'>, prefix: string): () => string {
  return () => `${publicBaseUrl()}${prefix}`;
}

/** Measures every answer by route pattern, never by address, which may contain a personal identifier. */
function measureRequests(app: FastifyInstance, metrics: Registry): void {
  const durations = new Histogram({
    name: 'koppelvlak_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [metrics],
  });
  // Cached by combination, because resolving labels costs more than counting; there are few combinations.
  const observers = new Map<string, ReturnType<typeof durations.labels>>();
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = routeOf(request);
    const key = `${method} ${route} ${reply.statusCode}`;
    let observer = observers.get(key);
    if (observer === undefined) {
      observer = durations.labels({ method, route, status: reply.statusCode });
      observers.set(key, observer);
    }
    observer.observe(reply.elapsedTime / 1000);
    done();
  });
}

/**
 * Logs each exchange of a scope: who called which route with which result, never the address or the query. An exchange that the client
 * broke off is logged too, because it may have read part of the answer.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    request.onClosed(() => {
      const { caller, tokenRefusal } = request;
      request.log.info(
        {
          method: request.method,
          route: routeOf(request),
          ...(reply.raw.headersSent ? { status: reply.raw.statusCode } : {}),
          ms: Math.round(reply.elapsedTime * 10) / 10,
          ...(caller === undefined ? {} : { caller: caller.subject, tokenKind: caller.kind }),
          ...(tokenRefusal === undefined ? {} : { tokenRefusal }),
          ...traceIdsOf(request),
          ...fscTransaction(request),
        },
        reply.raw.writableFinished ? 'answered' : 'broken off',
      );
    });
    done();
  });
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

/** The `Fsc-Transaction-Id` of a request, if it is well-formed. */
export function fscTransaction(request: FastifyRequest): { fscTransactionId?: string } {
  const id = request.headers['fsc-transaction-id'];
  return typeof id === 'string' && /^[0-9a-fA-F-]{1,64}$/.test(id) ? { fscTransactionId: id } : {};
}
