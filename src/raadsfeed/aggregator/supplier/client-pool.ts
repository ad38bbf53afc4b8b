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
export class ClientPool {
  readonly #options: PoolOptions;
  readonly #clients = new Map<string, SupplierClient>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @param base without a trailing slash */
  at(base: string): SupplierClient {
    const known = this.#clients.get(base);
    if (known !== undefined) return known;
    const client = new SupplierClient({ ...this.#options, base, slots: this.#options.slots?.(new URL(base).host) });
    this.#clients.set(base, client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }
}
