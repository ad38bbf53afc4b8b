/** Which persons were active in which municipality, and when: on disk, by hashes under a key that exists only in this process. */
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { dayNumber } from '../../import/record-traits.ts';
import type { Period } from '../../model/selection.ts';
import { Scratch } from '../scratch.ts';
import { ALWAYS, type Run, STILL } from './runs.ts';

/** More non-overlapping trajectories than anybody has; bounds the time that a file can take. */
const MAX_COMPARED = 100;

interface RecordOfPersons extends Run {
  readonly record: number;
  /** Its number; absent: that of the levering. */
  readonly municipality: number | undefined;
  /** The identification of each person; an unidentified person, `undefined`, matches nobody. */
  readonly persons: readonly (string | undefined)[];
  /** From 0; -1 when it is not known. */
  readonly step: number;
}

interface PersonCounts {
  persons: number;
  active: number;
  /** Persons by latest step. */
  readonly steps: Map<number, number>;
}

export class Persons {
  // `first` is the first row of the record: its persons are not compared with each other.
  readonly #rows = new Scratch(
    'occurrences (person text, municipality integer, record integer, scope integer, first integer, begins integer, ends integer, step integer)',
    8,
  );
  readonly #key = createSecretKey(randomBytes(32));
  /** A file, or the stored deliveries: records are compared only within one scope. */
  #scope = 0;
  #count = 0;
  #leveringStart = 0;

  constructor() {
    this.#rows.execute('create index by_person on occurrences (municipality, person, scope, first, begins, ends)');
  }

  /** Ends the comparison with earlier records; a levering that did not end is not continued. */
  startScope(): void {
    this.#scope += 1;
    this.#leveringStart = this.#count;
  }

  add({ record, municipality = -1, persons, begin = ALWAYS, end = STILL, step }: RecordOfPersons): void {
    const first = this.#count + 1;
    for (const identity of persons) {
      this.#count += 1;
      const hash = createHmac('sha256', this.#key).update(identity ?? `unknown ${this.#count}`);
      const person = hash.digest('base64url').slice(0, 16);
      this.#rows.insert(person, municipality, record, this.#scope, first, begin, end, step);
    }
  }

  /**
   * Ends a levering.
   * @param municipality of the levering, when its records name none: then they are not compared
   * @returns the records with a person of whom an earlier record in this municipality and scope ran at the same time
   */
  endLevering(municipality?: number): number[] {
    const start = this.#leveringStart;
    this.#leveringStart = this.#count;
    if (municipality !== undefined) {
      this.#rows.execute(`update occurrences set municipality = ${municipality} where rowid > ${start}`);
      return [];
    }
    const overlapping = this.#rows.query(
      `select distinct record from occurrences own
      where rowid > ? and exists (
        select 1 from (
          select begins, ends from occurrences earlier
          where earlier.person = own.person and earlier.municipality = own.municipality
            and earlier.scope = own.scope and earlier.first < own.first
          order by earlier.first desc limit ${MAX_COMPARED})
        where begins <= own.ends and ends >= own.begins)
      order by record`,
      start,
    );
    return [...overlapping].map(({ record }) => Number(record));
  }

  /** By municipality. @param period in which a person is active; absent: unknown, so nobody is */
  count(period: Period | undefined): ReadonlyMap<number, PersonCounts> {
    const [start, end] = period ? [dayNumber(period.start) ?? 0, dayNumber(period.end) ?? 0] : [STILL, ALWAYS];
    const counts = new Map<number, PersonCounts>();
    // The latest step of a person is that of the record that began last: SQLite takes it from the row of the maximum.
    const groups = this.#rows.query(
      `select municipality, step, count(*) as persons, sum(active) as active
      from (select municipality, step, max(begins * 256 + step), sum(begins <= ? and ends >= ?) > 0 as active
        from occurrences group by municipality, person)
      group by municipality, step`,
      end,
      start,
    );
    for (const group of groups) {
      const own = counts.get(Number(group.municipality)) ?? { persons: 0, active: 0, steps: new Map() };
      counts.set(Number(group.municipality), own);
      own.persons += Number(group.persons);
      own.active += Number(group.active);
      own.steps.set(Number(group.step), Number(group.persons));
    }
    return counts;
  }

  close(): void {
    this.#rows.close();
  }
}
