import { isRecord } from '../../../kernel/json-value.ts';
import { valueAt } from '../model/json-pointer.ts';
import type { Mapping } from '../model/mapping.ts';
import { hashId, type IdHash, IdIndex } from './id-index.ts';

/** What is known of the cases of a levering when all of it has been read. */
export interface ZaakLinks {
  /** By case: the record that it goes with when all records are delivered: the first of its signals, in the order of the file. */
  readonly bij: Int32Array;
  /** Case and record, by turns, for every signal that a case names in its own levering. */
  readonly signalen: Int32Array;
}

/** Finds the records that the cases of a levering name. */
export class ZaakPlaces {
  readonly #recordId: readonly string[];
  readonly #signalenPlace: readonly string[];
  readonly #signaalId: readonly string[];
  readonly #records = new IdIndex();
  /** By case: the first of its records so far; -1 while none is known. */
  readonly #first: number[] = [];
  readonly #signalen: number[] = [];
  /** References to records that had not been read yet: case, low and high half of the hash. */
  readonly #open: number[] = [];

  /** @returns `undefined` for a model without cases */
  static of({ levering }: Mapping): ZaakPlaces | undefined {
    const { recordId, zaken } = levering;
    return recordId === undefined || zaken === undefined
      ? undefined
      : new ZaakPlaces(recordId, zaken.signalen, zaken.signaalId);
  }

  constructor(recordId: readonly string[], signalen: readonly string[], signaalId: readonly string[]) {
    this.#recordId = recordId;
    this.#signalenPlace = signalen;
    this.#signaalId = signaalId;
  }

  record(value: unknown, nummer: number): void {
    const id = valueAt(value, this.#recordId);
    if (typeof id === 'string') this.#records.add(hashId(id), nummer);
  }

  zaak(value: unknown, zaak: number): void {
    this.#first[zaak] = -1;
    const list = valueAt(value, this.#signalenPlace);
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

  /** A case that names no signal of its levering goes with the first record. */
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
