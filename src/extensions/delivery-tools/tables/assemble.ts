import { isRecord, toPointer } from '../../../lib/json/json-value.ts';
import type { BoundTable, Column, RowValues } from './bind-columns.ts';
import type { Converted } from './convert.ts';
import type { Scalar } from './mapping-file.ts';
import type { ColumnMember, ConstantMember, MemberPath } from './plan.ts';

interface Origin {
  readonly table: number;
  readonly row: number;
  readonly column: Column;
}

/** Two rows of one record that say different things. */
export interface Contradiction extends Origin {
  /** The row that said something else before; known with `trace`. */
  readonly earlier: number | undefined;
}

/** A record made of its rows. */
export interface Assembled {
  readonly value: Record<string, unknown>;
  readonly contradictions: readonly Contradiction[];
  /** By JSON Pointer in the record: the cell that a value came from. Only with `trace`. */
  readonly origins: ReadonlyMap<string, Origin>;
}

interface Part {
  readonly rows: readonly RowValues[];
  readonly tableOf: (table: number) => PartTable;
  readonly trace: boolean;
}

/** What of a table fills this record. */
interface PartTable {
  readonly members: readonly { readonly member: ColumnMember; readonly column: Column }[];
  readonly constants: readonly ConstantMember[];
  readonly itemKeys: BoundTable['itemKeys'];
}

interface Item {
  readonly value: Record<string, unknown>;
  /** The table whose row made it. */
  readonly table: number;
  readonly origins: Map<string, Origin>;
}

/** Makes a record, or the head of a levering, of the rows that belong to it. */
export function assemble(part: Part): Assembled {
  return new Assembly(part).finish();
}

class Assembly {
  readonly #part: Part;
  readonly #value: Record<string, unknown> = {};
  readonly #lists = new Map<string, { readonly steps: readonly string[]; readonly items: Map<string, Item> }>();
  readonly #origins = new Map<string, Origin>();
  readonly #contradictions: Contradiction[] = [];

  constructor(part: Part) {
    this.#part = part;
    for (const row of part.rows) this.#addRow(row);
    const tables = new Set(part.rows.map(({ table }) => table));
    for (const table of tables) this.#addConstants(table);
    for (const { steps, items } of this.#lists.values()) this.#addList(steps, items);
  }

  finish(): Assembled {
    return { value: this.#value, contradictions: this.#contradictions, origins: this.#origins };
  }

  #addRow(row: RowValues): void {
    const { members, itemKeys } = this.#part.tableOf(row.table);
    members.forEach(({ member, column }, index) => {
      const value: Converted = row.values[index] ?? null;
      if (value === null) return;
      const origin = { table: row.table, row: row.row, column };
      const { list } = member;
      if (list === undefined) {
        if (typeof value !== 'object') this.#set(this.#value, this.#origins, member, value, origin);
        return;
      }
      const values = typeof value === 'object' ? value : [value];
      values.forEach((one, part) => {
        // Without a key each row makes an item of its own, and each part of a cell that is split.
        const ownKey = member.isMultiple ? `${row.table} ${row.row} ${part}` : `${row.table} ${row.row}`;
        const key = list.item === '-' ? (row.items[list.pointer] ?? ownKey) : list.item;
        if (itemKeys.has(list.pointer) && row.items[list.pointer] === undefined) return;
        const item = this.#item(list.pointer, list.steps, key, row.table);
        this.#set(item.value, item.origins, member, one, origin);
      });
    });
  }

  #item(pointer: string, steps: readonly string[], key: string, table: number): Item {
    const list = this.#lists.get(pointer) ?? { steps, items: new Map<string, Item>() };
    this.#lists.set(pointer, list);
    const item = list.items.get(key) ?? { value: {}, table, origins: new Map<string, Origin>() };
    list.items.set(key, item);
    return item;
  }

  #set(
    target: Record<string, unknown>,
    origins: Map<string, Origin>,
    { steps }: MemberPath,
    value: Scalar,
    origin: Origin,
  ): void {
    const holder = holderOf(target, steps);
    const name = steps.at(-1);
    if (holder === undefined || name === undefined) return;
    const before = Object.hasOwn(holder, name) ? holder[name] : undefined;
    if (before === undefined) {
      holder[name] = value;
      if (this.#part.trace) origins.set(toPointer(steps), origin);
    } else if (before !== value) {
      this.#contradictions.push({ ...origin, earlier: origins.get(toPointer(steps))?.row });
    }
  }

  #addConstants(table: number): void {
    const { members, constants } = this.#part.tableOf(table);
    for (const { list, steps, value } of constants) {
      if (list === undefined) {
        setIfAbsent(this.#value, steps, value);
        continue;
      }
      // A numbered item that no column fills is made of constants alone: the one contact of an organisation.
      const isFixed = !members.some(
        ({ member }) => member.list?.pointer === list.pointer && member.list.item === list.item,
      );
      if (isFixed && list.item !== '-') this.#item(list.pointer, list.steps, list.item, table);
      for (const [key, item] of this.#lists.get(list.pointer)?.items ?? []) {
        if (item.table === table && (list.item === '-' || list.item === key)) setIfAbsent(item.value, steps, value);
      }
    }
  }

  /** Items that are numbered stand in the order of their numbers, without gaps. */
  #addList(steps: readonly string[], items: ReadonlyMap<string, Item>): void {
    const isNumbered = [...items.keys()].every((key) => /^\d+$/.test(key));
    const ordered = isNumbered ? [...items].toSorted(([a], [b]) => Number(a) - Number(b)) : [...items];
    const holder = holderOf(this.#value, steps);
    const name = steps.at(-1);
    if (holder === undefined || name === undefined) return;
    holder[name] = ordered.map(([, { value }]) => value);
    if (!this.#part.trace) return;
    ordered.forEach(([, { origins }], index) => {
      for (const [pointer, origin] of origins) this.#origins.set(toPointer([...steps, index]) + pointer, origin);
    });
  }
}

/** The object that a member is in; objects on the way are created. `undefined` when something else is in the way. */
function holderOf(target: Record<string, unknown>, steps: readonly string[]): Record<string, unknown> | undefined {
  let holder = target;
  for (const step of steps.slice(0, -1)) {
    if (!Object.hasOwn(holder, step)) holder[step] = {};
    const next = holder[step];
    if (!isRecord(next)) return undefined;
    holder = next;
  }
  return holder;
}

function setIfAbsent(target: Record<string, unknown>, steps: readonly string[], value: Scalar): void {
  const holder = holderOf(target, steps);
  const name = steps.at(-1);
  if (holder !== undefined && name !== undefined && !Object.hasOwn(holder, name)) holder[name] = value;
}
