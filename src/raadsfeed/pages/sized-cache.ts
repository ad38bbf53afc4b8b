/** Keeps what was used last, up to a number of bytes. */
export interface SizedCache<V> {
  get(key: string): V | undefined;
  set(key: string, value: V, bytes: number): void;
  /** A kept value has grown. */
  grow(key: string, value: V, bytes: number): void;
  clear(): void;
  readonly bytes: () => number;
}

/** What a key and its place in the map take, about. */
const ENTRY_BYTES = 300;

export function createSizedCache<V>(maxBytes: number): SizedCache<V> {
  // A Map keeps the order of insertion: the first is the one used longest ago.
  const entries = new Map<string, { value: V; bytes: number }>();
  let total = 0;
  const remove = (key: string, bytes: number): void => {
    entries.delete(key);
    total -= bytes;
  };
  const shrink = (): void => {
    for (const [key, { bytes }] of entries) {
      if (total <= maxBytes) return;
      remove(key, bytes);
    }
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, size) {
      const bytes = size + ENTRY_BYTES;
      const present = entries.get(key);
      if (present !== undefined) remove(key, present.bytes);
      if (bytes > maxBytes) return;
      entries.set(key, { value, bytes });
      total += bytes;
      shrink();
    },
    grow(key, value, bytes) {
      const entry = entries.get(key);
      if (entry?.value !== value) return;
      entry.bytes += bytes;
      total += bytes;
      shrink();
    },
    clear() {
      entries.clear();
      total = 0;
    },
    bytes: () => total,
  };
}
