import type { IncomingMessage } from 'node:http';

/** Addresses that are remembered at once. */
const REMEMBERED = 10_000;

/** The address that a client is counted by, as the framework finds it. */
export interface ClientAddresses {
  /** `undefined`: only the framework can tell. */
  of(request: IncomingMessage): string | undefined;
  /** Notes what the framework found. */
  learn(request: IncomingMessage, address: string): void;
}

/**
 * Without a trusted proxy the address is that of the connection. With one, whom `X-Forwarded-For` is believed of is the framework's
 * decision: what it decided for the same connection and the same header holds again.
 */
export function createClientAddresses(trustsProxy: boolean): ClientAddresses {
  if (!trustsProxy) return { of: ({ socket }) => socket.remoteAddress, learn: () => undefined };
  const known = new Map<string, string>();
  const keyOf = ({ socket, headers }: IncomingMessage): string =>
    `${socket.remoteAddress} ${String(headers['x-forwarded-for'])}`;
  return {
    of: (request) => known.get(keyOf(request)),
    learn(request, address) {
      if (known.size >= REMEMBERED) known.clear();
      known.set(keyOf(request), address);
    },
  };
}
