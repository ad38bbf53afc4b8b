/** What each interface that is mounted has: limits, version header, errors, contract and log lines. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkAnnouncedBody, limitBodies, limitUnreadAnswers } from './bodies.ts';
import { checkRequestHead, traceIdsOf } from './headers.ts';
import { createRateCounter, limitRate } from './limits.ts';
import type { OpenapiDocument } from './openapi-document.ts';
import { apiDocs } from './pages.ts';
import { handleProblems, type ProblemStyle } from './problem-reply.ts';

interface MountOptions {
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
  const { prefix, contract, rateLimit } = options;
  const counter = createRateCounter(rateLimit);
  await server.register(
    async (app) => {
      const { version } = contract.document.info;
      const settings = app.settings.server;
      const { refuseEarly } = handleProblems(app, options.problemStyle);
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
      await apiDocs(app, contract.document, mountAddress(app, prefix));
    },
    { prefix },
  );
}

/** Address of a mount as clients see it, without a trailing slash. With port 0 it is known only after listening. */
export function mountAddress({ publicBaseUrl }: Pick<FastifyInstance, 'publicBaseUrl'>, prefix: string): () => string {
  return () => `${publicBaseUrl()}${prefix}`;
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
