import type { Cell } from '../cell.ts';
import { UnreadableTable } from '../table-faults.ts';
import { readWholeXml } from './read-xml.ts';
import { cellPlace } from './sheet-rows.ts';

interface Area {
  readonly top: number;
  readonly bottom: number;
  readonly column: number;
}

const MAX_AREAS = 200_000;
const MARK = Buffer.from('mergeCell');

/**
 * The merged cells of a sheet. Their value stands in the first cell; it is that of every row of the area, in its first column: a name
 * beside several debts belongs to each of them, and a title over several columns to none of the others.
 */
export class MergedAreas {
  readonly #areas: readonly Area[];
  #next = 0;
  #open: { readonly bottom: number; readonly column: number; readonly value: Cell | undefined }[] = [];

  /** @param areas in any order */
  constructor(areas: readonly Area[]) {
    this.#areas = areas.toSorted((a, b) => a.top - b.top);
  }

  /** Fills the merged cells of a row, row after row. A row with nothing else in it stays empty. */
  fill(row: number, cells: (Cell | undefined)[]): void {
    if (this.#areas.length === 0) return;
    this.#open = this.#open.filter(({ bottom }) => bottom >= row);
    if (cells.some((cell) => cell !== undefined)) {
      for (const { column, value } of this.#open) {
        while (cells.length <= column) cells.push(undefined);
        cells[column] ??= value;
      }
    }
    for (let area = this.#areas[this.#next]; area !== undefined && area.top <= row; area = this.#areas[this.#next]) {
      this.#next += 1;
      const { top, bottom, column } = area;
      if (top === row) this.#open.push({ bottom, column, value: cells[column] });
    }
  }
}

/**
 * Finds the merged cells of a sheet. They stand behind its rows, so it is read twice when it has any.
 * @param read gives the bytes of the sheet
 */
export async function findMergedAreas(read: () => AsyncIterable<Buffer>, name: string): Promise<MergedAreas> {
  const areas: Area[] = [];
  if (!(await mentions(read(), MARK))) return new MergedAreas(areas);
  await readWholeXml(read(), name, {
    open: (tag, { ref = '' }) => {
      if (tag !== 'mergeCell') return;
      const [from, to] = ref.split(':').map(cellPlace);
      if (from === undefined || to === undefined) throw new UnreadableTable(`merged cells with a place that is none`);
      if (to.row > from.row) areas.push({ top: from.row, bottom: to.row, column: from.column });
      if (areas.length > MAX_AREAS) throw new UnreadableTable(`more than ${MAX_AREAS} merged cells`);
    },
  });
  return new MergedAreas(areas);
}

async function mentions(source: AsyncIterable<Buffer>, mark: Buffer): Promise<boolean> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    const joined = Buffer.concat([rest, chunk]);
    if (joined.includes(mark)) return true;
    rest = joined.subarray(-mark.length);
  }
  return false;
}
