import { LRUCache } from 'lru-cache';

/** Bytes of clients that are remembered, their names included: about ten thousand of them. The one that called longest ago goes first. */
const REMEMBERED_BYTES = 2 * 1024 * 1024;
/** What an entry takes beside its key. */
const ENTRY_BYTES = 128;

/** How often a client has called in its present window. */
export interface RateCount {
  readonly current: number;
  /** Milliseconds until the window ends. */
  readonly ttl: number;
}

/** Counts calls per client in windows of fixed length. */
export class RateCounter {
  readonly max: number;
  readonly #windowMs: number;
  readonly #windows = new LRUCache<string, { count: number; readonly endsAt: number }>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (_window, key) => 2 * key.length + ENTRY_BYTES,
  });

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
    this.#windows.set(key, { count: 1, endsAt: now + this.#windowMs });
    return { current: 1, ttl: this.#windowMs };
  }
}
