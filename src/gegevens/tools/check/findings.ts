/** What a check finds, by rule: a count, and the first places. No value of a record is ever part of it. */
import type { ItemList, Mapping } from '../../../lib/exchange-model/mapping.ts';
import type { Period } from '../../model/selection.ts';
import type { ItemPlace, ModelFault, Rule, Severity, What } from './report-words.ts';

export interface MunicipalityCounts {
  /** As the first record spells it; `null`: for records without one. */
  readonly gemeentecode: string | null;
  /** Of trajectories or signals first. */
  readonly counts: Readonly<Record<string, number>>;
  /** Persons by step of a trajectory, or signals by kind. */
  readonly groups: Readonly<Record<string, number>>;
}

export interface CheckReport {
  readonly variant: Mapping['variant'];
  /** Absent: the period is not known. */
  readonly period: Period | undefined;
  readonly municipalities: readonly MunicipalityCounts[];
  readonly findings: readonly Finding[];
}

/** A record or case: its levering, list and place in the list. */
export interface Item {
  readonly levering: number;
  readonly list: ItemList;
  readonly nummer: number;
}

interface FoundPlace {
  /** JSON Pointer; behind the name of the file when several are checked. */
  readonly pointer: string;
  readonly item?: Item | undefined;
}

export interface Place extends Pick<FoundPlace, 'pointer'> {
  readonly what: What | ModelFault;
  readonly row?: ItemPlace;
}

/** A place that is kept; `located` when its file has ended. */
interface KeptPlace extends FoundPlace {
  readonly what: What | ModelFault;
  row?: ItemPlace;
  isLocated: boolean;
}

export interface Finding {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly count: number;
  readonly places: readonly Place[];
  /** The places of a column: places that differ in their numbers only, with the same fault. */
  readonly columns: readonly Column[];
}

export interface Column {
  readonly count: number;
  /** The first of them. */
  readonly places: readonly Place[];
}

interface Found {
  readonly rule: Rule;
  readonly severity: Severity;
  count: number;
  readonly places: KeptPlace[];
  readonly columns: Map<string, { count: number; readonly places: KeptPlace[] }>;
}

/** Maximum number of places of a finding that are kept, and of its columns. */
const MAX_PLACES = 100;
/** Maximum number of places of a finding that are shown in a text; a column with more is one line. */
export const SHOWN_PLACES = 10;

export class Findings {
  readonly #found = new Map<string, Found>();
  readonly #blockingOnly: boolean;

  constructor({ blockingOnly = false }: { readonly blockingOnly?: boolean } = {}) {
    this.#blockingOnly = blockingOnly;
  }

  /** @param place is asked for only when it is kept */
  add(rule: Rule, severity: Severity, what: What | ModelFault, place: () => FoundPlace): void {
    if (this.#blockingOnly && severity !== 'blocking') return;
    const key = `${rule} ${severity}`;
    const finding: Found = this.#found.get(key) ?? { rule, severity, count: 0, places: [], columns: new Map() };
    this.#found.set(key, finding);
    finding.count += 1;
    const kept: KeptPlace = { ...place(), what, isLocated: false };
    if (finding.places.length < MAX_PLACES) finding.places.push(kept);
    const name = `${columnOf(kept.pointer)} ${what.replaceAll(/\d+/g, '0')}`;
    const column = finding.columns.get(name) ?? { count: 0, places: [] as KeptPlace[] };
    if (finding.columns.size < MAX_PLACES) finding.columns.set(name, column);
    column.count += 1;
    if (column.places.length < SHOWN_PLACES) column.places.push(kept);
  }

  /** Ends a file. @param rowsOf finds the rows of items of a list, by their places in it */
  locate(
    rowsOf: (levering: number, list: ItemList, nummers: readonly number[]) => ReadonlyMap<number, ItemPlace>,
  ): void {
    const all = [...this.#found.values()].flatMap(({ places, columns }) => [
      ...places,
      ...[...columns.values()].flatMap((column) => column.places),
    ]);
    const open = [...new Set(all)].filter(({ isLocated }) => !isLocated);
    for (const place of open) place.isLocated = true;
    const ofLists = Map.groupBy(open, ({ item }) => item && `${item.levering} ${item.list}`);
    for (const places of ofLists.values()) {
      const [first] = places;
      if (first?.item === undefined) continue;
      const { levering, list } = first.item;
      const rows = rowsOf(
        levering,
        list,
        places.flatMap(({ item }) => item?.nummer ?? []),
      );
      for (const place of places) {
        const row = rows.get(place.item?.nummer ?? -1);
        if (row !== undefined) place.row = row;
      }
    }
  }

  /** Blocking findings first; the model first, then by number. */
  list(): Finding[] {
    const order = ({ rule, severity }: Finding): number =>
      (rule === 'model' ? 0 : rule) + (severity === 'warning' ? 100 : 0);
    return [...this.#found.values()]
      .map(({ places, columns, ...finding }) => ({
        ...finding,
        places: places.map(shownPlace),
        columns: [...columns.values()].map((column) => ({ ...column, places: column.places.map(shownPlace) })),
      }))
      .toSorted((a, b) => order(a) - order(b));
  }
}

function shownPlace({ pointer, what, row }: KeptPlace): Place {
  return { pointer, what, ...(row === undefined ? {} : { row }) };
}

/** A place without the numbers of items: `/schulden/-/bedrag`. */
export function columnOf(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/-');
}
