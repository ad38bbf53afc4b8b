/** What belongs to the process as a whole: its settings, clock and address, and the signal that it stops. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Clock } from '../lib/time.ts';
import type { Config } from '../settings/read-config.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly settings: Config;
    readonly clock: Clock;
    /** Address that clients see, without a trailing slash. With port 0 it is known only after listening. */
    readonly publicBaseUrl: () => string;
    /** Fires when the process begins to stop: streams and waiting loops end on it. */
    readonly stopping: AbortSignal;
  }
}

interface ServiceOptions {
  readonly config: Config;
  readonly clock: Clock;
}

export const service = fp(
  async (app: FastifyInstance, { config, clock }: ServiceOptions) => {
    const stopping = new AbortController();
    app.decorate('settings', config);
    app.decorate('clock', clock);
    let known = config.server.publicBaseUrl;
    app.decorate('publicBaseUrl', () => {
      if (known === undefined && app.server.listening) known = listenAddress(app, config.server);
      return known ?? baseUrlOf(config.server);
    });
    app.decorate('stopping', stopping.signal);
    app.addHook('preClose', async () => stopping.abort());
  },
  { name: 'service' },
);

/** Address that clients see, as far as the configuration says: for a command, which does not listen. */
export function baseUrlOf({ publicBaseUrl, host, port }: Config['server']): string {
  return publicBaseUrl ?? `http://${host}:${port}`;
}

/** Address that a server listens on, or will listen on. */
export function listenAddress({ server }: FastifyInstance, { host, port }: { host: string; port: number }): string {
  const address = server.address();
  return `http://${host.includes(':') ? `[${host}]` : host}:${isAddressInfo(address) ? address.port : port}`;
}

function isAddressInfo(address: unknown): address is AddressInfo {
  return typeof address === 'object' && address !== null && 'port' in address;
}
