import { setTimeout as sleep } from 'node:timers/promises';
import { NotubizError } from './notubiz-error.ts';

/**
 * Slots for calls to one supplier, shared by everything that calls it: the instances of a service, and commands beside them.
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
const RETRY_MS = 100;

export interface CallLimiterOptions {
  /** Calls at once. */
  readonly limit: number;
  /** Milliseconds that a call waits for a pause to end; when the pause is longer the call fails at once. */
  readonly maxWaitMs: number;
  /** Shares the limit and the pauses with other processes. */
  readonly slots?: CallSlots | undefined;
}

/** Lets at most so many calls run at once, and none while the supplier asked for a pause. */
export class CallLimiter {
  readonly #limit: number;
  readonly #maxWaitMs: number;
  readonly #slots: CallSlots | undefined;
  #running = 0;
  #pausedUntil = 0;
  readonly #queue: (() => void)[] = [];

  constructor({ limit, maxWaitMs, slots }: CallLimiterOptions) {
    this.#limit = limit;
    this.#maxWaitMs = maxWaitMs;
    this.#slots = slots;
  }

  /** No call starts for this long (milliseconds). */
  async pauseFor(ms: number): Promise<void> {
    const bounded = Math.min(ms, MAX_PAUSE_MS);
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + bounded);
    await this.#slots?.pauseFor(bounded);
  }

  /** @throws {NotubizError} `unavailable` when the supplier asked for a longer pause than a call waits */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#acquireLocal();
    try {
      const release = await this.#acquireShared(signal);
      try {
        return await call();
      } finally {
        await release();
      }
    } finally {
      this.#releaseLocal();
    }
  }

  /** Waits until no pause holds and a shared slot is free. @returns what releases the slot */
  async #acquireShared(signal: AbortSignal): Promise<() => Promise<void>> {
    for (;;) {
      signal.throwIfAborted();
      const wait = Math.ceil(this.#pausedUntil - performance.now());
      if (wait > 0) {
        await this.#wait(wait, signal);
        continue;
      }
      if (this.#slots === undefined) return async () => undefined;
      const slot = await this.#slots.acquire();
      if (slot.kind === 'acquired') return slot.release;
      if (slot.kind === 'paused') await this.#wait(Math.ceil(slot.waitMs), signal);
      else await sleep(RETRY_MS * (1 + Math.random() / 2), undefined, { signal });
    }
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > this.#maxWaitMs) throw new NotubizError('unavailable', 'asked to wait', { retryAfter: ms });
    await sleep(ms, undefined, { signal });
  }

  /** A call that ends hands its slot to the next in the queue; one that was aborted meanwhile passes it on at once. */
  async #acquireLocal(): Promise<void> {
    if (this.#running < this.#limit) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  #releaseLocal(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
