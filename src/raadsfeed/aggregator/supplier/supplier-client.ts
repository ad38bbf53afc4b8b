/** Calls to a supplier's API within the limits of its host, which all organisations, instances and commands share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../../../lib/json/json-value.ts';
import type { ProxySettings } from '../../../lib/outbound/guarded-fetch.ts';
import {
  createOutboundClient,
  type OutboundClient,
  type OutboundTextRequest,
} from '../../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../../lib/outbound/outbound-error.ts';
import { createSemaphore, type Semaphore } from '../../../lib/scheduling.ts';
import { backoffMs, type Clock, systemClock } from '../../../lib/time.ts';

interface Failure {
  readonly status?: number | undefined;
  /** Milliseconds. */
  readonly retryAfter?: number | undefined;
  /** Whether the same call may succeed later, where kind and status do not say so. */
  readonly passing?: boolean | undefined;
  /** The host does not answer: other calls to it wait. */
  readonly hangs?: boolean;
  readonly cause?: unknown;
}

/**
 * A call that failed, after the retries.
 * - `status`: an HTTP status other than 200
 * - `unavailable`: no connection, no answer in time, or it broke off
 * - `unreadable`: too large, or not JSON, or not what was requested
 */
export class SupplierError extends Error {
  override readonly name = 'SupplierError';
  readonly kind: 'status' | 'unavailable' | 'unreadable';
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;
  readonly hangs: boolean;
  readonly passing: boolean;

  constructor(kind: SupplierError['kind'], message: string, failure: Failure = {}) {
    const { status = 0, retryAfter, passing, hangs = false, cause } = failure;
    super(message, cause === undefined ? {} : { cause });
    this.kind = kind;
    this.status = failure.status;
    this.retryAfter = retryAfter;
    this.hangs = hangs;
    this.passing = passing ?? (kind === 'unavailable' || status === 429 || status === 408 || status >= 500);
  }

  get isMissing(): boolean {
    return this.status === 404 || this.status === 410;
  }
}

export async function orMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SupplierError && error.isMissing) return undefined;
    throw error;
  }
}

/**
 * Why a source cannot be read at all; the message says what somebody can do. Nothing more is read, published or stored for it.
 * - `blocked`: the supplier blocks the address of this service
 * - `no-access`: it does not serve this address
 * - `unknown-organisation`: it does not know the organisation
 * - `not-public`: the organisation has not opened its data
 * - `no-answer`: its host accepts calls but does not answer them
 */
export class SupplierFault extends Error {
  override readonly name = 'SupplierFault';
  readonly code: 'blocked' | 'no-access' | 'unknown-organisation' | 'not-public' | 'no-answer';

  constructor(code: SupplierFault['code'], message: string) {
    super(message);
    this.code = code;
  }
}

interface RetryPolicy {
  readonly attempts: number;
  /** Milliseconds; doubled with each attempt. */
  readonly firstDelay: number;
  /** A longer `Retry-After` ends the attempts: the window is read another time. */
  readonly maxDelay: number;
}

/** Waits at most 1, 2 and 4 seconds, or `Retry-After` up to five minutes. */
export const RETRY_POLICY: RetryPolicy = { attempts: 4, firstDelay: 1000, maxDelay: 300_000 };

/** Retries temporary failures, but not of a host that hangs. @throws {SupplierError} the last failure */
export async function withRetries<T>(call: () => Promise<T>, policy: RetryPolicy, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof SupplierError) || !error.passing || error.hangs || attempt >= policy.attempts) throw error;
      const floor = error.retryAfter ?? 0;
      if (floor > policy.maxDelay) throw error;
      const wait = backoffMs({ firstMs: policy.firstDelay, maxMs: policy.maxDelay }, attempt, floor);
      await sleep(wait, undefined, { signal });
    }
  }
}

/** Call slots of one host, shared by instances and commands. */
export interface CallSlots {
  /** `release` never throws: a slot that was not released expires. Without a free slot: milliseconds until the next attempt. */
  acquire(): Promise<
    { readonly release: () => Promise<void> } | { readonly waitMs: number } | { readonly blocked: string }
  >;
  pauseFor(ms: number): Promise<void>;
  /** Until an operator resumes the supplier. */
  block(reason: string): Promise<void>;
}

/** A supplier's refusal: it is not called for a while, or until an operator resumes it. */
export type Refusal = { readonly pauseMs: number } | { readonly block: string };

const UNREADABLE: ReadonlySet<OutboundError['code']> = new Set(['too-large', 'encoding', 'content-type', 'not-json']);
const MAX_PAUSE_MS = 86_400_000;
const TIMEOUT_MS = 90_000;
/** Per signal, so that an organisation whose calls hang does not hold up the others. */
const MAX_VAIN = 20;

type Query = Readonly<Record<string, string>>;

export interface SupplierClientOptions {
  readonly base: string;
  readonly query?: Query;
  /** Allows a private base address, and one without encryption. */
  readonly allowPrivate: boolean;
  readonly concurrency?: number;
  readonly timeout?: number;
  /** After decompression. */
  readonly maxBytes?: number;
  readonly retry?: RetryPolicy;
  readonly clock?: Clock;
  readonly proxy?: ProxySettings | undefined;
  /** Absent: the limits hold for this process only. */
  readonly slots?: CallSlots | undefined;
  readonly ipv4Only?: boolean;
  /** Interprets failures by which a supplier means more than HTTP does. */
  readonly refusalOf?: (error: OutboundError) => Refusal | undefined;
}

/** A text for the base address, and a reader of its answer. */
export interface SupplierPost<T> extends Pick<OutboundTextRequest, 'body' | 'headers' | 'accepts'> {
  /** @throws {SupplierError} {SupplierFault} for a failure in the answer */
  readonly read: (text: string) => Promise<T>;
}

export class SupplierClient {
  readonly base: string;
  readonly #options: SupplierClientOptions;
  readonly #retry: RetryPolicy;
  readonly #timeoutMs: number;
  readonly #outbound: OutboundClient;
  /** Otherwise every waiting call would poll for shared slots. */
  readonly #calls: Semaphore;
  #pausedUntil = 0;
  /** A call requested before the host was found to hang is not sent until the host answers again. */
  #answeredAt = 0;
  #hungAt = 0;
  readonly #vain = new WeakMap<AbortSignal, number>();

  constructor(options: SupplierClientOptions) {
    const { base, concurrency: connections = 4, maxBytes = 67_108_864, clock = systemClock } = options;
    const { allowPrivate, proxy, ipv4Only = false, timeout: timeoutMs = TIMEOUT_MS, retry = RETRY_POLICY } = options;
    this.base = base;
    this.#options = options;
    this.#retry = retry;
    this.#timeoutMs = timeoutMs;
    const full = () => new SupplierError('unavailable', 'too many calls wait');
    this.#calls = createSemaphore({ maxWeight: connections, waitMs: MAX_PAUSE_MS, full });
    this.#outbound = createOutboundClient({ clock, timeoutMs, maxBytes, connections, proxy, allowPrivate, ipv4Only });
  }

  /**
   * Unchecked JSON. Redirects are not followed: the address was configured.
   * @param attempts fewer than usual for a list that can be requested in parts
   * @throws {SupplierError} after the retries; {SupplierFault}; the signal's reason
   */
  async get(path: string, query: Query, signal: AbortSignal, attempts?: number): Promise<unknown> {
    const url = new URL(this.base + path);
    for (const [name, value] of Object.entries({ ...query, ...this.#options.query })) url.searchParams.set(name, value);
    return await this.#call(signal, attempts, async () => {
      const answer = await this.#outbound.getJson({ url: url.href, signal, redirects: 'none' });
      return answer.changed ? answer.json : undefined;
    });
  }

  /** As `get`. */
  async post<T>({ read, ...request }: SupplierPost<T>, signal: AbortSignal, attempts?: number): Promise<T> {
    return await this.#call(signal, attempts, async () => {
      return await read(await this.#outbound.postText({ ...request, url: this.base, signal, redirects: 'none' }));
    });
  }

  async close(): Promise<void> {
    await this.#outbound.close();
  }

  async #call<T>(signal: AbortSignal, attempts = this.#retry.attempts, call: () => Promise<T>): Promise<T> {
    // Commands run even if settings contradict each other.
    if (!this.#options.allowPrivate && !this.base.startsWith('https:')) {
      throw new SupplierError('unreadable', 'an address begins with https: unless AGGREGATOR_ALLOW_PRIVATE is set');
    }
    const policy = { ...this.#retry, attempts: Math.min(attempts, this.#retry.attempts) };
    return await withRetries(() => this.#limited(call, signal), policy, signal);
  }

  async #limited<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const requestedAt = performance.now();
    const permit = await this.#calls.acquire({ weight: 1 }, signal);
    try {
      const release = await this.#acquire(signal, requestedAt);
      return await this.#once(call, signal, requestedAt).finally(release);
    } finally {
      permit.release();
    }
  }

  /** @returns what releases a slot @throws {SupplierError} for a pause longer than a call waits, or a host that hangs; {SupplierFault} `blocked` */
  async #acquire(signal: AbortSignal, requestedAt: number): Promise<() => Promise<void>> {
    for (;;) {
      signal.throwIfAborted();
      // Before it takes a slot, because a call that is not sent would count as one of the calls of a minute.
      this.#assertAnswers(signal, requestedAt);
      let wait = Math.ceil(this.#pausedUntil - performance.now());
      if (wait <= 0) {
        const slot = (await this.#options.slots?.acquire()) ?? { release: async () => undefined };
        if ('release' in slot) return slot.release;
        if ('blocked' in slot) throw new SupplierFault('blocked', slot.blocked);
        wait = Math.ceil(slot.waitMs);
      }
      if (wait > this.#retry.maxDelay) throw new SupplierError('unavailable', 'asked to wait', { retryAfter: wait });
      await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  async #once<T>(call: () => Promise<T>, signal: AbortSignal, requestedAt: number): Promise<T> {
    this.#assertAnswers(signal, requestedAt);
    const begunAt = performance.now();
    try {
      const answer = await call();
      this.#answeredAt = performance.now();
      return answer;
    } catch (error) {
      // An answer with an error is an answer too.
      if (error instanceof SupplierError || error instanceof SupplierFault) this.#answeredAt = performance.now();
      throw error instanceof OutboundError ? await this.#judge(error, signal, begunAt) : error;
    }
  }

  /** What a failed call means for this call, and for others. @throws {SupplierFault} `blocked` */
  async #judge(error: OutboundError, signal: AbortSignal, begunAt: number): Promise<SupplierError> {
    const { code, message, status, problem } = error;
    const refusal = this.#options.refusalOf?.(error);
    if (refusal !== undefined && 'block' in refusal) {
      await this.#options.slots?.block(refusal.block);
      throw new SupplierFault('blocked', refusal.block);
    }
    const retryAfter = error.retryAfterMs ?? refusal?.pauseMs;
    // Errors of suppliers are JSON with a `message`, or a page of a proxy.
    const said = isRecord(problem) && typeof problem.message === 'string' ? `: ${problem.message.slice(0, 200)}` : '';
    const failed =
      status === undefined
        ? new SupplierError(UNREADABLE.has(code) ? 'unreadable' : 'unavailable', message, { cause: error })
        : new SupplierError('status', message + said, {
            status,
            retryAfter,
            passing: refusal === undefined ? undefined : true,
          });
    const now = performance.now();
    if (retryAfter !== undefined) {
      this.#answeredAt = now;
      const pauseMs = Math.min(retryAfter, MAX_PAUSE_MS);
      this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
      await this.#options.slots?.pauseFor(pauseMs);
      return failed;
    }
    // A proxy may have given up on its host: a call that failed after this long counts as unanswered.
    const isVain = failed.passing && now - begunAt >= this.#timeoutMs / 2;
    if (isVain) this.#vain.set(signal, (this.#vain.get(signal) ?? 0) + 1);
    else if (failed.kind !== 'unavailable') this.#answeredAt = now;
    if (!isVain || this.#answeredAt > begunAt) return failed;
    this.#hungAt = now;
    return this.#hangs(message + said);
  }

  /** @throws {SupplierError} when the host hangs, or this signal has used its share of unanswered calls */
  #assertAnswers(signal: AbortSignal, requestedAt: number): void {
    const hasHung = this.#hungAt > requestedAt && this.#answeredAt < this.#hungAt;
    if (hasHung || (this.#vain.get(signal) ?? 0) >= MAX_VAIN) throw this.#hangs('left for another time');
  }

  #hangs(why: string): SupplierError {
    return new SupplierError('unavailable', `${new URL(this.base).host} does not answer: ${why}`, { hangs: true });
  }
}

export interface PoolOptions extends Pick<SupplierClientOptions, 'retry' | 'timeout' | 'maxBytes' | 'proxy'> {
  readonly clock: Clock;
  readonly allowPrivate: boolean;
  readonly slots?: (host: string) => CallSlots;
}

/** One client for each organisation's address. The limit of calls belongs to the host. */
export function createClientPool({ slots, ...options }: PoolOptions) {
  const clients = new Map<string, SupplierClient>();
  return {
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
