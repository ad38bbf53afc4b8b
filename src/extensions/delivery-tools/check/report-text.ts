/** What a check finds, by rule: a count, and the first places. No value of a record is ever part of it. */
import type { Report } from '../../../gegevens/commands/tools.ts';
import type { CheckReport } from './delivery-check.ts';
import { type ModelFault, type Rule, reportWords, type Severity, type What } from './report-words.ts';

const WORDS = reportWords.en;

export interface Place {
  /** JSON Pointer; behind the name of the file when several are checked. */
  readonly pointer: string;
  readonly what: What | ModelFault;
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
  readonly places: Place[];
  readonly columns: Map<string, { count: number; readonly places: Place[] }>;
}

/** Maximum number of places of a finding that are kept, and of its columns. */
const MAX_PLACES = 100;
/** Maximum number of places of a finding that are shown in a text; a column with more is one line. */
const SHOWN_PLACES = 10;

export class Findings {
  readonly #found = new Map<string, Found>();

  add(rule: Rule, severity: Severity, what: What | ModelFault, pointer: () => string): void {
    const key = `${rule} ${severity}`;
    const finding: Found = this.#found.get(key) ?? { rule, severity, count: 0, places: [], columns: new Map() };
    this.#found.set(key, finding);
    finding.count += 1;
    const place: Place = { pointer: pointer(), what };
    if (finding.places.length < MAX_PLACES) finding.places.push(place);
    const name = `${columnOf(place.pointer)} ${what.replaceAll(/\d+/g, '0')}`;
    const column = finding.columns.get(name) ?? { count: 0, places: [] as Place[] };
    if (finding.columns.size < MAX_PLACES) finding.columns.set(name, column);
    column.count += 1;
    if (column.places.length < SHOWN_PLACES) column.places.push(place);
  }

  /** What blocks before what does not; the model first, then by number. */
  list(): Finding[] {
    const order = ({ rule, severity }: Finding): number =>
      (rule === 'model' ? 0 : rule) + (severity === 'warning' ? 100 : 0);
    return [...this.#found.values()]
      .map((found) => ({ ...found, columns: [...found.columns.values()] }))
      .toSorted((a, b) => order(a) - order(b));
  }
}

/** A place without the numbers of items: `/schulden/-/bedrag`. */
function columnOf(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/-');
}

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** The report as text and as JSON. @param table writes a table in plain text */
export function describeReport(report: CheckReport, table: Table): Report {
  return { text: reportText(report, table), json: reportJson(report), blocking: countFindings(report, 'blocking') };
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

function reportText(report: CheckReport, table: Table): string {
  const { period, findings } = report;
  const { head, rows } = countsTable(report);
  return [
    period === undefined ? 'period unknown' : WORDS.between(period.start, period.end),
    '',
    rows.length === 0 ? 'No records.' : table(head, rows),
    '',
    ...findings.flatMap(findingLines),
    summary(report),
  ].join('\n');
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
    const text = `${columnOf(first.pointer)}  ${first.what}, ${WORDS.times(count)}; first at ${first.pointer}`;
    return [{ text, count }];
  }
  return places.map(({ pointer, what }) => ({ text: `${pointer || '/'}  ${what}`, count: 1 }));
}

export function countFindings({ findings }: CheckReport, severity: Severity): number {
  return findings.reduce((sum, finding) => sum + (finding.severity === severity ? finding.count : 0), 0);
}

export function summary(report: CheckReport, words = WORDS): string {
  const { findings } = report;
  if (findings.length === 0) return words.nothing;
  return words.summary(countFindings(report, 'blocking'), countFindings(report, 'warning'));
}
