import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { front } from './html/front/plugin.ts';
import { type Clock, systemClock } from './lib/time.ts';
import { connections } from './plugins/connections.ts';
import { database } from './plugins/database.ts';
import { cutTarget, newRequestId, SECURITY_HEADERS } from './plugins/headers.ts';
import { jsonBody } from './plugins/limits.ts';
import { management } from './plugins/management.ts';
import { metrics } from './plugins/metrics.ts';
import { rootPages } from './plugins/pages.ts';
import { refuseUnreadable, sendProblem } from './plugins/problem-reply.ts';
import { requests } from './plugins/requests.ts';
import { MAX_PARAM_LENGTH, routes } from './plugins/routes.ts';
import { operations, service } from './plugins/service.ts';
import { proof, proofWriters } from './proof/plugin.ts';
import type { ProvenLog } from './proof/proof-log.ts';
import type { Config } from './settings/read-config.ts';

export interface AppOptions {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly clock?: Clock;
  /** Registers the interfaces; by default the areas that the configuration names. */
  readonly register?: (app: FastifyInstance) => Promise<void>;
  /** Receives the management listener before the database is opened and migrated, which may take minutes. */
  readonly onManagement?: (management: FastifyInstance) => Promise<void>;
}

/** Puts the service together; it does not listen yet. @throws {Error} with a message for operators; what was opened is released */
export async function buildApp({
  config,
  log,
  clock = systemClock,
  register,
  onManagement,
}: AppOptions): Promise<FastifyInstance> {
  const app = createServer(config.server, log);
  try {
    await app.register(service, { config, clock });
    // Before any other plugin with hooks: it sees every request, including those that other plugins refuse.
    if (config.tracing.endpoint !== undefined)
      await app.register((await import('./plugins/tracing/plugin.ts')).tracing);
    await app.register(connections, config.server);
    await app.register(operations);
    await app.register(routes);
    await app.register(metrics);
    await app.register(requests, config.server);
    await app.register(jsonBody);
    await app.register(rootPages);
    await app.register(management);
    await onManagement?.(app.management);
    await app.register(database);
    await app.register(proofWriters);
    await (register ?? registerServed)(app);
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Loads only the configured areas: that halves the memory of an idle process. */
async function registerServed(app: FastifyInstance): Promise<void> {
  const { areas } = app.settings.server;
  const servesGegevens = areas.includes('shv') || areas.includes('vs');
  const proofLogs: ProvenLog[] = [];
  // The feed alone needs no tokens, logs no processing, and need not have the keys of the log.
  if (servesGegevens || areas.includes('verwerkingenlog')) {
    await app.register((await import('./plugins/tokens.ts')).tokens);
    // Made here, because the log is a layer below its feature `ldv`, and yet queues lines in the transaction of an append.
    const { createForwardQueue } = await import('./verwerkingenlog/ldv/store/forward-queue.ts');
    const forward = createForwardQueue(app.settings.ldvOut);
    await app.register((await import('./verwerkingenlog/processing-log.ts')).processingLog, { forward });
    proofLogs.push((await import('./verwerkingenlog/proof-log.ts')).verwerkingenProofLog);
  }
  if (servesGegevens) {
    await app.register((await import('./gegevens/plugin.ts')).gegevens);
    proofLogs.push((await import('./gegevens/proof-log.ts')).leveringenProofLog);
  }
  if (areas.includes('verwerkingenlog'))
    await app.register((await import('./verwerkingenlog/plugin.ts')).verwerkingenlog);
  if (areas.includes('raadsfeed')) {
    await app.register((await import('./raadsfeed/plugin.ts')).raadsfeed);
    proofLogs.push((await import('./raadsfeed/proof-log.ts')).raadsfeedProofLog);
  }
  await app.register(proof, { logs: proofLogs });
  // It links to the pages of the others.
  await app.register(front);
}

function createServer(server: Config['server'], log: FastifyBaseLogger): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // Opening and migrating a database may take longer than any limit.
    pluginTimeout: 0,
    genReqId: newRequestId,
    requestIdHeader: false,
    bodyLimit: server.bodyLimitBytes,
    http: {
      maxHeaderSize: server.headerLimitBytes,
      // Node would refuse with an empty body; `requests` answers with a problem document.
      requireHostHeader: false,
      // Node swaps the two when the time for the head exceeds that for the whole request.
      headersTimeout: Math.min(60_000, server.requestTimeoutMs),
      // How often Node checks for late requests; by default only every 30 seconds.
      connectionsCheckingInterval: Math.min(5000, server.requestTimeoutMs),
    },
    requestTimeout: server.requestTimeoutMs,
    // An idle connection is cut: its client does not read the answer. A handler may be silent for half this time.
    connectionTimeout: 2 * server.requestTimeoutMs,
    // Longer than an FSC Inway keeps an idle connection (90 s), so that it never reuses a closed one.
    keepAliveTimeout: 100_000,
    trustProxy: trusted(server.trustProxy ?? false),
    rewriteUrl: cutTarget,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    return503OnClosing: false,
    clientErrorHandler: refuseUnreadable(() => app.publicBaseUrl()),
    frameworkErrors: (error, request, reply) => {
      // The router could not tell which scope an address belongs to.
      const scope = app.scopes
        .filter(({ prefix }) => request.url.startsWith(`${prefix}/`))
        .toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
      reply.headers({ ...SECURITY_HEADERS, ...scope?.headers });
      sendProblem(error, request, reply, scope?.problemStyle);
    },
  });
  return app;
}

/** A number trusts that many proxies in front. */
function trusted(proxies: false | number | string[]): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : proxies;
}
