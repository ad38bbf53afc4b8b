import type { Clock } from '../../../lib/time.ts';
import type { Config } from '../../../settings/read-config.ts';
import { type CallSlots, SupplierClient, type SupplierClientOptions } from './supplier-client.ts';

/** Shared by the clients of a supplier with many hosts. */
export interface PoolOptions extends Pick<SupplierClientOptions, 'retry' | 'timeout' | 'maxBytes'> {
  readonly clock: Clock;
  readonly allowPrivate: boolean;
  readonly proxy?: Config['server'] | undefined;
  /** Shares the limit of a host with other processes. */
  readonly slots?: (host: string) => CallSlots;
}

/** One client for each organisation's address. The limit of calls belongs to the host. */
export function createClientPool({ slots, ...options }: PoolOptions) {
  const clients = new Map<string, SupplierClient>();
  return {
    /** @param base without a trailing slash */
    at(base: string): SupplierClient {
      const client = clients.get(base) ?? new SupplierClient({ ...options, base, slots: slots?.(new URL(base).host) });
      clients.set(base, client);
      return client;
    },
    close: async (): Promise<void> => {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}
