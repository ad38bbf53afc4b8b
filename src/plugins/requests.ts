/** The first hooks of every request: of the server (`requests`), of a prefix (`mountScope`), and of an interface (`mount`). */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Histogram } from 'prom-client';
import type { OpenapiDocument } from '../lib/openapi-document.ts';
import { Problem } from '../lib/problem.ts';
import { traceIds } from '../lib/trace-context.ts';
import {
  checkRequestHead,
  fscTransaction,
  namesHost,
  refuseNul,
  SECURITY_HEADERS,
  setOrigins,
  traceOf,
} from './headers.ts';
import {
  checkAnnouncedBody,
  countCall,
  createRateCounter,
  type LimitMount,
  limitBodies,
  limitUnreadAnswers,
} from './limits.ts';
import { describeInterface } from './pages.ts';
import { handleProblems, LateAnswerError, type ProblemStyle, sendProblem } from './problem-reply.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Calls back once when the exchange has ended, also by disconnecting, for which there is no `onResponse`; at once if it has ended already. */
    readonly onClosed: (callback: () => void) => void;
    /** The callbacks of `onClosed`; `undefined` before the first, `null` once the exchange has ended. */
    closedCallbacks: (() => void)[] | null | undefined;
  }
}

interface RequestsOptions {
  readonly requestTimeoutMs: number;
  /** Milliseconds that the event loop may lag before requests are refused; 0: no limit. */
  readonly overloadEventLoopDelayMs: number;
}

/**
 * Begins every request. Its deadline is a timer: Fastify's `handlerTimeout` creates a signal and an exception for every request, which more than
 * doubles the cost of a small one, and drops its timer once the body has been read.
 */
export const requests = fp(
  async (app: FastifyInstance, { requestTimeoutMs, overloadEventLoopDelayMs }: RequestsOptions) => {
    for (const member of ['caller', 'tokenRefusal', 'rateCounter', 'traceContext', 'handling'])
      app.decorateRequest(member);
    app.decorateRequest('closedCallbacks');
    app.decorateRequest('onClosed', function onClosed(this: FastifyRequest, callback: () => void): void {
      if (this.closedCallbacks === null) callback();
      else if (this.closedCallbacks === undefined) this.closedCallbacks = [callback];
      else this.closedCallbacks.push(callback);
    });
    const refuseUnknown = handleProblems(app);
    // By route pattern, never by address, which may contain a personal identifier.
    const durations = new Histogram({
      name: 'koppelvlak_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers: [app.metrics],
    });
    const isOverloaded = overloadEventLoopDelayMs === 0 ? () => false : watchEventLoop(app, overloadEventLoopDelayMs);
    app.addHook('onRequest', (request, reply, done) => {
      // Node keeps timers of equal duration in a list, so one for each request costs next to nothing.
      const timer = setTimeout(answerLate, requestTimeoutMs, reply);
      reply.raw.once('close', () => {
        clearTimeout(timer);
        if (reply.raw.writableFinished) {
          const { method, routeOptions } = request;
          const labels = { method, route: routeOptions.url ?? 'unknown', status: reply.statusCode };
          durations.observe(labels, reply.elapsedTime / 1000);
        }
        const callbacks = request.closedCallbacks;
        request.closedCallbacks = null;
        for (const callback of callbacks ?? []) callback();
      });
      reply.headers(SECURITY_HEADERS);
      if (!namesHost(request.raw)) {
        sendProblem(new Problem(platformProblems.invalidRequest, { detail: NO_HOST }), request, reply);
        return;
      }
      if (isOverloaded()) throw new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' } });
      if (request.is404 && request.server === app) refuseUnknown(request, reply);
      else done();
    });
  },
  { name: 'requests', dependencies: ['routes'], decorators: { fastify: ['metrics'] } },
);

const NO_HOST = 'Het verzoek moet eenmaal een kop `Host` hebben.';

function answerLate(reply: FastifyReply): void {
  // An answer that is being sent is limited by how fast it is read, not by this.
  if (reply.sent || reply.raw.headersSent) return;
  reply.send(new LateAnswerError());
}

/** How often (milliseconds) the mean lag of the event loop is taken, and how often the lag is measured for it. */
const LAG_SAMPLE_MS = 500;
const LAG_RESOLUTION_MS = 10;

/** Whether the event loop lagged in the last sample. Lag during start does not count: the sample in which the server begins to listen is skipped. */
function watchEventLoop(app: FastifyInstance, maxDelayMs: number): () => boolean {
  const delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delays.enable();
  let judgedFrom = 0;
  let isLate = false;
  const timer = setInterval(() => {
    // Without a measurement the loop was blocked for the whole sample.
    const delayMs = Number.isNaN(delays.mean) ? Number.POSITIVE_INFINITY : delays.mean / 1e6 - LAG_RESOLUTION_MS;
    isLate = delayMs > maxDelayMs && performance.now() > judgedFrom;
    delays.reset();
  }, LAG_SAMPLE_MS).unref();
  app.addHook('onListen', async () => {
    judgedFrom = performance.now() + LAG_SAMPLE_MS;
    isLate = false;
  });
  app.addHook('onClose', async () => {
    clearInterval(timer);
    delays.disable();
  });
  return () => isLate;
}

export interface ScopeOptions {
  readonly prefix: string;
  /** Requests per minute per client; 0 is no limit. */
  readonly rateLimit: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its answers hold personal data: each exchange is logged, and no proxy may write an answer to disk. */
  readonly isPersonal?: boolean;
  /** Scripts of every origin may read it: public data only. */
  readonly isOpen?: boolean;
  readonly problemStyle?: ProblemStyle;
  readonly routes: (app: FastifyInstance) => void | Promise<void>;
}

/** Registers routes below a prefix. Rejection checks, in order, before the body is read. */
export async function mountScope(server: FastifyInstance, options: ScopeOptions): Promise<void> {
  const { prefix, rateLimit, headers = {}, isPersonal = false, isOpen = false } = options;
  const counter = rateLimit === 0 ? undefined : createRateCounter(rateLimit);
  // A proxy that buffers an answer may write it to disk, and hides whether the client has read it.
  const ofAll = isPersonal ? { ...headers, 'x-accel-buffering': 'no' } : headers;
  server.scopes.push({ prefix, headers: ofAll, problemStyle: options.problemStyle });
  await server.register(
    async (app) => {
      const refuseUnknown = handleProblems(app, options.problemStyle);
      app.addHook('onRequest', (request, reply, done) => {
        reply.headers(ofAll);
        checkRequestHead(request.raw);
        if (counter !== undefined) {
          request.rateCounter = counter;
          if (request.is404 || request.routeOptions.config.public === true) countCall(request, reply, true);
        }
        if (request.headers['content-length'] !== undefined) checkAnnouncedBody(request);
        if (isPersonal) logExchange(request, reply);
        if (isOpen) setOrigins(request, reply);
        refuseNul(request);
        // Hooks also run in nested scopes, which answer in their own shape.
        if (request.is404 && request.server === app) refuseUnknown(request, reply);
        else done();
      });
      limitUnreadAnswers(app, app.settings.server.unreadAnswersBytes);
      await options.routes(app);
    },
    // The name is for `app.printPlugins()`.
    { prefix, name: prefix },
  );
}

interface MountOptions extends Omit<ScopeOptions, 'headers'> {
  readonly contract: { readonly document: OpenapiDocument };
  readonly bodiesInProgressBytes?: number;
  readonly share?: LimitMount;
}

export async function mount(server: FastifyInstance, options: MountOptions): Promise<void> {
  const { prefix, contract, bodiesInProgressBytes, share } = options;
  await mountScope(server, {
    ...options,
    // The full version of the interface (API Design Rules, /core/version-header); on refusals too.
    headers: { 'api-version': contract.document.info.version },
    routes: async (app) => {
      // A request that waits for an earlier one of its client is not read yet, and its body does not count.
      share?.(app);
      limitBodies(app, bodiesInProgressBytes ?? app.settings.server.bodiesInProgressBytes);
      await options.routes(app);
      const { rateLimit } = options;
      describeInterface(app, { document: contract.document, url: mountAddress(server, prefix), rateLimit });
    },
  });
}

/** Address of a mount as clients see it, without a trailing slash. With port 0 it is known only after listening. */
export function mountAddress(app: FastifyInstance, prefix: string): () => string {
  let known: string | undefined;
  return () => {
    if (known !== undefined) return known;
    const address = `${app.publicBaseUrl()}${prefix}`;
    if (app.server.listening) known = address;
    return address;
  };
}

/** Never logs the address or the query. An exchange that the client broke off is logged too, because it may have read part of the answer. */
function logExchange(request: FastifyRequest, reply: FastifyReply): void {
  request.onClosed(() => {
    const { caller, tokenRefusal } = request;
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        ...(reply.raw.headersSent ? { status: reply.raw.statusCode } : {}),
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(caller === undefined ? {} : { caller: caller.subject, tokenKind: caller.kind }),
        ...(tokenRefusal === undefined ? {} : { tokenRefusal }),
        ...traceIds(traceOf(request)),
        ...fscTransaction(request),
      },
      reply.raw.writableFinished ? 'answered' : 'broken off',
    );
  });
}
