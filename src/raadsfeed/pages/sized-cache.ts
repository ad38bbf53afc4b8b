/** Keeps what was used lately, up to a number of bytes. */
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
  // A Map keeps the order of insertion. What was used since it came there gets a second turn when its turn to go has come: looking
  // something up then costs no more than the lookup.
  const entries = new Map<string, { value: V; bytes: number; isUsed: boolean }>();
  let total = 0;
  const remove = (key: string, bytes: number): void => {
    entries.delete(key);
    total -= bytes;
  };
  const shrink = (): void => {
    for (const [key, entry] of entries) {
      if (total <= maxBytes) return;
      entries.delete(key);
      if (entry.isUsed) entries.set(key, { ...entry, isUsed: false });
      else total -= entry.bytes;
    }
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entry.isUsed = true;
      return entry.value;
    },
    set(key, value, size) {
      const bytes = size + ENTRY_BYTES;
      const present = entries.get(key);
      if (present !== undefined) remove(key, present.bytes);
      if (bytes > maxBytes) return;
      entries.set(key, { value, bytes, isUsed: false });
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
