import { isJsonObject, valueAt } from '../model/json-pointer.ts';
import type { Mapping } from '../model/mapping.ts';
import { hashId, IdIndex } from './id-index.ts';

/** With which record each case of a levering goes: the first of its signals, in the order of the file. */
export class ZaakPlaces {
  readonly #recordId: readonly string[];
  readonly #signalen: readonly string[];
  readonly #signaalId: readonly string[];
  readonly #records = new IdIndex();
  /** By case: the first of its records so far; -1 while none is known. */
  readonly #first: number[] = [];
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
    this.#signalen = signalen;
    this.#signaalId = signaalId;
  }

  record(value: unknown, nummer: number): void {
    const id = valueAt(value, this.#recordId);
    if (typeof id === 'string') this.#records.add(hashId(id), nummer);
  }

  zaak(value: unknown, zaak: number): void {
    this.#first[zaak] = -1;
    const list = valueAt(value, this.#signalen);
    for (const reference of Array.isArray(list) ? list.filter(isJsonObject) : []) {
      const id = valueAt(reference, this.#signaalId);
      if (typeof id !== 'string') continue;
      const hash = hashId(id);
      const record = this.#records.get(hash);
      if (record === undefined) this.#open.push(zaak, hash.low, hash.high);
      else this.#note(zaak, record);
    }
  }

  /** By case: the record that it goes with. One that names no signal of this levering goes with the first record. */
  finish(): Int32Array {
    for (let at = 0; at < this.#open.length; at += 3) {
      const [zaak = 0, low = 0, high = 0] = this.#open.slice(at, at + 3);
      const record = this.#records.get({ low, high });
      if (record !== undefined) this.#note(zaak, record);
    }
    return Int32Array.from(this.#first, (record) => Math.max(record, 0));
  }

  #note(zaak: number, record: number): void {
    const known = this.#first[zaak] ?? -1;
    if (known === -1 || record < known) this.#first[zaak] = record;
  }
}
