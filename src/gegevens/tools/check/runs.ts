/** When the records and cases of a file ran, and which records its cases name: on disk. */
import { dayNumber } from '../../import/record-traits.ts';
import type { Period } from '../../model/selection.ts';
import type { Item } from '../message-store.ts';
import { Scratch } from '../scratch.ts';

/** Days; absent: it has always been there, it still is. */
export interface Run {
  readonly begin: number | undefined;
  readonly end: number | undefined;
}

interface Part extends Run, Omit<Item, 'list'> {
  /** Where records have an ID, it is unique within a levering, so each levering is a scope. */
  readonly scope: number;
}

export const ALWAYS = -(2 ** 31);
export const STILL = 2 ** 31 - 1;
const [RECORD, CASE, NAMED] = [0, 1, 2];

export class Runs {
  readonly #rows = new Scratch(
    'parts (scope integer, levering integer, kind integer, number integer, id text, place integer, begins integer, ends integer, waits integer)',
    9,
  );

  constructor() {
    this.#rows.execute(`create index by_id on parts (scope, id) where id is not null;
      create index by_case on parts (scope, kind, number) where kind <> ${RECORD}`);
  }

  /** @param id by which cases name it @param waits whether its status says that it was not taken up */
  record({ scope, levering, nummer, begin, end }: Part, id: string | undefined, waits: boolean): void {
    if (begin === undefined && end === undefined && id === undefined) return;
    const [begins, ends] = [begin ?? ALWAYS, end ?? STILL];
    this.#rows.insert(scope, levering, RECORD, nummer, id ?? null, null, begins, ends, Number(waits));
  }

  /** @param ids of the records that it names, by their places */
  zaak({ scope, levering, nummer, begin, end }: Part, ids: readonly unknown[]): void {
    this.#rows.insert(scope, levering, CASE, nummer, null, null, begin ?? ALWAYS, end ?? STILL, null);
    for (const [place, id] of ids.entries())
      if (typeof id === 'string') this.#rows.insert(scope, levering, NAMED, nummer, id, place, null, null, null);
  }

  /** The places where cases name a record that was not taken up. */
  *waiting(scope: number): Generator<{ readonly nummer: number; readonly place: number }> {
    const named = `select number, place from parts named
      where scope = ? and kind = ${NAMED} and exists (
        select 1 from parts s where s.scope = named.scope and s.id = named.id and s.kind = ${RECORD} and s.waits = 1)
      order by number, place`;
    for (const { number, place } of this.#rows.query(named, scope))
      yield { nummer: Number(number), place: Number(place) };
  }

  /**
   * Everything that did not run in a period. An earlier record belongs to the period with a running case that names it, and a case with its records.
   * Clears what it compared.
   */
  *takeOutside({ start, end }: Period): Generator<Item & { readonly isAfter: boolean }> {
    const [first, last] = [dayNumber(start) ?? ALWAYS, dayNumber(end) ?? STILL];
    const runs = (name: string): string => `${name}.begins <= ${last} and ${name}.ends >= ${first}`;
    const goesWith = `select 1 from parts link join parts other on other.scope = link.scope
      where link.kind = ${NAMED} and link.scope = own.scope and ${runs('other')}`;
    const outside = this.#rows.query(`select levering, kind, number, begins > ${last} as late from parts own
      where kind <> ${NAMED} and not (${runs('own')})
        and not (kind = ${RECORD} and id is not null and begins <= ${last} and exists (
          ${goesWith} and link.id = own.id and other.kind = ${CASE} and other.number = link.number))
        and not (kind = ${CASE} and exists (
          ${goesWith} and link.number = own.number and other.kind = ${RECORD} and other.id = link.id))
      order by levering, kind, number`);
    for (const { levering, kind, number, late } of outside) {
      const list = kind === RECORD ? 'records' : 'zaken';
      yield { levering: Number(levering), list, nummer: Number(number), isAfter: late === 1 };
    }
    this.#rows.execute('delete from parts');
  }

  close(): void {
    this.#rows.close();
  }
}
