// Connections to others: direct, or by way of the forward proxy that is configured.
import { type LookupAddress, lookup } from 'node:dns';
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';
import type { FetchJson } from '../oauth/remote-keys.ts';

export interface ProxySettings {
  /** Address of the forward proxy (secret: it may hold credentials); absent: none. */
  readonly outboundProxy: string | undefined;
  /** Hosts that are called directly all the same. */
  readonly outboundNoProxy: readonly string[];
}

/** @param options of the connections to others; a `lookup` in them does not see what goes by way of the proxy */
export function createOutboundAgent(
  { outboundProxy, outboundNoProxy }: ProxySettings,
  options: Agent.Options,
): Dispatcher {
  if (outboundProxy === undefined) return new Agent(options);
  // Named here, all of them: the library would take what is absent from the environment of the process.
  const proxy = { httpProxy: outboundProxy, httpsProxy: outboundProxy, noProxy: outboundNoProxy.join(',') };
  return new EnvHttpProxyAgent({ ...options, ...proxy });
}

/** The `fetch` for documents at addresses that an operator configured. */
export function createOutboundFetch(proxy: ProxySettings): { fetch: FetchJson; close(): Promise<void> } {
  if (proxy.outboundProxy === undefined) return { fetch: globalThis.fetch, close: async () => {} };
  const dispatcher = createOutboundAgent(proxy, {});
  return { fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }), close: () => dispatcher.destroy() };
}

export type Resolve = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** Every address of a host, by the system's resolver. */
export const systemResolve: Resolve = (host, done) => lookup(host, { all: true }, done);
