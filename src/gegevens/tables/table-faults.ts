import { ImportStopped } from '../import/faults.ts';

/** Where in a table something is. */
export interface Place {
  /** Name of the sheet; absent for CSV. */
  readonly sheet?: string | undefined;
  /** As a spreadsheet program numbers it: from 1, with empty rows, and a cell of several lines counted once. */
  readonly row?: number | undefined;
  /** Name of the column, or its letters where it has none. */
  readonly column?: string | undefined;
  /** `C5`. */
  readonly cell?: string | undefined;
}

/** One thing that is wrong with a table. Values of cells are never repeated: they may be personal. */
export interface TableFault extends Place {
  /** JSON Pointer of the member in the message or record, where there is one. */
  readonly pointer?: string | undefined;
  readonly message: string;
}

/** Reading stops at this number of faults. */
export const MAX_TABLE_FAULTS = 1000;

/** The faults of one table file. */
export class TableFaults {
  readonly #list: TableFault[] = [];

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  /** In the order of the file, those of the file as a whole first. */
  get list(): readonly TableFault[] {
    return this.#list.toSorted((a, b) => (a.row ?? 0) - (b.row ?? 0));
  }

  /** @throws {ImportStopped} when there are enough */
  add(fault: TableFault): void {
    this.#list.push(fault);
    if (this.#list.length >= MAX_TABLE_FAULTS) throw new ImportStopped();
  }
}

/** The file as a whole cannot be read as a table, from here on. The message is for people and repeats no value. */
export class UnreadableTable extends Error {
  readonly place: Place;
  constructor(message: string, place: Place = {}) {
    super(message);
    this.name = 'UnreadableTable';
    this.place = place;
  }
}

/** `A`, `Z`, `AA`: the letters of a column. @param index from 0 */
export function columnLetters(index: number): string {
  const letters = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letters : columnLetters(Math.floor(index / 26) - 1) + letters;
}
