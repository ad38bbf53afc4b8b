import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

/** Measures every answer by route pattern: addresses themselves can hold a person's identifier and are never kept. */
export function measureRequests(app: FastifyInstance, metrics: Registry): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [metrics],
  });
  // One of each combination: naming the labels costs more than counting. Methods, routes and statuses are few.
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
 * Logs each exchange of a scope: who called which route with which result, never the address or the query. Also one that the client
 * broke off: what was on its way to him he may have read.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // Comes however the exchange ends; `onResponse` only when the answer was sent whole.
    reply.raw.once('close', () => {
      const { caller, tokenRefusal } = request;
      request.log.info(
        {
          method: request.method,
          route: routeOf(request),
          ...(reply.raw.headersSent ? { status: reply.raw.statusCode } : {}),
          ms: Math.round(reply.elapsedTime * 10) / 10,
          ...(caller === undefined ? {} : { caller: caller.subject, tokenKind: caller.kind }),
          ...(tokenRefusal === undefined ? {} : { tokenRefusal }),
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

/** The `Fsc-Transaction-Id` of a request when it looks like one. */
export function fscTransaction(request: FastifyRequest): { fscTransactionId?: string } {
  const id = request.headers['fsc-transaction-id'];
  return typeof id === 'string' && /^[0-9a-fA-F-]{1,64}$/.test(id) ? { fscTransactionId: id } : {};
}
