import { setTimeout as sleep } from 'node:timers/promises';

/** Lets at most so many calls through at once, and none before the moment that the supplier asked for. */
export class CallGate {
  readonly #limit: number;
  #running = 0;
  #closedUntil = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Nobody calls for this long (milliseconds). */
  closeFor(wait: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, performance.now() + wait);
  }

  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter();
    try {
      signal.throwIfAborted();
      for (let wait = this.#wait(); wait > 0; wait = this.#wait()) await sleep(wait, undefined, { signal });
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
