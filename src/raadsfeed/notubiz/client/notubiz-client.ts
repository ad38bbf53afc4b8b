import type { ProxySettings } from '../../../kernel/outbound/address-guard.ts';
import { OutboundError } from '../../../kernel/outbound/address-guard.ts';
import { createOutboundClient, type OutboundClient } from '../../../kernel/outbound/outbound-client.ts';
import { type Clock, systemClock } from '../../../kernel/time.ts';
import { CallGate } from './call-gate.ts';
import type { CallTurns } from './call-turns.ts';
import { asNotubizError } from './notubiz-error.ts';
import { RETRY_POLICY, type RetryPolicy, withRetries } from './retry.ts';

/** The public API of NotuBiz. */
export const PUBLIC_BASE = 'https://api.notubiz.nl';

/** The version whose answers this adapter knows. */
const VERSION = '1.17.0';

export interface NotubizClientOptions {
  /** Base address without a trailing slash. Default: the public API. */
  readonly base?: string;
  /** Calls at once. Default 4. */
  readonly concurrency?: number;
  /** Milliseconds for one call, its body included. Default 90 000. */
  readonly timeout?: number;
  /** Bytes of an answer at most, after decompression. Default 64 MiB. */
  readonly maxBytes?: number;
  readonly retry?: RetryPolicy;
  readonly clock?: Clock;
  /** By way of which the calls go; absent: direct. */
  readonly proxy?: ProxySettings;
  /** Turns that are shared with other processes; absent: the limits hold for this client. The client closes them. */
  readonly turns?: CallTurns;
}

export type Query = Readonly<Record<string, string>>;

/** Calls NotuBiz within the limits that hold for all its organisations together. */
export class NotubizClient {
  readonly base: string;
  readonly #retry: RetryPolicy;
  readonly #gate: CallGate;
  readonly #outbound: OutboundClient;
  readonly #turns: CallTurns | undefined;

  constructor(options: NotubizClientOptions = {}) {
    const connections = options.concurrency ?? 4;
    this.base = options.base ?? PUBLIC_BASE;
    this.#retry = options.retry ?? RETRY_POLICY;
    this.#turns = options.turns;
    this.#gate = new CallGate({ limit: connections, patience: this.#retry.maxDelay, turns: options.turns });
    this.#outbound = createOutboundClient({
      clock: options.clock ?? systemClock,
      timeoutMs: options.timeout ?? 90_000,
      maxBytes: options.maxBytes ?? 67_108_864,
      connections,
      ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
      // An address that an operator configured may be an inner one.
      allowPrivate: options.base !== undefined,
    });
  }

  /**
   * One answer, parsed but not judged. Redirects are not followed: the address was configured.
   * @param path from the base, with a leading slash
   * @param attempts calls at most, where that is less than usual: for an answer that can be asked for in parts
   * @throws {NotubizError} when no usable answer came, after the retries; the signal's reason when it is aborted
   */
  async get(path: string, query: Query, signal: AbortSignal, attempts = this.#retry.attempts): Promise<unknown> {
    const url = new URL(this.base + path);
    const all = { ...query, format: 'json', version: VERSION };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    const call = (): Promise<unknown> => this.#gate.run(() => this.#once(url, signal), signal);
    const policy = { ...this.#retry, attempts: Math.min(attempts, this.#retry.attempts) };
    return await withRetries(call, policy, signal);
  }

  async close(): Promise<void> {
    this.#turns?.close();
    await this.#outbound.close();
  }

  async #once(url: URL, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.#outbound.getJson({ url: url.href, signal, redirects: 'none' });
      return answer.changed ? answer.json : undefined;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.retryAfterMs !== undefined) await this.#gate.closeFor(error.retryAfterMs);
      throw asNotubizError(error);
    }
  }
}
