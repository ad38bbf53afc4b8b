import { isRecord, valueAt } from '../../lib/json/json-value.ts';
import type { Mapping } from '../model/mapping.ts';

const EMPTY = -1;
const START_SLOTS = 1024;

/** The hash of an identifier, in two halves. */
interface IdHash {
  readonly low: number;
  readonly high: number;
}

/**
 * A number for each of millions of identifiers, in twelve bytes each: it holds their 64-bit hashes, not the texts. Two identifiers with
 * one hash would be taken for the same; among ten million that happens once in some 300 000 files.
 */
export class IdIndex {
  #low = new Int32Array(START_SLOTS);
  #high = new Int32Array(START_SLOTS);
  #value = new Int32Array(START_SLOTS).fill(EMPTY);
  #size = 0;

  /** The first number of an identifier stays. @param value not negative */
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

/** 64 bits of a text: two multiplicative hashes, mixed at the end. */
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

/** Which records the cases of a levering go with. */
export interface ZaakLinks {
  /** By case: the record that it goes with when all records are delivered: the first of its signals, in the order of the file. */
  readonly bij: Int32Array;
  /** Alternating case and record, for every signal of its own levering that a case names. */
  readonly signalen: Int32Array;
}

/** Finds the records that the cases of a levering name. */
export class ZaakLinker {
  readonly #recordId: readonly string[];
  readonly #signalenPath: readonly string[];
  readonly #signaalId: readonly string[];
  readonly #records = new IdIndex();
  /** By case: the first of its records so far; -1 while none is known. */
  readonly #first: number[] = [];
  readonly #signalen: number[] = [];
  /** References to records that had not been read yet: case, low and high half of the hash. */
  readonly #open: number[] = [];

  /** @returns `undefined` for a model without cases */
  static of({ levering }: Mapping): ZaakLinker | undefined {
    const { recordId, zaken } = levering;
    return recordId === undefined || zaken === undefined
      ? undefined
      : new ZaakLinker(recordId, zaken.signalen, zaken.signaalId);
  }

  constructor(recordId: readonly string[], signalen: readonly string[], signaalId: readonly string[]) {
    this.#recordId = recordId;
    this.#signalenPath = signalen;
    this.#signaalId = signaalId;
  }

  addRecord(value: unknown, nummer: number): void {
    const id = valueAt(value, this.#recordId);
    if (typeof id === 'string') this.#records.add(hashId(id), nummer);
  }

  addZaak(value: unknown, zaak: number): void {
    this.#first[zaak] = -1;
    const list = valueAt(value, this.#signalenPath);
    const named = new Map<string, IdHash>();
    for (const reference of Array.isArray(list) ? list.filter(isRecord) : []) {
      const id = valueAt(reference, this.#signaalId);
      if (typeof id !== 'string') continue;
      const hash = hashId(id);
      named.set(`${hash.low} ${hash.high}`, hash);
    }
    for (const hash of named.values()) {
      const record = this.#records.get(hash);
      if (record === undefined) this.#open.push(zaak, hash.low, hash.high);
      else this.#note(zaak, record);
    }
  }

  /** Without a signal in the same levering, a case is delivered with the first record. */
  finish(): ZaakLinks {
    for (let at = 0; at < this.#open.length; at += 3) {
      const [zaak = 0, low = 0, high = 0] = this.#open.slice(at, at + 3);
      const record = this.#records.get({ low, high });
      if (record !== undefined) this.#note(zaak, record);
    }
    return {
      bij: Int32Array.from(this.#first, (record) => Math.max(record, 0)),
      signalen: Int32Array.from(this.#signalen),
    };
  }

  #note(zaak: number, record: number): void {
    this.#signalen.push(zaak, record);
    const known = this.#first[zaak] ?? -1;
    if (known === -1 || record < known) this.#first[zaak] = record;
  }
}

/** Finds texts that occur twice, by their hash; two spellings of one value are two texts. */
export class SeenTexts {
  readonly #texts = new IdIndex();

  /** @returns whether the text was there before */
  isRepeated(text: string): boolean {
    const hash = hashId(text);
    if (this.#texts.get(hash) !== undefined) return true;
    this.#texts.add(hash, 0);
    return false;
  }
}
