/** What a check finds, by rule: a count, and the first places. No value of a record is ever part of it. */
import type { Mapping } from '../../../lib/exchange-model/mapping.ts';
import type { Period } from '../../model/selection.ts';
import type { Item } from '../message-store.ts';
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

export interface Place {
  /** JSON Pointer; behind the name of the file when several are checked. */
  readonly pointer: string;
  readonly what: What | ModelFault;
  readonly item?: Item | undefined;
  /** Of a table, once its file has ended. */
  row?: ItemPlace;
}

/** Equal faults at places that differ in their numbers only: a column of a table. The first places are kept. */
export interface Column {
  count: number;
  readonly places: Place[];
}

export interface Finding extends Column {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly columns: Map<string, Column>;
}

/** Maximum number of places of a finding that are kept, and of its columns. */
const MAX_PLACES = 100;
/** Maximum number of places of a finding that are shown in a text; a column with more is one line. */
export const SHOWN_PLACES = 10;

export class Findings {
  readonly #found = new Map<string, Finding>();
  readonly #blockingOnly: boolean;
  /** The kept places of the file that is being read. */
  readonly #open = new Set<Place>();

  constructor({ blockingOnly = false }: { readonly blockingOnly?: boolean } = {}) {
    this.#blockingOnly = blockingOnly;
  }

  add(rule: Rule, severity: Severity, place: Place): void {
    if (this.#blockingOnly && severity !== 'blocking') return;
    const key = `${rule} ${severity}`;
    const finding: Finding = this.#found.get(key) ?? { rule, severity, count: 0, places: [], columns: new Map() };
    this.#found.set(key, finding);
    this.#count(finding, MAX_PLACES, place);
    const name = `${columnOf(place.pointer)} ${place.what.replaceAll(/\d+/g, '0')}`;
    if (!finding.columns.has(name) && finding.columns.size < MAX_PLACES)
      finding.columns.set(name, { count: 0, places: [] });
    const column = finding.columns.get(name);
    if (column !== undefined) this.#count(column, SHOWN_PLACES, place);
  }

  #count(column: Column, most: number, place: Place): void {
    column.count += 1;
    if (column.places.length >= most) return;
    column.places.push(place);
    this.#open.add(place);
  }

  /** Ends a file of tables. @param rowsOf finds the rows of items; called only when there are any */
  locate(rowsOf: (items: readonly Item[]) => (item: Item) => ItemPlace | undefined): void {
    const items = [...this.#open].flatMap(({ item }) => item ?? []);
    const rowOf = items.length > 0 ? rowsOf(items) : undefined;
    for (const place of this.#open) {
      const row = place.item && rowOf?.(place.item);
      if (row !== undefined) place.row = row;
    }
    this.#open.clear();
  }

  /** Blocking findings first; the model first, then by number. */
  list(): Finding[] {
    const order = ({ rule, severity }: Finding): number =>
      (rule === 'model' ? 0 : rule) + (severity === 'warning' ? 100 : 0);
    return [...this.#found.values()].toSorted((a, b) => order(a) - order(b));
  }
}

/** A place without the numbers of items: `/schulden/-/bedrag`. */
export function columnOf(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/-');
}
