import type { ErrorObject } from 'ajv';
import { describeError } from '../../../gegevens/import/faults.ts';
import { hashId, IdIndex } from '../../../gegevens/import/identifiers.ts';
import type { ItemList } from '../../../gegevens/model/mapping.ts';
import type { PartCheck } from '../../../gegevens/model/model.ts';
import { pointerSteps, toPointer } from '../../../lib/json/json-value.ts';
import { type Assembled, assemble } from './assemble.ts';
import { type BoundTable, placeOf, type RowValues } from './bind-columns.ts';
import { type DeliveryMessage, sortable } from './delivery-message.ts';
import { DiskSorter } from './disk-sorter.ts';
import type { Plan } from './plan.ts';
import { type Place, type TableFaults, UnreadableTable } from './table-faults.ts';

/** Rows of one record that are held in memory. */
const MAX_GROUP_ROWS = 10_000;
/** Of each the key and the place are in memory. */
const MAX_RECORDS = 10_000_000;

interface Group {
  readonly key: string | undefined;
  readonly rows: RowValues[];
}

interface RecordBuilderOptions {
  readonly plan: Plan;
  readonly list: ItemList;
  readonly tableOf: (index: number) => BoundTable;
  readonly message: DeliveryMessage;
  readonly faults: TableFaults;
  /** What is probably not meant, and is imported nevertheless. */
  readonly notes: TableFaults;
  /** Is shown each record, whether it has faults or not. */
  readonly onRecord: (list: ItemList, record: unknown) => void;
}

/** Makes the records of one list of their rows, judges them by the model, and puts them in the message. */
export class RecordBuilder {
  readonly #options: RecordBuilderOptions;
  readonly #check: PartCheck | undefined;
  /** For rows that may stand anywhere: they are sorted by key first. */
  readonly #sorter: DiskSorter | undefined;
  readonly #seen = new IdIndex();
  #group: Group | undefined;
  #count = 0;

  constructor(options: RecordBuilderOptions) {
    const { plan, list } = options;
    this.#options = options;
    this.#check = list === 'records' ? plan.model.record : plan.model.zaak;
    this.#sorter = plan.sorted.has(list) ? new DiskSorter() : undefined;
  }

  /** @param key `undefined`: the row is a record by itself */
  add(key: string | undefined, row: RowValues): void {
    if (this.#sorter !== undefined && key !== undefined) {
      // What the rows of one key are in: the main table first, then as they stand.
      this.#sorter.add(`${key}\u0000${sortable(row.table)}${sortable(row.row)}`, JSON.stringify(row));
      return;
    }
    if (key === undefined || key !== this.#group?.key) {
      this.#endGroup();
      this.#group = { key, rows: [] };
      if (key !== undefined) this.#requireNew(key, row);
    }
    this.#addTo(this.#group, row);
  }

  finish(): void {
    for (const { key, text } of this.#sorter?.sorted() ?? []) {
      const own = key.slice(0, key.lastIndexOf('\u0000'));
      const row: RowValues = JSON.parse(text);
      if (own !== this.#group?.key) {
        this.#endGroup();
        this.#group = { key: own, rows: [] };
      }
      this.#addTo(this.#group, row);
    }
    this.#endGroup();
  }

  close(): void {
    this.#sorter?.close();
  }

  #addTo(group: Group, row: RowValues): void {
    group.rows.push(row);
    if (group.rows.length > MAX_GROUP_ROWS) {
      const { sheet } = this.#options.tableOf(row.table);
      throw new UnreadableTable(`one record has more than ${MAX_GROUP_ROWS} rows`, { sheet, row: row.row });
    }
  }

  #requireNew(key: string, row: RowValues): void {
    const hash = hashId(key);
    const before = this.#seen.get(hash);
    if (before === undefined) this.#seen.add(hash, row.row);
    else {
      const message = `the key of row ${before} again, after other rows: sort the table, or say \`scattered: true\` in the mapping`;
      this.#fault(row, message);
    }
  }

  #endGroup(): void {
    const group = this.#group;
    this.#group = undefined;
    const [first] = group?.rows ?? [];
    if (group === undefined || first === undefined) return;
    const { plan, list, message, onRecord } = this.#options;
    if (!this.#options.tableOf(first.table).plan.isMain) {
      for (const row of group.rows) this.#fault(row, 'no row of the main table has this key');
      return;
    }
    for (const row of group.rows) {
      if (row.levering !== -1 && row.levering !== first.levering) {
        this.#fault(row, `of another levering than row ${first.row}, of the same record`);
      }
    }
    this.#noteRepeated(group);
    const made = this.#assemble(group, false);
    onRecord(list, made.value);
    if (made.contradictions.length > 0) {
      for (const { table, row, column, earlier } of this.#assemble(group, true).contradictions) {
        const place = placeOf(this.#options.tableOf(table), row, column);
        this.#report(place, `differs from row ${earlier}, of the same record`);
      }
    }
    // A cell that could not be read is reported already; the member it leaves out is not reported as well.
    if (this.#check?.ok(made.value) === false && !group.rows.some(({ isFaulty }) => isFaulty)) {
      this.#explain(group, first, this.#check.faults(made.value));
    }
    this.#count += 1;
    if (this.#count > MAX_RECORDS) {
      const { sheet } = this.#options.tableOf(first.table);
      throw new UnreadableTable(`more than ${MAX_RECORDS} records: deliver by municipality`, { sheet, row: first.row });
    }
    if (!this.#options.faults.isEmpty) return;
    const order = plan.sorted.has(list) ? sortable(first.row) : sortable(this.#count);
    message.add(first.levering, list, order, { table: first.table, row: first.row }, made.value);
  }

  /** Rows that add the same items to a record: an export that repeats a row doubles a debt. */
  #noteRepeated({ rows }: Group): void {
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
      else
        this.#options.notes.add({
          ...placeOf(bound, row, bound.key[0]),
          message: `adds the same as row ${earlier}, of the same record`,
        });
    }
  }

  #assemble({ rows }: Group, trace: boolean): Assembled {
    return assemble({
      rows,
      trace,
      tableOf: (index) => {
        const { plan, record, itemKeys } = this.#options.tableOf(index);
        return { members: record, constants: plan.record.constants, itemKeys };
      },
    });
  }

  /** Says at which cells a record does not fit the model. */
  #explain(group: Group, first: RowValues, errors: readonly ErrorObject[]): void {
    const { origins } = this.#assemble(group, true);
    for (const error of errors) {
      const pointer = missingMember(error) ?? error.instancePath;
      const origin =
        origins.get(pointer) ?? [...origins].find(([each]) => each.startsWith(`${error.instancePath}/`))?.[1];
      const isOfCell = origins.has(pointer);
      const table = this.#options.tableOf(origin?.table ?? first.table);
      const column = isOfCell ? origin?.column : columnFor(table, pointer);
      this.#report(placeOf(table, origin?.row ?? first.row, column), describeError(error), error.instancePath);
    }
  }

  #fault(row: RowValues, message: string): void {
    const table = this.#options.tableOf(row.table);
    this.#report(placeOf(table, row.row, table.key[0]), message);
  }

  #report(place: Place, message: string, pointer?: string): void {
    this.#options.faults.add({ ...place, ...(pointer === undefined ? {} : { pointer }), message });
  }
}

/** The pointer of the member that an error says is missing. */
function missingMember({ instancePath, params }: ErrorObject): string | undefined {
  const { missingProperty } = params;
  return typeof missingProperty === 'string' ? instancePath + toPointer([missingProperty]) : undefined;
}

/** The column that fills a member, whichever item of a list it is in. */
function columnFor({ record }: BoundTable, pointer: string): BoundTable['key'][number] | undefined {
  const wanted = pointerSteps(pointer).map((step) => (/^\d+$/.test(step) ? '-' : step));
  return record.find(({ member }) => {
    const steps = pointerSteps(member.pointer).map((step) => (/^\d+$/.test(step) ? '-' : step));
    return toPointer(steps) === toPointer(wanted);
  })?.column;
}
