import { setTimeout as sleep } from 'node:timers/promises';
import type { ProxySettings } from '../../../lib/outbound/guarded-fetch.ts';
import { backoffMs, createOutboundClient, type OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../../lib/outbound/outbound-error.ts';
import { type Clock, systemClock } from '../../../lib/time.ts';
import { CallLimiter, type CallSlots } from './call-limiter.ts';
import { asNotubizError, NotubizError } from './notubiz-error.ts';

/** The public API of NotuBiz. */
const PUBLIC_BASE = 'https://api.notubiz.nl';

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
  /** Call slots that are shared with other processes; absent: the limits hold for this client. The client closes them. */
  readonly slots?: CallSlots;
}

type Query = Readonly<Record<string, string>>;

/** Calls NotuBiz within the limits that hold for all its organisations together. */
export class NotubizClient {
  readonly base: string;
  readonly #retry: RetryPolicy;
  readonly #limiter: CallLimiter;
  readonly #outbound: OutboundClient;
  readonly #slots: CallSlots | undefined;

  constructor(options: NotubizClientOptions = {}) {
    const connections = options.concurrency ?? 4;
    this.base = options.base ?? PUBLIC_BASE;
    this.#retry = options.retry ?? RETRY_POLICY;
    this.#slots = options.slots;
    this.#limiter = new CallLimiter({ limit: connections, maxWaitMs: this.#retry.maxDelay, slots: options.slots });
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
   * The response as JSON, unchecked. Redirects are not followed: the address was configured.
   * @param path from the base, with a leading slash
   * @param attempts calls at most, where that is less than usual: for a list that can be requested in parts
   * @throws {NotubizError} when no usable answer came, after the retries; the signal's reason when it is aborted
   */
  async get(path: string, query: Query, signal: AbortSignal, attempts = this.#retry.attempts): Promise<unknown> {
    const url = new URL(this.base + path);
    const all = { ...query, format: 'json', version: VERSION };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    const call = (): Promise<unknown> => this.#limiter.run(() => this.#once(url, signal), signal);
    const policy = { ...this.#retry, attempts: Math.min(attempts, this.#retry.attempts) };
    return await withRetries(call, policy, signal);
  }

  async close(): Promise<void> {
    this.#slots?.close();
    await this.#outbound.close();
  }

  async #once(url: URL, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.#outbound.getJson({ url: url.href, signal, redirects: 'none' });
      return answer.changed ? answer.json : undefined;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      if (error.retryAfterMs !== undefined) await this.#limiter.pauseFor(error.retryAfterMs);
      throw asNotubizError(error);
    }
  }
}

interface RetryPolicy {
  /** Calls in all, the first one included. */
  readonly attempts: number;
  /** Milliseconds of the first wait at most; doubles with each attempt. */
  readonly firstDelay: number;
  /** Milliseconds of any wait at most. A `Retry-After` beyond it ends the attempts: the window is read another time. */
  readonly maxDelay: number;
}

/** Default: four calls, waiting at most 1, 2 and 4 seconds or what `Retry-After` says, up to five minutes. */
export const RETRY_POLICY: RetryPolicy = { attempts: 4, firstDelay: 1000, maxDelay: 300_000 };

/**
 * Retries temporary failures: exponential backoff, half of it random, never sooner than `Retry-After`.
 * @throws {NotubizError} the last failure
 */
export async function withRetries<T>(call: () => Promise<T>, policy: RetryPolicy, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof NotubizError) || !error.passing || attempt >= policy.attempts) throw error;
      const wait = delay(attempt, error.retryAfter ?? 0, policy);
      if (wait === undefined) throw error;
      await sleep(wait, undefined, { signal });
    }
  }
}

function delay(attempt: number, floor: number, policy: RetryPolicy): number | undefined {
  if (floor > policy.maxDelay) return undefined;
  return backoffMs({ firstMs: policy.firstDelay, maxMs: policy.maxDelay }, attempt, floor);
}
