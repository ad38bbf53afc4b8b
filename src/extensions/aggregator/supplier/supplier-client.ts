/** Calls to the API of a supplier, within the limits that hold for its host: over all organisations, instances and commands together. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../../../lib/json/json-value.ts';
import type { ProxySettings } from '../../../lib/outbound/guarded-fetch.ts';
import { backoffMs, createOutboundClient, type OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../../lib/outbound/outbound-error.ts';
import { type Clock, systemClock } from '../../../lib/time.ts';

/**
 * A call that failed, after the retries.
 * - `status`: an HTTP status other than 200
 * - `unavailable`: no connection, no answer in time, or it broke off
 * - `unreadable`: too large, or not JSON, or not what was requested
 */
export class SupplierError extends Error {
  override readonly name = 'SupplierError';
  readonly kind: 'status' | 'unavailable' | 'unreadable';
  /** Present with kind `status`. */
  readonly status: number | undefined;
  /** Milliseconds that the supplier asks to wait. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: SupplierError['kind'],
    message: string,
    more: { status?: number; retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.kind = kind;
    this.status = more.status;
    this.retryAfter = more.retryAfter;
  }

  /** Whether the same call may well succeed later. */
  get passing(): boolean {
    if (this.kind === 'unavailable') return true;
    return this.status !== undefined && (this.status === 429 || this.status === 408 || this.status >= 500);
  }
}

const UNREADABLE: ReadonlySet<OutboundError['code']> = new Set(['too-large', 'encoding', 'content-type', 'not-json']);

/** The failed call, with what the supplier says about it: its errors are JSON with a `message`, or a page of a proxy. */
function asSupplierError(error: OutboundError): SupplierError {
  const { code, message, status, retryAfterMs, problem } = error;
  if (status !== undefined) {
    const said = isRecord(problem) && typeof problem.message === 'string' ? `: ${problem.message.slice(0, 200)}` : '';
    return new SupplierError('status', message + said, { status, retryAfter: retryAfterMs });
  }
  return new SupplierError(UNREADABLE.has(code) ? 'unreadable' : 'unavailable', message, { cause: error });
}

export interface RetryPolicy {
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
 * @throws {SupplierError} the last failure
 */
export async function withRetries<T>(call: () => Promise<T>, policy: RetryPolicy, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof SupplierError) || !error.passing || attempt >= policy.attempts) throw error;
      const floor = error.retryAfter ?? 0;
      if (floor > policy.maxDelay) throw error;
      const wait = backoffMs({ firstMs: policy.firstDelay, maxMs: policy.maxDelay }, attempt, floor);
      await sleep(wait, undefined, { signal });
    }
  }
}

/**
 * Slots for calls to one host, shared by everything that calls it: the instances of a service, and commands beside them.
 * Without them the limits hold for one process.
 */
export interface CallSlots {
  acquire(): Promise<CallSlot>;
  /** Nobody acquires a slot for this long (milliseconds). Never throws. */
  pauseFor(ms: number): Promise<void>;
  /** Stops renewing slots. */
  close(): void;
}

export type CallSlot =
  /** Never throws: a slot that cannot be released expires. */
  | { readonly kind: 'acquired'; readonly release: () => Promise<void> }
  /** All of them are taken. */
  | { readonly kind: 'busy' }
  /** The supplier asked not to be called, for so many milliseconds more. */
  | { readonly kind: 'paused'; readonly waitMs: number };

/** Longest pause that a supplier can ask for (milliseconds): a day. */
const MAX_PAUSE_MS = 86_400_000;
/** Milliseconds between attempts to acquire a slot; up to half as much is added at random, so that no process is always last. */
const SLOT_RETRY_MS = 100;

/** Lets at most so many calls to a host run at once, and none while the supplier asked for a pause. */
class CallLimiter {
  readonly #limit: number;
  readonly #maxWaitMs: number;
  readonly #slots: CallSlots | undefined;
  #running = 0;
  #pausedUntil = 0;
  readonly #queue: (() => void)[] = [];

  constructor(limit: number, maxWaitMs: number, slots: CallSlots | undefined) {
    this.#limit = limit;
    this.#maxWaitMs = maxWaitMs;
    this.#slots = slots;
  }

  async pauseFor(ms: number): Promise<void> {
    const bounded = Math.min(ms, MAX_PAUSE_MS);
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + bounded);
    await this.#slots?.pauseFor(bounded);
  }

  /** @throws {SupplierError} `unavailable` when the supplier asked for a longer pause than a call waits */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    // The queue keeps the processes from polling for shared slots with every call that waits.
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#running += 1;
    try {
      const release = await this.#acquire(signal);
      return await call().finally(release);
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Waits until no pause holds and a shared slot is free. @returns what releases the slot */
  async #acquire(signal: AbortSignal): Promise<() => Promise<void>> {
    for (;;) {
      signal.throwIfAborted();
      let wait = Math.ceil(this.#pausedUntil - performance.now());
      if (wait <= 0) {
        if (this.#slots === undefined) return async () => undefined;
        const slot = await this.#slots.acquire();
        if (slot.kind === 'acquired') return slot.release;
        wait = slot.kind === 'paused' ? Math.ceil(slot.waitMs) : SLOT_RETRY_MS * (1 + Math.random() / 2);
      }
      if (wait > this.#maxWaitMs) throw new SupplierError('unavailable', 'asked to wait', { retryAfter: wait });
      await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

type Query = Readonly<Record<string, string>>;

export interface SupplierClientOptions {
  /** Base address without a trailing slash. */
  readonly base: string;
  /** Members of every query. */
  readonly query?: Query;
  /** Lets the base be an inner address. */
  readonly allowPrivate: boolean;
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
  /** Call slots that are shared with other processes. The client closes them. */
  readonly slots?: CallSlots;
}

export class SupplierClient {
  readonly base: string;
  readonly #query: Query;
  readonly #retry: RetryPolicy;
  readonly #limiter: CallLimiter;
  readonly #outbound: OutboundClient;
  readonly #slots: CallSlots | undefined;

  constructor(options: SupplierClientOptions) {
    const { base, query = {}, allowPrivate, concurrency: connections = 4, retry = RETRY_POLICY, slots } = options;
    this.base = base;
    this.#query = query;
    this.#retry = retry;
    this.#slots = slots;
    this.#limiter = new CallLimiter(connections, retry.maxDelay, slots);
    this.#outbound = createOutboundClient({
      clock: options.clock ?? systemClock,
      timeoutMs: options.timeout ?? 90_000,
      maxBytes: options.maxBytes ?? 67_108_864,
      connections,
      ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
      allowPrivate,
    });
  }

  /**
   * The response as JSON, unchecked. Redirects are not followed: the address was configured.
   * @param path from the base, with a leading slash
   * @param attempts calls at most, where that is less than usual: for a list that can be requested in parts
   * @throws {SupplierError} when no usable answer came, after the retries; the signal's reason when it is aborted
   */
  async get(path: string, query: Query, signal: AbortSignal, attempts = this.#retry.attempts): Promise<unknown> {
    const url = new URL(this.base + path);
    for (const [name, value] of Object.entries({ ...query, ...this.#query })) url.searchParams.set(name, value);
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
      throw asSupplierError(error);
    }
  }
}
