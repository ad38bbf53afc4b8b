/** Who is in which municipality, and when: on disk, by hashes under a key that ends with this process. */
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { Period } from '../../../gegevens/model/selection.ts';
import { openScratch } from '../scratch.ts';

/** Nobody has more trajectories that do not overlap; it bounds the time that a file can take. */
const MAX_COMPARED = 100;
const ALWAYS = -(2 ** 31);
const STILL = 2 ** 31 - 1;

interface RecordOfPersons {
  /** Its number in the levering. */
  readonly record: number;
  /** A number for each; absent: that of the levering. */
  readonly municipality: number | undefined;
  /** What identifies each person; `undefined` for one who is not identified, so nobody else. */
  readonly persons: readonly (string | undefined)[];
  /** Days; absent: it has always been there, it still is. */
  readonly begin: number | undefined;
  readonly end: number | undefined;
  /** From 0; -1 when it is not known. */
  readonly step: number;
}

export interface PersonCounts {
  readonly persons: number;
  readonly active: number;
  readonly steps: ReadonlyMap<number, number>;
}

export class Persons {
  readonly #database = openScratch();
  readonly #key = createSecretKey(randomBytes(32));
  readonly #insert;
  /** File, or what is stored: records are compared with those of the same one. */
  #scope = 0;
  #count = 0;
  #leveringStart = 0;

  constructor() {
    // `first` is the first row of the record: its persons are not compared with each other.
    this.#database.exec(`create table occurrences (
        person text, municipality integer, record integer, scope integer, first integer, begins integer, ends integer, step integer);
      create index by_person on occurrences (municipality, person, scope, first, begins, ends);
      begin`);
    this.#insert = this.#database.prepare('insert into occurrences values (?, ?, ?, ?, ?, ?, ?, ?)');
  }

  /** What was added until now is not compared with what follows; a levering that did not end is not continued. */
  startScope(): void {
    this.#scope += 1;
    this.#leveringStart = this.#count;
  }

  add({ record, municipality = -1, persons, begin = ALWAYS, end = STILL, step }: RecordOfPersons): void {
    const first = this.#count + 1;
    for (const identity of persons) {
      this.#count += 1;
      const person = identity === undefined ? `unknown ${this.#count}` : this.#hash(identity);
      this.#insert.run(person, municipality, record, this.#scope, first, begin, end, step);
    }
  }

  /**
   * Ends a levering.
   * @param municipality that it is for, when its records do not name their own: then they are not compared
   * @returns the records with a person of whom an earlier record, in this municipality and scope, ran at the same time
   */
  endLevering(municipality?: number): number[] {
    const start = this.#leveringStart;
    this.#leveringStart = this.#count;
    if (municipality !== undefined) {
      this.#database.prepare('update occurrences set municipality = ? where rowid > ?').run(municipality, start);
      return [];
    }
    const overlapping = this.#database.prepare(`select distinct record from occurrences own
      where rowid > ? and exists (
        select 1 from (
          select begins, ends from occurrences earlier
          where earlier.person = own.person and earlier.municipality = own.municipality
            and earlier.scope = own.scope and earlier.first < own.first
          order by earlier.first desc limit ${MAX_COMPARED})
        where begins <= own.ends and ends >= own.begins)
      order by record`);
    return overlapping.all(start).map(({ record }) => Number(record));
  }

  /** By municipality. @param period in which a person is active, in days; absent: not known, so nobody is */
  count(period: { readonly [day in keyof Period]: number } | undefined): ReadonlyMap<number, PersonCounts> {
    const { start, end } = period ?? { start: STILL, end: ALWAYS };
    const persons = this.#database.prepare(`select municipality, count(distinct person) as persons,
        count(distinct case when begins <= ? and ends >= ? then person end) as active
      from occurrences group by municipality`);
    // The latest step is that of the record that began last.
    const steps = this.#database.prepare(`select municipality, step, count(*) as persons
      from (select municipality, step, max(begins * 256 + step) from occurrences group by municipality, person)
      group by municipality, step`);
    const bySteps = Map.groupBy(steps.all(), ({ municipality }) => Number(municipality));
    return new Map(
      persons.all(end, start).map((row) => {
        const municipality = Number(row.municipality);
        const own = bySteps.get(municipality) ?? [];
        return [
          municipality,
          {
            persons: Number(row.persons),
            active: Number(row.active),
            steps: new Map(own.map((each) => [Number(each.step), Number(each.persons)])),
          },
        ];
      }),
    );
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #hash(identity: string): string {
    return createHmac('sha256', this.#key).update(identity).digest('base64url').slice(0, 16);
  }
}
