import { setTimeout as sleep } from 'node:timers/promises';
import { NotubizError } from './notubiz-error.ts';

/** A supplier is not left alone for longer than a day, whatever it asks (milliseconds). */
const LONGEST_CLOSURE = 86_400_000;
/** Milliseconds at least between looks for a turn that others gave back; half as much more by chance, so that nobody is always last. */
const LOOK_MS = 100;

interface CallGateOptions {
  /** Calls at once. */
  readonly limit: number;
  /** Milliseconds that a call waits for the gate to open; when it takes longer the call fails at once. */
  readonly patience: number;
  /** Shares the limit, and the supplier's wish to be left alone, with other processes. */
  readonly turns?: CallTurns | undefined;
}

/** Lets at most so many calls through at once, and none before the moment that the supplier asked for. */
export class CallGate {
  readonly #limit: number;
  readonly #patience: number;
  readonly #turns: CallTurns | undefined;
  #running = 0;
  #closedUntil = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ limit, patience, turns }: CallGateOptions) {
    this.#limit = limit;
    this.#patience = patience;
    this.#turns = turns;
  }

  /** Nobody calls for this long (milliseconds). */
  async closeFor(wait: number): Promise<void> {
    const bounded = Math.min(wait, LONGEST_CLOSURE);
    this.#closedUntil = Math.max(this.#closedUntil, performance.now() + bounded);
    await this.#turns?.closeFor(bounded);
  }

  /** @throws {NotubizError} `unavailable` when the supplier asked to be left alone for longer than a call waits */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter();
    try {
      const giveBack = await this.#takeTurn(signal);
      try {
        return await call();
      } finally {
        await giveBack();
      }
    } finally {
      this.#leave();
    }
  }

  /** Waits until the supplier may be called, and a turn is free. @returns what gives the turn back */
  async #takeTurn(signal: AbortSignal): Promise<() => Promise<void>> {
    for (;;) {
      signal.throwIfAborted();
      const wait = Math.ceil(this.#closedUntil - performance.now());
      if (wait > 0) {
        await this.#wait(wait, signal);
        continue;
      }
      if (this.#turns === undefined) return async () => undefined;
      const turn = await this.#turns.take();
      if (turn.kind === 'taken') return turn.giveBack;
      if (turn.kind === 'closed') await this.#wait(Math.ceil(turn.wait), signal);
      else await sleep(LOOK_MS * (1 + Math.random() / 2), undefined, { signal });
    }
  }

  async #wait(wait: number, signal: AbortSignal): Promise<void> {
    if (wait > this.#patience) throw new NotubizError('unavailable', 'asked to wait', { retryAfter: wait });
    await sleep(wait, undefined, { signal });
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

/**
 * Turns for calls to one supplier, shared by everything that calls it: instances of a service, and commands beside them. Without
 * them the limits hold for one process.
 */
export interface CallTurns {
  /** Takes a turn, if one is free and the supplier did not ask to be left alone. */
  take(): Promise<CallTurn>;
  /** Nobody gets a turn for this long (milliseconds). Never throws. */
  closeFor(wait: number): Promise<void>;
  /** Stops keeping turns alive. */
  close(): void;
}

export type CallTurn =
  /** Never throws: a turn that cannot be given back runs out by itself. */
  | { readonly kind: 'taken'; readonly giveBack: () => Promise<void> }
  /** All of them are taken. */
  | { readonly kind: 'busy' }
  /** The supplier asked to be left alone, for so many milliseconds more. */
  | { readonly kind: 'closed'; readonly wait: number };
