import { isRecord, toPointer } from '../../../lib/json/json-value.ts';
import type { BoundMember, BoundTable, Column } from './bound-table.ts';
import type { Converted } from './convert.ts';
import type { Scalar } from './mapping-file.ts';
import type { ConstantMember, ListPath, MemberPath } from './plan.ts';

/** The values of a row, kept until its record is made. */
export interface RowValues {
  readonly table: number;
  readonly row: number;
  /** Number of its levering; -1 for a table that adds to records. */
  readonly levering: number;
  /** By column member of the table; `null`: nothing. */
  readonly values: readonly Converted[];
  /** By list with keys: that of this row's item. */
  readonly items: Readonly<Record<string, string>>;
  readonly isFaulty: boolean;
}

interface Origin {
  readonly table: number;
  readonly row: number;
  readonly column: Column;
}

interface Filling {
  readonly members: readonly Pick<BoundMember, 'member' | 'column'>[];
  readonly constants: readonly ConstantMember[];
  readonly itemKeys: BoundTable['itemKeys'];
}

interface Part {
  readonly value: Record<string, unknown>;
  readonly origins: Map<MemberPath, Origin>;
  /** The table of the row that made it. */
  readonly table: number;
}

interface List {
  readonly steps: readonly string[];
  readonly items: Map<string, Part>;
}

/** Builds a record, or the head of a levering, from its rows. */
export class Assembly {
  readonly #fillingOf: (table: number) => Filling;
  readonly #whole: Part = { value: {}, table: 0, origins: new Map() };
  readonly #lists = new Map<string, List>();
  readonly contradictions: (Origin & { readonly earlier: number | undefined })[] = [];

  constructor(rows: readonly RowValues[], fillingOf: (table: number) => Filling) {
    this.#fillingOf = fillingOf;
    for (const row of rows) this.#addRow(row);
    for (const table of new Set(rows.map((row) => row.table))) this.#addConstants(table);
    for (const list of this.#lists.values()) {
      const [holder, name] = holderOf(this.value, list.steps);
      if (holder !== undefined) holder[name] = ordered(list).map(({ value }) => value);
    }
  }

  get value(): Record<string, unknown> {
    return this.#whole.value;
  }

  origins(): ReadonlyMap<string, Origin> {
    const all = new Map<string, Origin>();
    const add = (before: string, { origins }: Part): void => {
      for (const [{ steps }, origin] of origins) all.set(before + toPointer(steps), origin);
    };
    add('', this.#whole);
    for (const list of this.#lists.values())
      for (const [index, part] of ordered(list).entries()) add(toPointer([...list.steps, index]), part);
    return all;
  }

  #addRow({ table, row, values, items }: RowValues): void {
    const { members, itemKeys } = this.#fillingOf(table);
    for (const [index, { member, column }] of members.entries()) {
      const value = values[index] ?? null;
      if (value === null) continue;
      const origin = { table, row, column };
      const { list } = member;
      if (list === undefined) {
        if (typeof value !== 'object') this.#set(this.#whole, member, value, origin);
        continue;
      }
      if (itemKeys.has(list.pointer) && items[list.pointer] === undefined) continue;
      for (const [part, one] of (typeof value === 'object' ? value : [value]).entries()) {
        // Without a key, each row makes an item of its own, and so does each part of a split cell.
        const ownKey = `${table} ${row} ${member.isMultiple ? part : ''}`;
        const key = list.item === '-' ? (items[list.pointer] ?? ownKey) : list.item;
        this.#set(this.#item(list, key, table), member, one, origin);
      }
    }
  }

  #item({ pointer, steps }: ListPath, key: string, table: number): Part {
    const list = this.#lists.get(pointer) ?? { steps, items: new Map() };
    this.#lists.set(pointer, list);
    const item = list.items.get(key) ?? { value: {}, table, origins: new Map<MemberPath, Origin>() };
    list.items.set(key, item);
    return item;
  }

  #set({ value: target, origins }: Part, member: MemberPath, value: Scalar, origin: Origin): void {
    const [holder, name] = holderOf(target, member.steps);
    if (holder === undefined) return;
    if (!Object.hasOwn(holder, name)) {
      holder[name] = value;
      origins.set(member, origin);
    } else if (holder[name] !== value) this.contradictions.push({ ...origin, earlier: origins.get(member)?.row });
  }

  #addConstants(table: number): void {
    const { members, constants } = this.#fillingOf(table);
    for (const { list, steps, value } of constants) {
      if (list === undefined) {
        setIfAbsent(this.value, steps, value);
        continue;
      }
      // A numbered item without filled columns consists of constants: the one contact of an organisation.
      const isFixed = !members.some(
        ({ member }) => member.list?.pointer === list.pointer && member.list.item === list.item,
      );
      if (isFixed && list.item !== '-') this.#item(list, list.item, table);
      for (const [key, item] of this.#lists.get(list.pointer)?.items ?? []) {
        if (item.table === table && (list.item === '-' || list.item === key)) setIfAbsent(item.value, steps, value);
      }
    }
  }
}

/** Numbered items are in the order of their numbers, without gaps. */
function ordered({ items }: List): Part[] {
  const isNumbered = [...items.keys()].every((key) => /^\d+$/.test(key));
  const entries = isNumbered ? [...items].toSorted(([a], [b]) => Number(a) - Number(b)) : [...items];
  return entries.map(([, part]) => part);
}

/** The object that holds a member, and its name; creates objects on the way. Without an object when another value is in the way. */
function holderOf(
  target: Record<string, unknown>,
  steps: readonly string[],
): [holder: Record<string, unknown> | undefined, name: string] {
  let holder = target;
  for (const step of steps.slice(0, -1)) {
    if (!Object.hasOwn(holder, step)) holder[step] = {};
    const next = holder[step];
    if (!isRecord(next)) return [undefined, ''];
    holder = next;
  }
  return [holder, steps.at(-1) ?? ''];
}

function setIfAbsent(target: Record<string, unknown>, steps: readonly string[], value: Scalar): void {
  const [holder, name] = holderOf(target, steps);
  if (holder !== undefined && !Object.hasOwn(holder, name)) holder[name] = value;
}
