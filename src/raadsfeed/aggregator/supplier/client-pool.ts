import type { Clock } from '../../../lib/time.ts';
import type { Config } from '../../../settings/read-config.ts';
import { type CallSlots, SupplierClient, type SupplierClientOptions } from './supplier-client.ts';

/** What the clients of a supplier with many hosts share. */
export interface PoolOptions extends Pick<SupplierClientOptions, 'retry' | 'timeout' | 'maxBytes'> {
  readonly clock: Clock;
  readonly allowPrivate: boolean;
  readonly proxy?: Config['server'] | undefined;
  /** Shares the limit of a host with other processes; absent: it holds for this one. */
  readonly slots?: (host: string) => CallSlots;
}

/** The clients of a supplier that has an address for each organisation. The limit of calls at a time belongs to the host. */
export class ClientPool {
  readonly #options: PoolOptions;
  readonly #clients = new Map<string, SupplierClient>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @param base address of an organisation at the supplier, without a trailing slash */
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
