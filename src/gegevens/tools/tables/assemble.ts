import { isRecord, toPointer } from '../../../lib/json/json-value.ts';
import type { Column, Filling, RowValues } from './bound-table.ts';
import type { Scalar } from './mapping-file.ts';
import type { ListPath, MemberPath } from './plan.ts';

interface Origin {
  readonly table: number;
  readonly row: number;
  readonly column: Column;
}

/** The whole, or an item of a list. */
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
  readonly value: Record<string, unknown> = {};
  readonly contradictions: (Origin & { readonly earlier: number | undefined })[] = [];
  readonly #whole: Part = { value: this.value, table: 0, origins: new Map() };
  readonly #lists = new Map<string, List>();

  constructor(rows: readonly RowValues[], fillingOf: (table: number) => Filling) {
    for (const row of rows) this.#addRow(row, fillingOf(row.table));
    for (const table of new Set(rows.map((row) => row.table))) this.#addConstants(table, fillingOf(table));
    for (const list of this.#lists.values()) {
      const [holder, name] = holderOf(this.value, list.steps);
      if (holder !== undefined) holder[name] = ordered(list).map(({ value }) => value);
    }
  }

  /** Where the members came from, by their pointers. */
  origins(): ReadonlyMap<string, Origin> {
    const items = [...this.#lists.values()].flatMap((list) =>
      ordered(list).map((part, index) => ({ before: toPointer([...list.steps, index]), part })),
    );
    return new Map(
      [{ before: '', part: this.#whole }, ...items].flatMap(({ before, part }) =>
        [...part.origins].map(([{ steps }, origin]) => [before + toPointer(steps), origin] as const),
      ),
    );
  }

  #addRow({ table, row, values, items }: RowValues, { members, itemKeys }: Filling): void {
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
    const item = list.items.get(key) ?? { value: {}, table, origins: new Map() };
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

  #addConstants(table: number, { members, constants }: Filling): void {
    for (const { list, steps, value } of constants) {
      if (list === undefined) {
        setIfAbsent(this.value, steps, value);
        continue;
      }
      // A numbered item without filled columns consists of constants: the one contact of an organisation.
      const isFilled = members.some(
        ({ member: { list: of } }) => of?.pointer === list.pointer && of.item === list.item,
      );
      if (!isFilled && list.item !== '-') this.#item(list, list.item, table);
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
