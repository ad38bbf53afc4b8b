import { ImportStopped } from '../../../gegevens/import/faults.ts';
import type { Place } from './table-file.ts';

/** One thing that is wrong with a table. Values of cells are never repeated: they may be personal. */
export interface TableFault extends Place {
  /** JSON Pointer of the member in the message or record, where there is one. */
  readonly pointer?: string | undefined;
  readonly message: string;
  /** Kind of characters of the cell, and what to change: said when a whole column has the fault. */
  readonly form?: string | undefined;
  readonly remedy?: string | undefined;
}

/** A fault that more rows of a column have is said once, with their number. */
const MAX_OF_COLUMN = 10;

/** Reading stops at this number of faults. */
const MAX_TABLE_FAULTS = 1000;

/** The faults of one table file. */
export class TableFaults {
  readonly #columns = new Map<string, { readonly first: TableFault[]; count: number }>();
  readonly #most: number;
  #kept = 0;

  /** @param most so many stop reading */
  constructor(most = MAX_TABLE_FAULTS) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#kept === 0;
  }

  /** In the order of the file, those of the file as a whole first. */
  get list(): readonly TableFault[] {
    const said = [...this.#columns.values()].flatMap(({ first, count }) => {
      const [one] = first;
      if (one !== undefined && count > MAX_OF_COLUMN) return [ofWholeColumn(one, count)];
      return first.map(({ form: _form, remedy: _remedy, ...fault }) => fault);
    });
    return said.toSorted((a, b) => (a.row ?? 0) - (b.row ?? 0));
  }

  /** @throws {ImportStopped} when there are enough */
  add(fault: TableFault): void {
    const { sheet, column, pointer, message } = fault;
    // The same in every row, but for its numbers.
    const key = JSON.stringify([
      sheet,
      column,
      ...[pointer ?? '', message].map((text) => text.replaceAll(/\d+/g, '0')),
    ]);
    const found = this.#columns.get(key) ?? { first: [], count: 0 };
    this.#columns.set(key, found);
    found.count += 1;
    if (found.count > MAX_OF_COLUMN) return;
    found.first.push(fault);
    this.#kept += 1;
    if (this.#kept >= this.#most) throw new ImportStopped();
  }
}

function ofWholeColumn({ form, remedy, cell: _cell, ...first }: TableFault, count: number): TableFault {
  const such = form === undefined ? '' : `, such as ${form}`;
  const advice = remedy === undefined ? '' : `; ${remedy}`;
  return { ...first, message: `${first.message} (${count} rows${such})${advice}` };
}
