/** What every request of the public server begins with: what is done at its end, its deadline, the security headers, its `Host`, and the load. */
import type { IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Problem } from '../lib/problem.ts';
import { headerValues, SECURITY_HEADERS } from './headers.ts';
import { handleProblems, LateAnswerError, sendProblem } from './problem-reply.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Calls back once when the exchange has ended: its answer was sent, or the client went away; at once when it has ended already.
     * `onResponse` is only called when the whole answer was sent.
     */
    readonly onClosed: (callback: () => void) => void;
    /** What `onClosed` was given; `undefined` before the first, `null` once the exchange has ended. */
    closedCallbacks: (() => void)[] | null | undefined;
  }
}

interface RequestsOptions {
  /** Milliseconds in which a handler must begin its answer. */
  readonly requestTimeoutMs: number;
  /** Milliseconds that the event loop may lag before requests are refused; 0: no limit. */
  readonly overloadEventLoopDelayMs: number;
}

/**
 * Begins every request. A handler that has not begun its answer in time is answered for with 503: Fastify's `handlerTimeout` creates a
 * signal and an exception with its stack for every request, which more than doubles the cost of a small one, and drops its timer once the
 * body has been read. A request without a `Host` is refused; Node would do so with an empty body.
 */
export const requests = fp(
  async (app: FastifyInstance, { requestTimeoutMs, overloadEventLoopDelayMs }: RequestsOptions) => {
    for (const member of ['caller', 'tokenRefusal', 'rateCounter', 'traceContext', 'holdBody', 'holdShare'])
      app.decorateRequest(member);
    app.decorateRequest('closedCallbacks');
    app.decorateRequest('onClosed', function onClosed(this: FastifyRequest, callback: () => void): void {
      if (this.closedCallbacks === null) callback();
      else if (this.closedCallbacks === undefined) this.closedCallbacks = [callback];
      else this.closedCallbacks.push(callback);
    });
    const refuseUnknown = handleProblems(app);
    const isOverloaded = overloadEventLoopDelayMs === 0 ? () => false : watchEventLoop(app, overloadEventLoopDelayMs);
    app.addHook('onRequest', (request, reply, done) => {
      // Node keeps timers of equal duration in a list, so one for each request costs next to nothing.
      const timer = setTimeout(answerLate, requestTimeoutMs, reply);
      reply.raw.once('close', () => {
        clearTimeout(timer);
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
  { name: 'requests', dependencies: ['routes'] },
);

const NO_HOST = 'Het verzoek moet eenmaal een kop `Host` hebben.';

/** Whether a request has exactly one `Host`; before HTTP/1.1 it needs none. @see RFC 9112 section 3.2 */
function namesHost(request: IncomingMessage): boolean {
  const named = headerValues(request, 'host').length;
  return named === 1 || (named === 0 && request.httpVersion === '1.0');
}

function answerLate(reply: FastifyReply): void {
  // An answer that is being sent is limited by how fast it is read, not by this.
  if (reply.sent || reply.raw.headersSent) return;
  reply.send(new LateAnswerError());
}

/** How often (milliseconds) the mean lag of the event loop is taken, and how often the lag is measured for it. */
const LAG_SAMPLE_MS = 500;
const LAG_RESOLUTION_MS = 10;

/**
 * Tells whether the event loop lagged more than the limit in the last sample. What held the loop while the server started is no load: the
 * sample in which it begins to listen does not count.
 */
function watchEventLoop(app: FastifyInstance, maxDelayMs: number): () => boolean {
  const delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delays.enable();
  let judgedFrom = 0;
  let isLate = false;
  const timer = setInterval(() => {
    // Without a measurement the loop was held for all of the sample.
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
