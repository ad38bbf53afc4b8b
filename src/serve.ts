import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type AppOptions, buildApp } from './app.ts';
import { type Logger, portError } from './lib/log.ts';
import type { Terminal } from './lib/terminal.ts';
import { listenAddress } from './plugins/service.ts';

/** Milliseconds that an idle connection of a proxy stays open while draining; see `deploy/nginx`. */
const LAST_REQUEST_MS = 2000;

export interface Service {
  readonly url: string;
  readonly managementUrl: string;
  /** Address of the database as its owner (secret). */
  readonly databaseUrl: string;
  readonly databaseExited: Promise<void>;
  /**
   * Answers running requests, ends streams and releases everything; may be repeated. With `drainMs` it first serves on while it reports not ready, so
   * that a balancer moves elsewhere; then, for `LAST_REQUEST_MS`, only the open connections. A second call without it cuts both short.
   */
  readonly stop: (options?: { readonly drainMs?: number }) => Promise<void>;
}

/** Listens for operators first, for clients once it can answer. @throws {Error} with a message for operators; everything opened is released */
export async function serve(options: AppOptions): Promise<Service> {
  const { server } = options.config;
  let managementUrl = '';
  await using opened = new AsyncDisposableStack();
  const app = await buildApp({
    ...options,
    onManagement: async (management) => {
      const listener = { host: server.managementHost, port: server.managementPort };
      managementUrl = await listenOn(management, listener, 'MANAGEMENT_PORT');
    },
  });
  opened.defer(() => app.close());
  const begun = Promise.withResolvers<void>();
  // The last of these hooks: they run one after the other, each awaited.
  app.addHook('onListen', async () => begun.resolve());
  await app.ready();
  const url = await listenOn(app, server, 'PORT');
  await begun.promise;
  opened.move();
  app.log.info({ url, managementUrl, areas: server.areas }, 'listening');

  const endDrain = new AbortController();
  let stopping: Promise<void> | undefined;
  const stop: Service['stop'] = ({ drainMs = 0 } = {}) => {
    if (drainMs === 0) endDrain.abort();
    stopping ??= (async () => {
      app.connections.beginDrain();
      if (drainMs > 0) await drain(app, drainMs, endDrain.signal);
      await app.close();
    })();
    return stopping;
  };
  const { ownerUrl, exited } = app.database;
  return { url, managementUrl, databaseUrl: ownerUrl, databaseExited: exited, stop };
}

/** Keeps serving until balancers have moved elsewhere and proxies have closed their idle connections; the signal ends it early. */
async function drain({ connections }: FastifyInstance, drainMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(drainMs, undefined, { signal });
    await connections.stopAccepting();
    await sleep(LAST_REQUEST_MS, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface Listener {
  readonly host: string;
  readonly port: number;
}

async function listenOn(app: FastifyInstance, { host, port }: Listener, variable: string): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw portError(error, port, variable) ?? error;
  }
  return listenAddress(app, { host, port });
}

interface StopOptions {
  readonly stop: (options?: { readonly drainMs?: number }) => Promise<void>;
  readonly log: Logger;
  /** Milliseconds to keep serving after `SIGTERM`, so that a proxy can move elsewhere; Ctrl-C does not drain. */
  readonly drainMs?: number;
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
