import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { registerAreas } from './areas.ts';
import { slowStatements } from './database/slow-statements.ts';
import { type Logger, portError } from './lib/log.ts';
import type { Clock } from './lib/time.ts';
import { measureProcess, type OpenPlatform, openPlatform, type Platform } from './platform.ts';
import { type Connections, trackConnections } from './plugins/connections.ts';
import { buildManagement } from './plugins/management.ts';
import { buildServer } from './plugins/server.ts';
import type { Terminal } from './seams/terminal.ts';
import type { Config } from './settings/read-config.ts';
import type { Tracing } from './tracing.ts';

/** How long (milliseconds) an idle connection of a proxy stays open while draining; see `deploy/nginx`. */
const LAST_REQUEST_MS = 2000;

export interface ServeOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Registers what is served; by default the interfaces that the configuration names. */
  readonly register?: (app: FastifyInstance, platform: Platform) => Promise<void>;
}

/** A running service. */
export interface Service {
  /** Address of the public listener. */
  readonly url: string;
  readonly managementUrl: string;
  /** Address of the database as its owner (secret). */
  readonly databaseUrl: string;
  /** Settles when an embedded database has ended, for whatever reason. */
  readonly databaseExited: Promise<void>;
  /**
   * Stops accepting, answers running requests, ends streams and releases everything; calling it again is harmless. With `drainMs` it first
   * keeps serving for that long while it reports not ready, so that a balancer moves elsewhere; then, for `LAST_REQUEST_MS`, it serves
   * only the open connections. A second call without it cuts both short.
   */
  readonly stop: (options?: { readonly drainMs?: number }) => Promise<void>;
}

/**
 * Opens everything and listens.
 * @throws {Error} with a message for operators; what was opened is released
 */
export async function serve(options: ServeOptions): Promise<Service> {
  const open = await openPlatform({ ...options, purpose: 'service' });
  const releases: (() => Promise<void>)[] = [open.close];
  try {
    return await listen(open, releases, options.register ?? registerAreas);
  } catch (error) {
    open.beginStop();
    await releaseAll(releases);
    throw error;
  }
}

async function listen(
  open: OpenPlatform,
  releases: (() => Promise<void>)[],
  register: NonNullable<ServeOptions['register']>,
): Promise<Service> {
  const { platform } = open;
  const { server } = platform.config;
  const tracing = await openTracing(platform);
  if (tracing !== undefined) releases.push(tracing.close);
  measureProcess(platform);
  let draining = false;

  const app = await buildServer(platform, tracing?.instrument);
  const connections = trackConnections(app.server);
  releases.push(() => close(app, connections, server.shutdownTimeoutMs));
  await register(app, platform);
  const begun = Promise.withResolvers<void>();
  // The last of these hooks: they run one after the other, and each is waited for.
  app.addHook('onListen', async () => begun.resolve());
  await app.ready();
  const management = buildManagement({
    metrics: platform.metrics,
    checks: [...open.checks, ...app.readiness.all],
    sections: [...app.operatorPage.all, slowStatements(platform.pool)],
    clock: platform.clock,
    log: platform.log,
    stopping: () => draining || platform.stopping.aborted,
  });
  const managementConnections = trackConnections(management.server);
  releases.push(() => close(management, managementConnections, server.shutdownTimeoutMs));

  const managementUrl = await listenOn(management, server.managementHost, server.managementPort, 'MANAGEMENT_PORT');
  const url = await listenOn(app, server.host, server.port, 'PORT');
  open.listensOn(url);
  await begun.promise;
  platform.log.info({ url, managementUrl, areas: server.areas }, 'listening');

  const endDrain = new AbortController();
  let stopping: Promise<void> | undefined;
  const stop: Service['stop'] = ({ drainMs = 0 } = {}) => {
    if (drainMs === 0) endDrain.abort();
    stopping ??= (async () => {
      draining = true;
      if (drainMs > 0) await drain(connections, drainMs, endDrain.signal);
      open.beginStop();
      await releaseAll(releases);
    })();
    return stopping;
  };
  return { url, managementUrl, databaseUrl: open.ownerUrl, databaseExited: open.databaseExited, stop };
}

/** Loads nothing of OpenTelemetry unless an operator asks for traces. */
async function openTracing({ config, log }: Platform): Promise<Tracing | undefined> {
  const { tracingEndpoint } = config.server;
  if (tracingEndpoint === undefined) return undefined;
  const { startTracing } = await import('./tracing.ts');
  return startTracing({ ...config.server, tracingEndpoint }, log);
}

/** Keeps serving until balancers have moved elsewhere and proxies have closed their idle connections; the signal cuts it short. */
async function drain(connections: Connections, drainMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(drainMs, undefined, { signal });
    await connections.stopAccepting();
    await sleep(LAST_REQUEST_MS, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function listenOn(app: FastifyInstance, host: string, port: number, variable: string): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw portError(error, port, variable) ?? error;
  }
  const address = app.server.address();
  if (!isAddressInfo(address)) throw new TypeError('the listener has no address');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

function isAddressInfo(address: unknown): address is AddressInfo {
  return typeof address === 'object' && address !== null && 'port' in address;
}

/** Answers running requests; connections that are still busy after the given milliseconds are cut. */
async function close(app: FastifyInstance, connections: Connections, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  try {
    await connections.close();
  } finally {
    await app.close().finally(() => clearTimeout(timer));
  }
}

/** Last opened first; all are tried, and the first error is rethrown. */
async function releaseAll(releases: (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const release of releases.splice(0).toReversed()) {
    try {
      await release();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

interface StopOptions {
  readonly stop: (options?: { readonly drainMs?: number }) => Promise<void>;
  readonly log: Logger;
  /** Milliseconds to keep serving after `SIGTERM`, so that a proxy can move elsewhere; Ctrl-C does not drain. */
  readonly drainMs?: number;
  /** Milliseconds that stopping may take; after that the process ends with status 1. */
  readonly timeoutMs: number;
  /** Settles when something essential has ended: then the service stops too, with status 1. */
  readonly lost: Promise<void>;
}

/** Resolves after `SIGTERM` or Ctrl-C, once everything has stopped; a second signal, or too long a wait, ends at once. */
export async function stopOnSignals(
  terminal: Pick<Terminal, 'once' | 'exit' | 'exitCode'>,
  { stop, log, drainMs = 0, timeoutMs, lost }: StopOptions,
): Promise<void> {
  const signal = await new Promise<NodeJS.Signals | undefined>((resolve) => {
    terminal.once('SIGTERM', resolve).once('SIGINT', resolve);
    void lost.then(() => resolve(undefined));
  });
  if (signal === undefined) terminal.exitCode = 1;
  log.info({ reason: signal ?? 'the database has ended' }, 'stopping');
  const force = (reason: string): void => {
    log.error(reason);
    terminal.exit(1);
  };
  const drainFor = signal === 'SIGTERM' ? drainMs : 0;
  const timer = setTimeout(() => force('stopping took too long'), drainFor + LAST_REQUEST_MS + timeoutMs + 2000);
  void lost.then(() => stop()).catch(() => undefined);
  terminal
    .once('SIGTERM', () => force('stopped by a second signal'))
    .once('SIGINT', () => force('stopped by a second signal'));
  try {
    await stop({ drainMs: drainFor });
    log.info('stopped');
  } finally {
    clearTimeout(timer);
  }
}
