import type { ErrorObject } from 'ajv';
import type { ItemList } from '../../../lib/exchange-model/mapping.ts';
import { pointerSteps, toPointer } from '../../../lib/json/json-value.ts';
import { describeError } from '../../import/faults.ts';
import type { MessageStore } from '../message-store.ts';
import { Scratch } from '../scratch.ts';
import { Assembly, type RowValues } from './assemble.ts';
import type { BoundTable, Column } from './bound-table.ts';
import type { Plan } from './plan.ts';
import { type TableFaults, UnreadableTable } from './table-file.ts';

/** Rows of one record that are held in memory. */
const MAX_GROUP_ROWS = 10_000;

interface RecordBuilderOptions {
  readonly plan: Plan;
  readonly list: ItemList;
  readonly tableOf: (index: number) => BoundTable;
  readonly message: MessageStore;
  readonly faults: TableFaults;
  /** Probable mistakes that are imported nevertheless. */
  readonly notes: TableFaults;
  /** Receives each record, with or without faults. */
  readonly onRecord: (record: unknown) => void;
}

/** Builds the records of one list from their rows, validates them against the model, and adds them to the message. */
export class RecordBuilder {
  readonly #options: RecordBuilderOptions;
  /** Collects the rows with a key: those of one record may be anywhere, in several tables. */
  readonly #rows = new Scratch('waiting (key text, origin integer, row integer, text text)', 4);

  constructor(options: RecordBuilderOptions) {
    this.#options = options;
  }

  /** @param key `undefined`: the row is a record by itself */
  add(key: string | undefined, row: RowValues): void {
    if (key === undefined) this.#make([row], undefined);
    else this.#rows.insert(key, row.table, row.row, JSON.stringify(row));
  }

  /** Makes the records whose rows are complete, in the order of their first rows. Within a record the rows of the main table come first. */
  finish(): void {
    let open: unknown;
    let openKey: string | undefined;
    let group: RowValues[] = [];
    const waiting = this.#rows.query(`select min(rowid) over (partition by key) as record, key, text from waiting
      order by record, origin, row`);
    for (const { record, key, text } of waiting) {
      if (record !== open) {
        this.#make(group, openKey);
        group = [];
      }
      open = record;
      openKey = String(key);
      const row: RowValues = JSON.parse(String(text));
      group.push(row);
      if (group.length > MAX_GROUP_ROWS) {
        const place = { sheet: this.#options.tableOf(row.table).sheet, row: row.row };
        throw new UnreadableTable(`one record has more than ${MAX_GROUP_ROWS} rows`, place);
      }
    }
    this.#make(group, openKey);
  }

  close(): void {
    this.#rows.close();
  }

  #make(rows: readonly RowValues[], key: string | undefined): void {
    const [first] = rows;
    if (first === undefined) return;
    const { plan, list, message, tableOf, faults, onRecord } = this.#options;
    if (!tableOf(first.table).plan.isMain) {
      for (const row of rows) this.#fault(row, 'no row of the main table has this key');
      return;
    }
    for (const row of rows) {
      if (row.levering !== -1 && row.levering !== first.levering)
        this.#fault(row, `of another levering than row ${first.row}, of the same record`);
    }
    this.#noteRepeated(rows);
    const made = new Assembly(rows, (index) => {
      const { plan: own, record: members, itemKeys } = tableOf(index);
      return { members, constants: own.record.constants, itemKeys };
    });
    onRecord(made.value);
    for (const { table, row, column, earlier } of made.contradictions) {
      const differs = `differs from row ${earlier}, of the same record`;
      faults.add({ ...tableOf(table).placeOf(row, column), message: differs });
    }
    const check = list === 'records' ? plan.model.record : plan.model.zaak;
    // A cell that could not be read is reported already; the member it leaves out is not reported as well.
    if (check?.ok(made.value) === false && !rows.some(({ isFaulty }) => isFaulty))
      this.#explain(made, first, check.faults(made.value));
    if (faults.isEmpty) message.add(first.levering, list, JSON.stringify(made.value), { row: first.row, key });
  }

  /** Rows that add the same items to a record: an export that repeats a row doubles a debt. */
  #noteRepeated(rows: readonly RowValues[]): void {
    const seen = new Map<string, number>();
    for (const { table, row, values, items } of rows.length > 1 ? rows : []) {
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

  /** Reports the cells at which a record does not fit the model. */
  #explain(made: Assembly, first: RowValues, errors: readonly ErrorObject[]): void {
    const origins = made.origins();
    for (const error of errors) {
      const { instancePath, params } = error;
      const { missingProperty } = params;
      const pointer = instancePath + (typeof missingProperty === 'string' ? toPointer([missingProperty]) : '');
      const own = origins.get(pointer);
      const origin = own ?? [...origins].find(([each]) => each.startsWith(`${instancePath}/`))?.[1];
      const table = this.#options.tableOf(origin?.table ?? first.table);
      const place = table.placeOf(origin?.row ?? first.row, own?.column ?? columnFor(table, pointer));
      this.#options.faults.add({ ...place, pointer: instancePath, message: describeError(error) });
    }
  }

  #fault({ table, row }: RowValues, message: string): void {
    const bound = this.#options.tableOf(table);
    this.#options.faults.add({ ...bound.placeOf(row, bound.key[0]), message });
  }
}

/** The column that fills a member, whichever item of a list it is in. */
function columnFor({ record }: BoundTable, pointer: string): Column | undefined {
  const anyItem = (text: string): string =>
    toPointer(pointerSteps(text).map((step) => (/^\d+$/.test(step) ? '-' : step)));
  return record.find(({ member }) => anyItem(member.pointer) === anyItem(pointer))?.column;
}
