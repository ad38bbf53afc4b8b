/** A map that forgets what was used longest ago when what it holds weighs too much; sizes are bytes, about. */
export class BoundedMap<V> {
  readonly #maxBytes: number;
  readonly #sizeOf: (key: string, value: V) => number;
  readonly #entries = new Map<string, { readonly value: V; readonly bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number, sizeOf: (key: string, value: V) => number) {
    this.#maxBytes = maxBytes;
    this.#sizeOf = sizeOf;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** What is too large by itself is not kept. */
  set(key: string, value: V): void {
    this.delete(key);
    const bytes = this.#sizeOf(key, value);
    if (bytes > this.#maxBytes) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
