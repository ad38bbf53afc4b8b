/** Who is in which municipality, and when: some forty bytes for each time that a person occurs, of which none is the person's own. */
import { IdIndex } from '../../../gegevens/import/identifiers.ts';
import type { Period } from '../../../gegevens/model/selection.ts';
import type { Digest } from './digests.ts';

/** A list of 32-bit integers that grows. */
export class IntList {
  #values = new Int32Array(256);
  length = 0;

  push(...values: readonly number[]): void {
    if (this.length + values.length > this.#values.length) {
      const larger = new Int32Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values.set(values, this.length);
    this.length += values.length;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}

/** Days since 2000-01-01; a record without a begin has always been there, one without an end still is. */
export const ALWAYS = -(2 ** 31);
export const STILL = 2 ** 31 - 1;
const NONE = -1;
/** Steps and begin share a number: the latest step is that of the record that began last. */
const STEPS = 16;
/** Nobody has more trajectories that do not overlap; it bounds the time that a file can take. */
const MAX_COMPARED = 1000;

interface Occurrence {
  /** A number for each. */
  readonly municipality: number;
  /** Absent: not identified, so nobody else. */
  readonly person: Digest | undefined;
  readonly begin: number;
  readonly end: number;
  /** From 0; -1 when it is not known. */
  readonly step: number;
}

interface PersonCounts {
  persons: number;
  active: number;
  /** By step; the last is for those of whom it is not known. */
  readonly steps: number[];
}

export class PersonTable {
  readonly #index = new IdIndex();
  readonly #municipality = new IntList();
  readonly #latest = new IntList();
  readonly #last = new IntList();
  readonly #begin = new IntList();
  readonly #end = new IntList();
  readonly #before = new IntList();
  #scope = 0;

  /** What was added until now is not compared with what follows. */
  startScope(): void {
    this.#scope = this.#begin.length;
  }

  /** To be passed to `add` for all persons of one record: they are not compared with each other. */
  get position(): number {
    return this.#begin.length;
  }

  /** @returns whether an earlier record of this person, in this municipality and scope, ran at the same time */
  add({ municipality, person, begin, end, step }: Occurrence, record: number): boolean {
    const key = person && {
      low: person.low ^ Math.imul(municipality + 1, 0x9e3779b1),
      high: person.high ^ Math.imul(municipality + 1, 0x85ebca6b),
    };
    const latest = Math.max(begin, -1_000_000) * STEPS + step + 1;
    const known = key && this.#index.get(key);
    const interval = this.#begin.length;
    this.#begin.push(begin);
    this.#end.push(end);
    if (known === undefined) {
      if (key !== undefined) this.#index.add(key, this.#municipality.length);
      this.#municipality.push(municipality);
      this.#latest.push(latest);
      this.#last.push(interval);
      this.#before.push(NONE);
      return false;
    }
    const overlaps = this.#overlaps(this.#last.at(known), begin, end, record);
    this.#before.push(this.#last.at(known));
    this.#last.set(known, interval);
    if (latest > this.#latest.at(known)) this.#latest.set(known, latest);
    return overlaps;
  }

  #overlaps(from: number, begin: number, end: number, record: number): boolean {
    for (let at = from, seen = 0; at >= this.#scope && seen < MAX_COMPARED; at = this.#before.at(at), seen += 1) {
      if (at < record && this.#begin.at(at) <= end && begin <= this.#end.at(at)) return true;
    }
    return false;
  }

  /**
   * Counts by municipality.
   * @param period in which a person is active; absent: not known, so nobody is
   */
  count(
    municipalities: number,
    steps: number,
    period: Period | undefined,
    dayOf: (day: string) => number,
  ): PersonCounts[] {
    const counts = Array.from(
      { length: municipalities },
      (): PersonCounts => ({ persons: 0, active: 0, steps: Array.from({ length: steps + 1 }, () => 0) }),
    );
    const [first, last] = period === undefined ? [STILL, ALWAYS] : [dayOf(period.start), dayOf(period.end)];
    for (let person = 0; person < this.#municipality.length; person += 1) {
      const own = counts[this.#municipality.at(person)];
      if (own === undefined) continue;
      own.persons += 1;
      const step = (this.#latest.at(person) & (STEPS - 1)) - 1;
      const index = step < 0 ? steps : step;
      own.steps[index] = (own.steps[index] ?? 0) + 1;
      for (let at = this.#last.at(person); at !== NONE; at = this.#before.at(at)) {
        if (this.#begin.at(at) > last || this.#end.at(at) < first) continue;
        own.active += 1;
        break;
      }
    }
    return counts;
  }
}
