import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { strictJsonBody } from './http/bodies.ts';
import { MAX_PARAM_LENGTH, methodNotAllowed, requireAccessPolicy } from './http/contract.ts';
import { cutTarget, SECURITY_HEADERS, securityHeaders } from './http/headers.ts';
import { limitAnswerTime } from './http/limits.ts';
import { type Area, measureRequests } from './http/mount.ts';
import { problemPages } from './http/pages.ts';
import { handleProblems, refuseUnreadable, requireHost, sendProblem } from './http/problem-reply.ts';
import type { Platform } from './kernel/platform.ts';

/** Most listeners of a response for one event; Node warns from eleven on. */
const MOST_LISTENERS = 30;

/** Builds the public server: the Fastify options, what all areas share, then the areas. It does not listen yet. */
export async function buildServer(platform: Platform, areas: readonly Area[]): Promise<FastifyInstance> {
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
    trustProxy: trustProxy(server.trustProxy),
    rewriteUrl: ({ url = '/' }) => cutTarget(url),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    return503OnClosing: false,
    clientErrorHandler: refuseUnreadable(platform.publicBaseUrl),
    frameworkErrors: (error, request, reply) => {
      reply.headers(SECURITY_HEADERS);
      sendProblem(error, request, reply, platform.publicBaseUrl);
    },
  });
  // Everything that holds something for a request listens for its end.
  app.addHook('onRequest', (_request, reply, done) => {
    reply.raw.setMaxListeners(MOST_LISTENERS);
    done();
  });
  app.decorateRequest('caller');
  app.decorateRequest('tokenRefusal');
  app.decorateRequest('rateCounter');
  methodNotAllowed(app);
  requireAccessPolicy(app);
  limitAnswerTime(app, server.requestTimeoutMs);
  securityHeaders(app);
  requireHost(app, platform.publicBaseUrl);
  measureRequests(app, platform.metrics);
  strictJsonBody(app);
  handleProblems(app, platform.publicBaseUrl).refuseEarly();
  problemPages(
    app,
    areas.map(({ problems }) => problems),
  );
  for (const area of areas) {
    area.root?.(app);
    for (const { prefix, routes } of area.mounts) await app.register(routes, { prefix });
  }
  return app;
}

/** A number trusts that many proxies in front; otherwise the listed addresses and ranges. */
function trustProxy(setting: string | undefined): boolean | string | ((address: string, hop: number) => boolean) {
  if (setting === undefined) return false;
  return /^\d+$/.test(setting) ? (_address, hop) => hop < Number(setting) : setting;
}
