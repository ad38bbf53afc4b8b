import type { ErrorObject } from 'ajv';
import { describeError } from '../../../gegevens/import/faults.ts';
import { hashId, IdIndex } from '../../../gegevens/import/identifiers.ts';
import type { ItemList } from '../../../gegevens/model/mapping.ts';
import { pointerSteps, toPointer } from '../../../lib/json/json-value.ts';
import type { MessageStore } from '../message-store.ts';
import { DiskSorter } from '../scratch.ts';
import { Assembly, type RowValues } from './assemble.ts';
import type { BoundTable, Column } from './bound-table.ts';
import type { Plan } from './plan.ts';
import { type TableFaults, UnreadableTable } from './table-file.ts';

/** Rows of one record that are held in memory. */
const MAX_GROUP_ROWS = 10_000;
/** Of each the key and the place are in memory. */
const MAX_RECORDS = 10_000_000;

interface RecordBuilderOptions {
  readonly plan: Plan;
  readonly list: ItemList;
  readonly tableOf: (index: number) => BoundTable;
  readonly message: MessageStore;
  readonly faults: TableFaults;
  /** What is probably not meant, and is imported nevertheless. */
  readonly notes: TableFaults;
  /** Is shown each record, whether it has faults or not. */
  readonly onRecord: (record: unknown) => void;
}

/** Makes the records of one list of their rows, judges them by the model, and puts them in the message. */
export class RecordBuilder {
  readonly #options: RecordBuilderOptions;
  /** For rows that may be anywhere: they are sorted by key first. */
  readonly #sorter: DiskSorter | undefined;
  readonly #seen = new IdIndex();
  #key: string | undefined;
  #group: RowValues[] = [];
  #count = 0;

  constructor(options: RecordBuilderOptions) {
    this.#options = options;
    this.#sorter = options.plan.sorted.has(options.list) ? new DiskSorter() : undefined;
  }

  /** @param key `undefined`: the row is a record by itself */
  add(key: string | undefined, row: RowValues): void {
    if (this.#sorter !== undefined && key !== undefined) {
      // Of the rows of one key those of the main table come first, then they are in their own order.
      this.#sorter.add(`${key}\t${sortable(row.table)}${sortable(row.row)}`, JSON.stringify(row));
      return;
    }
    if (key === undefined || key !== this.#key) {
      this.#endGroup();
      if (key !== undefined) this.#requireNew(key, row);
    }
    this.#addTo(key, row);
  }

  finish(): void {
    for (const { key, text } of this.#sorter?.sorted() ?? []) {
      const own = key.slice(0, key.lastIndexOf('\t'));
      if (own !== this.#key) this.#endGroup();
      this.#addTo(own, JSON.parse(text));
    }
    this.#endGroup();
  }

  close(): void {
    this.#sorter?.close();
  }

  #addTo(key: string | undefined, row: RowValues): void {
    this.#key = key;
    this.#group.push(row);
    if (this.#group.length > MAX_GROUP_ROWS)
      throw this.#tooMany(`one record has more than ${MAX_GROUP_ROWS} rows`, row);
  }

  #tooMany(message: string, { table, row }: RowValues): UnreadableTable {
    return new UnreadableTable(message, { sheet: this.#options.tableOf(table).sheet, row });
  }

  #requireNew(key: string, row: RowValues): void {
    const hash = hashId(key);
    const before = this.#seen.get(hash);
    if (before === undefined) this.#seen.add(hash, row.row);
    else {
      const remedy = 'sort the table, or say `scattered: true` in the mapping';
      this.#fault(row, `the key of row ${before} again, after other rows: ${remedy}`);
    }
  }

  #endGroup(): void {
    const rows = this.#group;
    this.#group = [];
    this.#key = undefined;
    const [first] = rows;
    if (first === undefined) return;
    const { plan, list, message, tableOf, faults, onRecord } = this.#options;
    if (!tableOf(first.table).plan.isMain) {
      for (const row of rows) this.#fault(row, 'no row of the main table has this key');
      return;
    }
    for (const row of rows) {
      if (row.levering !== -1 && row.levering !== first.levering) {
        this.#fault(row, `of another levering than row ${first.row}, of the same record`);
      }
    }
    if (rows.length > 1) this.#noteRepeated(rows);
    const made = new Assembly({
      rows,
      tableOf: (index) => {
        const { plan: own, record: members, itemKeys } = tableOf(index);
        return { members, constants: own.record.constants, itemKeys };
      },
    });
    onRecord(made.value);
    for (const { table, row, column, earlier } of made.contradictions) {
      faults.add({
        ...tableOf(table).placeOf(row, column),
        message: `differs from row ${earlier}, of the same record`,
      });
    }
    const check = list === 'records' ? plan.model.record : plan.model.zaak;
    // A cell that could not be read is reported already; the member it leaves out is not reported as well.
    if (check?.ok(made.value) === false && !rows.some(({ isFaulty }) => isFaulty)) {
      this.#explain(made, first, check.faults(made.value));
    }
    this.#count += 1;
    if (this.#count > MAX_RECORDS) {
      throw this.#tooMany(`more than ${MAX_RECORDS} records: deliver by municipality`, first);
    }
    if (!faults.isEmpty) return;
    // The text of a levering has its records before its cases.
    const order = `${sortable(first.levering)}${list === 'records' ? 0 : 1}`;
    const place = { levering: first.levering, list };
    const text = JSON.stringify(made.value);
    message.add(place, text, this.#sorter === undefined ? order : order + sortable(first.row), first);
  }

  /** Rows that add the same items to a record: an export that repeats a row doubles a debt. */
  #noteRepeated(rows: readonly RowValues[]): void {
    const seen = new Map<string, number>();
    for (const { table, row, values, items } of rows) {
      const bound = this.#options.tableOf(table);
      const isAdding = bound.record.some(
        ({ member: { list } }, index) =>
          list?.item === '-' && !bound.itemKeys.has(list.pointer) && (values[index] ?? null) !== null,
      );
      if (!isAdding) continue;
      const content = JSON.stringify([table, values, items]);
      const earlier = seen.get(content);
      if (earlier === undefined) seen.set(content, row);
      else {
        const message = `adds the same as row ${earlier}, of the same record`;
        this.#options.notes.add({ ...bound.placeOf(row, bound.key[0]), message });
      }
    }
  }

  /** Says at which cells a record does not fit the model. */
  #explain(made: Assembly, first: RowValues, errors: readonly ErrorObject[]): void {
    const origins = made.origins();
    for (const error of errors) {
      const pointer = missingMember(error) ?? error.instancePath;
      const own = origins.get(pointer);
      const origin = own ?? [...origins].find(([each]) => each.startsWith(`${error.instancePath}/`))?.[1];
      const table = this.#options.tableOf(origin?.table ?? first.table);
      const place = table.placeOf(origin?.row ?? first.row, own?.column ?? columnFor(table, pointer));
      this.#options.faults.add({ ...place, pointer: error.instancePath, message: describeError(error) });
    }
  }

  #fault({ table, row }: RowValues, message: string): void {
    const bound = this.#options.tableOf(table);
    this.#options.faults.add({ ...bound.placeOf(row, bound.key[0]), message });
  }
}

/** A number so that texts sort as numbers do. */
function sortable(number: number): string {
  return String(number).padStart(10, '0');
}

/** The pointer of the member that an error says is missing. */
function missingMember({ instancePath, params }: ErrorObject): string | undefined {
  const { missingProperty } = params;
  return typeof missingProperty === 'string' ? instancePath + toPointer([missingProperty]) : undefined;
}

/** The column that fills a member, whichever item of a list it is in. */
function columnFor({ record }: BoundTable, pointer: string): Column | undefined {
  const anyItem = (text: string): string =>
    toPointer(pointerSteps(text).map((step) => (/^\d+$/.test(step) ? '-' : step)));
  return record.find(({ member }) => anyItem(member.pointer) === anyItem(pointer))?.column;
}
