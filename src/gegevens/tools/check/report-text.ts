/** What a check finds, by rule: a count, and the first places. No value of a record is ever part of it. */
import type { Report } from '../../commands/tools.ts';
import type { ItemList } from '../../model/mapping.ts';
import type { CheckReport } from './delivery-check.ts';
import { type ModelFault, type Rule, reportWords, type Severity, type What } from './report-words.ts';

const WORDS = reportWords.en;

/** A record or case: its levering, list and place in the list. */
export interface Item {
  readonly levering: number;
  readonly list: ItemList;
  readonly nummer: number;
}

/** The row of a table that an item came from. */
export interface ItemPlace {
  readonly file: string;
  readonly sheet?: string;
  readonly row: number;
  /** The columns that make the key of its record; the values only where they may be shown. */
  readonly key: readonly { readonly column: string; readonly value?: string }[];
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
  /** The places by column: those that differ in their numbers only, and have the same wrong with them. */
  readonly columns: readonly Column[];
}

interface Column {
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
const SHOWN_PLACES = 10;

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

  /** What blocks before what does not; the model first, then by number. */
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
function columnOf(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/-');
}

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** The report as text and as JSON. @param table writes a table in plain text; absent: nothing was counted */
export function describeReport(report: CheckReport, table?: Table): Report {
  const json = reportJson(report);
  return {
    text: reportText(report, table),
    json: table === undefined ? { period: json.period, findings: json.findings } : json,
    blocking: countFindings(report, 'blocking'),
    blockers: json.findings
      .filter(({ severity }) => severity === 'blocking')
      .map(({ rule, count, places }) => ({ rule, count, places })),
  };
}

export function reportJson({ variant, period, municipalities, findings }: CheckReport) {
  const name = variant === 'shv' ? 'personsPerStep' : 'signalsPerKind';
  return {
    period: period ?? null,
    municipalities: municipalities.map(({ gemeentecode, counts, groups }) => ({
      gemeentecode,
      ...counts,
      [name]: groups,
    })),
    findings: findings.map(({ rule, severity, count, places }) => ({
      ...{ rule, severity, count },
      /** JSON Pointers; at most a hundred. */
      places: places.map(({ pointer }) => pointer),
      ...(places.some(({ row }) => row !== undefined) ? { rows: places.map(({ row }) => row ?? null) } : {}),
    })),
  };
}

/** The counts of each municipality as a table: what was counted, and the steps or kinds. */
export function countsTable({ municipalities }: CheckReport, nameOf = WORDS.municipality) {
  const columns = Object.keys(municipalities[0]?.counts ?? {});
  const groups = [...new Set(municipalities.flatMap((each) => Object.keys(each.groups)))];
  return {
    head: ['municipality', ...columns, ...groups],
    rows: municipalities.map(({ gemeentecode, counts, groups: own }) => [
      nameOf(gemeentecode),
      ...columns.map((name) => String(counts[name] ?? 0)),
      ...groups.map((name) => String(own[name] ?? 0)),
    ]),
  };
}

function reportText(report: CheckReport, table: Table | undefined): string {
  const { period, findings } = report;
  const { head, rows } = countsTable(report);
  const counts = [
    period === undefined ? 'period unknown' : WORDS.between(period.start, period.end),
    '',
    rows.length === 0 ? 'No records.' : table?.(head, rows),
    '',
  ];
  return [...(table === undefined ? [] : counts), ...findings.flatMap(findingLines), summary(report)].join('\n');
}

function findingLines({ rule, severity, count, columns }: Finding): string[] {
  const shown = columns.flatMap(columnLines).slice(0, SHOWN_PLACES);
  const more = count - shown.reduce((sum, line) => sum + line.count, 0);
  return [
    `${severity.padEnd(8)} ${WORDS.ruleName(rule)}, ${WORDS.times(count)}: ${WORDS.ruleText(rule)}`,
    ...shown.map(({ text }) => `  ${text}`),
    ...(more > 0 ? [`  ${WORDS.more(more)}`] : []),
  ];
}

/** A line for each place of a column, or one for all where there are many. */
function columnLines({ count, places }: Column): { readonly text: string; readonly count: number }[] {
  const [first] = places;
  if (first !== undefined && count > places.length) {
    const text = `${columnOf(first.pointer)}  ${first.what}, ${WORDS.times(count)}; first at ${placeText(first)}`;
    return [{ text, count }];
  }
  return places.map((place) => ({ text: `${placeText(place)}  ${place.what}`, count: 1 }));
}

/** The row of a table, and the pointer. */
function placeText({ pointer, row }: Place): string {
  return [...(row === undefined ? [] : [WORDS.row(row)]), pointer || '/'].join('  ');
}

export function countFindings({ findings }: CheckReport, severity: Severity): number {
  return findings.reduce((sum, finding) => sum + (finding.severity === severity ? finding.count : 0), 0);
}

export function summary(report: CheckReport, words = WORDS): string {
  const { findings } = report;
  if (findings.length === 0) return words.nothing;
  return words.summary(countFindings(report, 'blocking'), countFindings(report, 'warning'));
}
