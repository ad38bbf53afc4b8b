import type { FastifyRateLimitStore } from '@fastify/rate-limit';

/** Clients that are remembered at once; the one seen longest ago makes place. */
const REMEMBERED_CLIENTS = 10_000;

/** How often a client has called in its present window. */
export interface RateCount {
  readonly current: number;
  /** Milliseconds until the window ends. */
  readonly ttl: number;
}

/** Counts calls per client in windows of fixed length. One counter serves every way in, so that none is a way round the limit. */
export class RateCounter implements FastifyRateLimitStore {
  readonly max: number;
  readonly #windowMs: number;
  readonly #windows = new Map<string, { count: number; endsAt: number }>();

  /** @param max calls per window */
  constructor(max: number, windowMs: number) {
    this.max = max;
    this.#windowMs = windowMs;
  }

  /** Counts a call. */
  hit(key: string): RateCount {
    const now = Date.now();
    const known = this.#windows.get(key);
    if (known !== undefined && known.endsAt > now) {
      known.count += 1;
      return { current: known.count, ttl: known.endsAt - now };
    }
    this.#windows.delete(key);
    if (this.#windows.size >= REMEMBERED_CLIENTS) this.#forgetOldest();
    this.#windows.set(key, { count: 1, endsAt: now + this.#windowMs });
    return { current: 1, ttl: this.#windowMs };
  }

  /** Whether one more call would still be within the limit. */
  hasRoom(key: string): boolean {
    const known = this.#windows.get(key);
    return known === undefined || known.endsAt <= Date.now() || known.count < this.max;
  }

  /** What the plugin asks of a store. */
  incr(key: string, callback: (error: Error | null, result?: RateCount) => void): void {
    callback(null, this.hit(key));
  }

  child(): RateCounter {
    return this;
  }

  #forgetOldest(): void {
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined) this.#windows.delete(oldest);
  }
}
