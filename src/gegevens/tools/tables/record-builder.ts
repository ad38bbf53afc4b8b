/** Makes leveringen and records of rows, judges them by the model, and adds them to the message. */
import type { ErrorObject } from 'ajv';
import { type ItemList, listsOf } from '../../../lib/exchange-model/mapping.ts';
import type { PartCheck } from '../../../lib/exchange-model/model.ts';
import { type JsonObject, pointerSteps, toPointer, withValueAt } from '../../../lib/json/json-value.ts';
import { describeError } from '../../import/faults.ts';
import { MessageStore } from '../message-store.ts';
import { Scratch } from '../scratch.ts';
import { Assembly } from './assemble.ts';
import type { BoundTable, Column, Filling, RowValues } from './bound-table.ts';
import type { Plan } from './plan.ts';
import { type Place, type TableFaults, UnreadableTable } from './table-file.ts';

/** Rows of one record that are held in memory. */
const MAX_GROUP_ROWS = 10_000;
const MAX_LEVERINGEN = 10_000;

interface RecordBuilderOptions {
  readonly plan: Plan;
  /** By index. */
  readonly tables: ReadonlyMap<number, BoundTable>;
  readonly faults: TableFaults;
  /** Probable mistakes that are imported nevertheless. */
  readonly notes: TableFaults;
  /** Receives each record and case, with or without faults. */
  readonly onRecord: (list: ItemList, record: unknown) => void;
}

export class RecordBuilder {
  readonly message: MessageStore;
  readonly #options: RecordBuilderOptions;
  /** Collects the rows with a key, by list: those of one record may be anywhere, in several tables. */
  readonly #rows: ReadonlyMap<ItemList, Scratch>;
  /** Numbers of leveringen, by their values in a row. */
  readonly #leveringen = new Map<string, number>();

  constructor(options: RecordBuilderOptions) {
    const { model, tables } = options.plan;
    this.#options = options;
    const lists = new Set(tables.map(({ list }) => list));
    this.#rows = new Map(
      [...lists].map((list) => [list, new Scratch('waiting (key text, origin integer, row integer, text text)', 4)]),
    );
    this.message = new MessageStore(model.mapping);
  }

  /** The number of the levering that a row belongs to. @param of values of its columns and of its key */
  levering(
    of: { values: RowValues['values']; key: readonly unknown[] },
    place: Place,
    filling: Filling,
    isFaulty: boolean,
  ): number {
    const text = JSON.stringify(of);
    const known = this.#leveringen.get(text);
    if (known !== undefined) return known;
    if (this.#leveringen.size >= MAX_LEVERINGEN)
      throw new UnreadableTable(`more than ${MAX_LEVERINGEN} leveringen`, place);
    const { model } = this.#options.plan;
    const row = { table: 0, row: 0, levering: 0, values: of.values, items: {}, isFaulty };
    const nummer = this.message.leveringen.length;
    this.#leveringen.set(text, nummer);
    const { value } = new Assembly([row], () => filling);
    let head: JsonObject = withValueAt(value, model.mapping.levering.teller, nummer + 1);
    // The lists come last: first the records, then the cases.
    for (const [list, path] of listsOf(model.mapping))
      if (list === 'records' || this.#rows.has(list)) head = withValueAt(head, path, []);
    this.message.leveringen.push(head);
    if (!isFaulty) this.judge(model.levering, head, place, 'of the levering');
    return nummer;
  }

  judge(check: PartCheck, value: unknown, place: Place, what: string): void {
    for (const error of check.ok(value) ? [] : check.faults(value)) {
      const message = `${what}: ${describeError(error)}`;
      this.#options.faults.add({ ...place, pointer: error.instancePath, message });
    }
  }

  /** @param key `undefined`: the row is a record by itself */
  add(list: ItemList, key: string | undefined, row: RowValues): void {
    if (key === undefined) this.#make(list, [row], undefined);
    else this.#rows.get(list)?.insert(key, row.table, row.row, JSON.stringify(row));
  }

  /** Makes the records whose rows are complete, in the order of their first rows. Within a record the rows of the main table come first. */
  finish(): void {
    for (const [list, rows] of this.#rows) {
      let open: unknown;
      let openKey: string | undefined;
      let group: RowValues[] = [];
      const waiting = rows.query(
        'select min(rowid) over (partition by key) as record, key, text from waiting order by record, origin, row',
      );
      for (const { record, key, text } of waiting) {
        if (record !== open) {
          this.#make(list, group, openKey);
          group = [];
        }
        open = record;
        openKey = String(key);
        const row: RowValues = JSON.parse(String(text));
        group.push(row);
        if (group.length > MAX_GROUP_ROWS)
          throw new UnreadableTable(`one record has more than ${MAX_GROUP_ROWS} rows`, this.#placeOf(row, undefined));
      }
      this.#make(list, group, openKey);
    }
  }

  close(): void {
    for (const rows of this.#rows.values()) rows.close();
  }

  #make(list: ItemList, rows: readonly RowValues[], key: string | undefined): void {
    const [first] = rows;
    if (first === undefined) return;
    const { plan, faults, onRecord } = this.#options;
    if (!this.#tableOf(first).plan.isMain) {
      for (const row of rows) this.#fault(row, 'no row of the main table has this key');
      return;
    }
    for (const row of rows) {
      if (row.levering !== -1 && row.levering !== first.levering)
        this.#fault(row, `of another levering than row ${first.row}, of the same record`);
    }
    this.#noteRepeated(rows);
    const made = new Assembly(rows, (table) => this.#tableOf({ table }).record);
    onRecord(list, made.value);
    for (const { column, earlier, ...at } of made.contradictions)
      faults.add({ ...this.#placeOf(at, column), message: `differs from row ${earlier}, of the same record` });
    const check = list === 'records' ? plan.model.record : plan.model.zaak;
    // A cell that could not be read is reported already; the member it leaves out is not reported as well.
    if (check?.ok(made.value) === false && !rows.some(({ isFaulty }) => isFaulty))
      this.#explain(made, first, check.faults(made.value));
    if (faults.isEmpty) this.message.add(first.levering, list, JSON.stringify(made.value), { row: first.row, key });
  }

  /** Rows that add the same items to a record: an export that repeats a row doubles a debt. */
  #noteRepeated(rows: readonly RowValues[]): void {
    const seen = new Map<string, number>();
    for (const row of rows.length > 1 ? rows : []) {
      const { table, values, items } = row;
      const { record, key } = this.#tableOf(row);
      const isAdding = record.members.some(
        ({ member: { list } }, index) =>
          list?.item === '-' && !record.itemKeys.has(list.pointer) && (values[index] ?? null) !== null,
      );
      if (!isAdding) continue;
      const content = JSON.stringify([table, values, items]);
      const earlier = seen.get(content);
      if (earlier === undefined) seen.set(content, row.row);
      else {
        const message = `adds the same as row ${earlier}, of the same record`;
        this.#options.notes.add({ ...this.#placeOf(row, key[0]), message });
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
      const origin = own ?? [...origins].find(([each]) => each.startsWith(`${instancePath}/`))?.[1] ?? first;
      const column = own?.column ?? columnFor(this.#tableOf(origin), pointer);
      const message = describeError(error);
      this.#options.faults.add({ ...this.#placeOf(origin, column), pointer: instancePath, message });
    }
  }

  #fault(row: RowValues, message: string): void {
    this.#options.faults.add({ ...this.#placeOf(row, this.#tableOf(row).key[0]), message });
  }

  #placeOf(at: Pick<RowValues, 'table' | 'row'>, column: Column | undefined): Place {
    return this.#tableOf(at).placeOf(at.row, column);
  }

  #tableOf({ table }: Pick<RowValues, 'table'>): BoundTable {
    const bound = this.#options.tables.get(table);
    if (bound === undefined) throw new TypeError('a row of a table without columns');
    return bound;
  }
}

/** The column that fills a member, whichever item of a list it is in. */
function columnFor({ record }: BoundTable, pointer: string): Column | undefined {
  const anyItem = (text: string): string =>
    toPointer(pointerSteps(text).map((step) => (/^\d+$/.test(step) ? '-' : step)));
  return record.members.find(({ member }) => anyItem(member.pointer) === anyItem(pointer))?.column;
}
