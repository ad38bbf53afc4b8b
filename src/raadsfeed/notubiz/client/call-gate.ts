import { setTimeout as sleep } from 'node:timers/promises';
import { NotubizError } from './notubiz-error.ts';

/** A supplier is not left alone for longer than a day, whatever it asks (milliseconds). */
const LONGEST_CLOSURE = 86_400_000;

/** Lets at most so many calls through at once, and none before the moment that the supplier asked for. */
export class CallGate {
  readonly #limit: number;
  readonly #patience: number;
  #running = 0;
  #closedUntil = 0;
  readonly #waiting: (() => void)[] = [];

  /**
   * @param limit calls at once
   * @param patience milliseconds that a call waits for the gate to open; when it takes longer the call fails at once
   */
  constructor(limit: number, patience: number) {
    this.#limit = limit;
    this.#patience = patience;
  }

  /** Nobody calls for this long (milliseconds). */
  closeFor(wait: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, performance.now() + Math.min(wait, LONGEST_CLOSURE));
  }

  /** @throws {NotubizError} `unavailable` when the supplier asked to be left alone for longer than a call waits */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter();
    try {
      signal.throwIfAborted();
      for (let wait = this.#wait(); wait > 0; wait = this.#wait()) {
        if (wait > this.#patience) throw new NotubizError('unavailable', 'asked to wait', { retryAfter: wait });
        await sleep(wait, undefined, { signal });
      }
      return await call();
    } finally {
      this.#leave();
    }
  }

  #wait(): number {
    return Math.ceil(this.#closedUntil - performance.now());
  }

  /** A turn is handed over by who leaves, so waiting calls go in order; an aborted one passes its turn on at once. */
  async #enter(): Promise<void> {
    if (this.#running < this.#limit) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
