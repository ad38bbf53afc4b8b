/** What every interface and every set of pages below a prefix has: limits, headers, errors in its own shape, log lines, and a share for each client. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkAnnouncedBody, limitBodies, limitUnreadAnswers } from './bodies.ts';
import { checkRequestHead, fscTransaction, setOrigins, traceIdsOf } from './headers.ts';
import { type ClientShare, createRateCounter, limitRate } from './limits.ts';
import type { OpenapiDocument } from './openapi-document.ts';
import { apiDocs } from './pages.ts';
import { handleProblems, type ProblemStyle } from './problem-reply.ts';

export interface ScopeOptions {
  readonly prefix: string;
  /** Requests per minute per client; 0 is no limit. */
  readonly rateLimit: number;
  /** Headers of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its answers hold personal data: each exchange is logged, and no proxy may write an answer to disk. */
  readonly isPersonal?: boolean;
  /** Scripts of every origin may read it: public data only. */
  readonly isOpen?: boolean;
  readonly problemStyle?: ProblemStyle;
  readonly routes: (app: FastifyInstance) => void | Promise<void>;
}

/** Registers routes below a prefix. What can refuse a request runs in this order, before anything is read of its body. */
export async function mountScope(server: FastifyInstance, options: ScopeOptions): Promise<void> {
  const { prefix, rateLimit, headers = {}, isPersonal = false, isOpen = false } = options;
  const counter = createRateCounter(rateLimit);
  // A proxy that buffers an answer may write it to disk, and hides whether the client has read it.
  const ofAll = isPersonal ? { ...headers, 'x-accel-buffering': 'no' } : headers;
  await server.register(
    async (app) => {
      const refuseUnknown = handleProblems(app, options.problemStyle);
      app.addHook('onRequest', (request, reply, done) => {
        reply.headers(ofAll);
        checkRequestHead(request.raw);
        limitRate(request, reply, counter);
        checkAnnouncedBody(request);
        if (isPersonal) logExchange(request, reply);
        if (isOpen) setOrigins(request, reply);
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
  /** Bytes of bodies in work at once; absent: as configured for every mount. */
  readonly bodiesInProgressBytes?: number;
  /** Divides the connections of a pool among clients. */
  readonly share?: ClientShare;
}

/** Mounts an interface, with its version, its contract and pages about it. */
export async function mount(server: FastifyInstance, options: MountOptions): Promise<void> {
  const { prefix, contract, bodiesInProgressBytes, share } = options;
  await mountScope(server, {
    ...options,
    // The full version of the interface (API Design Rules, /core/version-header); also where something refuses.
    headers: { 'api-version': contract.document.info.version },
    routes: async (app) => {
      limitBodies(app, bodiesInProgressBytes ?? app.settings.server.bodiesInProgressBytes);
      share?.(app);
      await options.routes(app);
      await apiDocs(app, contract.document, mountAddress(server, prefix));
    },
  });
}

/** Address of a mount as clients see it, without a trailing slash. With port 0 it is known only after listening. */
export function mountAddress({ publicBaseUrl }: Pick<FastifyInstance, 'publicBaseUrl'>, prefix: string): () => string {
  return () => `${publicBaseUrl()}${prefix}`;
}

/**
 * Logs an exchange when it has ended: who called which route with which result, never the address or the query. An exchange that the client
 * broke off is logged too, because it may have read part of the answer.
 */
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
        ...traceIdsOf(request),
        ...fscTransaction(request),
      },
      reply.raw.writableFinished ? 'answered' : 'broken off',
    );
  });
}
