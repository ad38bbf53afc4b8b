import { LRUCache } from 'lru-cache';

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
