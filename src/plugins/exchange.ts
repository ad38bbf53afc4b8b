/** What every request of the public server begins with: what is done at its end, its deadline, the security headers, and its `Host`. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Problem } from '../lib/problem.ts';
import { headerValues, SECURITY_HEADERS } from './headers.ts';
import { LateAnswerError, sendProblem } from './problem-reply.ts';
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

/**
 * Begins every exchange. A handler that has not begun its answer in time is answered for with 503: Fastify's `handlerTimeout` creates a
 * signal and an exception with its stack for every request, which more than doubles the cost of a small one, and drops its timer once the
 * body has been read. A request without a `Host` is refused; Node would do so with an empty body.
 */
export const requests = fp(beginExchanges, { name: 'requests' });

interface RequestsOptions {
  /** Milliseconds in which a handler must begin its answer. */
  readonly requestTimeoutMs: number;
}

async function beginExchanges(app: FastifyInstance, { requestTimeoutMs }: RequestsOptions): Promise<void> {
  app.decorateRequest('caller');
  app.decorateRequest('tokenRefusal');
  app.decorateRequest('rateCounter');
  app.decorateRequest('traceContext');
  app.decorateRequest('closedCallbacks');
  app.decorateRequest('onClosed', function onClosed(this: FastifyRequest, callback: () => void): void {
    if (this.closedCallbacks === null) callback();
    else if (this.closedCallbacks === undefined) this.closedCallbacks = [callback];
    else this.closedCallbacks.push(callback);
  });
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
    if (namesHost(request.raw)) return done();
    sendProblem(new Problem(platformProblems.invalidRequest, { detail: NO_HOST }), request, reply);
  });
}

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
