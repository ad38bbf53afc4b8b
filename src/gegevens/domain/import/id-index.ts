const EMPTY = -1;
const START_SLOTS = 1024;

/** The hash of an identifier, in two halves. */
export interface IdHash {
  readonly low: number;
  readonly high: number;
}

/**
 * Remembers a number for each of millions of identifiers in twelve bytes apiece: it keeps their 64-bit hashes, not the texts. Two
 * identifiers with one hash would be taken for the same; among ten million that happens once in some 300 000 files.
 */
export class IdIndex {
  #low = new Int32Array(START_SLOTS);
  #high = new Int32Array(START_SLOTS);
  #value = new Int32Array(START_SLOTS).fill(EMPTY);
  #size = 0;

  /** Keeps the first number that an identifier is given. @param value not negative */
  add(hash: IdHash, value: number): void {
    if (this.#size * 2 >= this.#value.length) this.#grow();
    const slot = this.#slot(hash);
    if (this.#value[slot] !== EMPTY) return;
    this.#low[slot] = hash.low;
    this.#high[slot] = hash.high;
    this.#value[slot] = value;
    this.#size += 1;
  }

  get(hash: IdHash): number | undefined {
    const value = this.#value[this.#slot(hash)];
    return value === EMPTY ? undefined : value;
  }

  /** The slot of a hash, or the free one where it would go. */
  #slot({ low, high }: IdHash): number {
    const mask = this.#value.length - 1;
    let slot = (low ^ Math.imul(high, 0x9e3779b1)) & mask;
    while (this.#value[slot] !== EMPTY && (this.#low[slot] !== low || this.#high[slot] !== high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [lows, highs, values] = [this.#low, this.#high, this.#value];
    const slots = values.length * 2;
    this.#low = new Int32Array(slots);
    this.#high = new Int32Array(slots);
    this.#value = new Int32Array(slots).fill(EMPTY);
    values.forEach((value, index) => {
      if (value === EMPTY) return;
      const low = lows[index] ?? 0;
      const high = highs[index] ?? 0;
      const slot = this.#slot({ low, high });
      this.#low[slot] = low;
      this.#high[slot] = high;
      this.#value[slot] = value;
    });
  }
}

/** 64 bits of a text: two multiplicative hashes, each stirred into the other at the end. */
export function hashId(id: string): IdHash {
  let a = 0xdeadbeef ^ id.length;
  let b = 0x41c6ce57 ^ id.length;
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  const low = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  const high = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return { low: low | 0, high: high | 0 };
}
