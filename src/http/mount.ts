import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';
import type { Platform, ReadinessCheck } from '../kernel/platform.ts';
import type { ProblemKind } from '../kernel/problem.ts';
import { limitBodies, limitUnreadAnswers } from './bodies.ts';
import { limitRequestHead } from './headers.ts';
import { createRateCounter, limitRate, shedLoad } from './limits.ts';
import type { OpenapiDocument } from './openapi-document.ts';
import { apiDocs } from './pages.ts';
import { handleProblems, type ProblemStyle } from './problem-reply.ts';

interface MountOptions {
  readonly platform: Platform;
  readonly prefix: string;
  readonly contract: { readonly document: OpenapiDocument };
  /** Requests per minute per client; 0 is no limit. */
  readonly rateLimit: number;
  /** Its answers hold personal data: no proxy may keep them on its disk. */
  readonly isPersonal?: boolean;
  readonly problemStyle?: ProblemStyle;
  readonly routes: (app: FastifyInstance) => void | Promise<void>;
}

/** What every mount has: limit, version header, errors in its own shape, its contract and readable pages of it; then its routes. */
export function mount(options: MountOptions): Area['mounts'][number] {
  const { platform, prefix, contract, rateLimit } = options;
  const counter = createRateCounter(rateLimit);
  return {
    prefix,
    routes: async (app) => {
      // The full version of the interface (API Design Rules, /core/version-header); before anything that can refuse.
      app.addHook('onRequest', (_request, reply, done) => {
        reply.header('api-version', contract.document.info.version);
        // A proxy that spools an answer keeps personal data on its disk, and takes it before the client does.
        if (options.isPersonal === true) reply.header('x-accel-buffering', 'no');
        done();
      });
      limitRequestHead(app);
      await shedLoad(app, platform.config.server.overloadEventLoopDelayMs);
      limitRate(app, counter);
      limitBodies(app, platform.config.server.bodiesInProgressBytes);
      limitUnreadAnswers(app, platform.config.server.unreadAnswersBytes);
      const { refuseEarly } = handleProblems(app, platform.publicBaseUrl, options.problemStyle);
      await options.routes(app);
      refuseEarly();
      await apiDocs(app, contract.document, () => `${platform.publicBaseUrl()}${prefix}`);
    },
  };
}

/** One of the national interfaces, ready to be mounted. */
export interface Area {
  readonly mounts: readonly {
    readonly prefix: string;
    /** Registers the routes; `app` is a scope of its own under the prefix. */
    readonly routes: (app: FastifyInstance) => Promise<void>;
  }[];
  /** Addresses that the area needs at the root of the host. */
  readonly root?: (app: FastifyInstance) => void;
  readonly problems: Readonly<Record<string, ProblemKind>>;
  readonly checks: readonly ReadinessCheck[];
  /** Starts work that goes on without requests; called once the server listens. */
  readonly start?: () => Promise<void>;
  /** Gives back what the area opened; called after the last request was answered. */
  readonly close: () => Promise<void>;
}

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
