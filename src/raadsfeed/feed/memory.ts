/** The memory for answers that are being made: rows that were read, the body of them, and what it is compressed to. */

import { LRUCache } from 'lru-cache';
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';

interface MemorySemaphore {
  /**
   * Waits until there is room, in the order of asking. What would be alone is let in however large it is.
   * @param bytes about how many it will take
   * @throws {Problem} `unavailable` when there was no room in time; the signal's reason
   */
  acquire(bytes: number, signal: AbortSignal): Promise<MemoryLease>;
  readonly used: () => number;
}

interface MemoryLease {
  /** Says how many bytes it really takes. */
  resize(bytes: number): void;
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

export function createMemorySemaphore(maxBytes: number, waitMs: number): MemorySemaphore {
  const queue = new Set<Waiting>();
  let used = 0;

  const fits = (bytes: number): boolean => used === 0 || used + bytes <= maxBytes;
  const admit = (): void => {
    for (const first of queue) {
      if (!fits(first.bytes)) return;
      queue.delete(first);
      first.admit();
    }
  };
  const take = (bytes: number): MemoryLease => {
    let mine = bytes;
    used += mine;
    const resize = (actual: number): void => {
      used += actual - mine;
      mine = actual;
      admit();
    };
    return { resize, release: () => resize(0) };
  };

  return {
    used: () => used,
    async acquire(bytes, signal) {
      signal.throwIfAborted();
      if (queue.size === 0 && fits(bytes)) return take(bytes);
      return await new Promise<MemoryLease>((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', gone);
        };
        const giveUp = (reason: unknown): void => {
          end();
          queue.delete(me);
          // Those behind it may be smaller.
          admit();
          reject(reason);
        };
        const me: Waiting = {
          bytes,
          admit: () => {
            end();
            resolve(take(bytes));
          },
        };
        const gone = (): void => giveUp(signal.reason);
        const full = (): void => giveUp(new Problem(platformProblems.unavailable, { headers: { 'retry-after': '1' } }));
        const timer = setTimeout(full, waitMs);
        signal.addEventListener('abort', gone, { once: true });
        queue.add(me);
      });
    },
  };
}

/** Keeps what was used lately, up to a number of bytes, keys counted. */
export interface ByteCache<V extends object> {
  get(key: string): V | undefined;
  /** Also when a value that is there has grown. */
  set(key: string, value: V): void;
  clear(): void;
  readonly bytes: () => number;
}

/** What an entry takes beside its key and its bytes, at most about. */
const ENTRY_BYTES = 1000;

/** @param sizeOf bytes of a value @param maxBytes 0 keeps nothing */
export function createByteCache<V extends object>(maxBytes: number, sizeOf: (value: V) => number): ByteCache<V> {
  if (maxBytes < 1) return { get: () => undefined, set: () => undefined, clear: () => undefined, bytes: () => 0 };
  const cache = new LRUCache<string, V>({
    maxSize: Math.floor(maxBytes),
    sizeCalculation: (value, key) => ENTRY_BYTES + 2 * key.length + sizeOf(value),
  });
  return {
    get: (key) => cache.get(key),
    set(key, value) {
      cache.set(key, value);
    },
    clear: () => cache.clear(),
    bytes: () => cache.calculatedSize,
  };
}
