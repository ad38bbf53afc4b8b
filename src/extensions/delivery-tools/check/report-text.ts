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
}

/** Maximum number of places of a finding that are kept. */
const MAX_PLACES = 100;

export class Findings {
  readonly #found = new Map<string, { rule: Rule; severity: Severity; count: number; places: Place[] }>();
  readonly #blockingOnly: boolean;

  constructor({ blockingOnly = false }: { readonly blockingOnly?: boolean } = {}) {
    this.#blockingOnly = blockingOnly;
  }

  /** @param pointer is asked for only when the place is kept */
  add(rule: Rule, severity: Severity, what: What | ModelFault, pointer: () => string): void {
    if (this.#blockingOnly && severity !== 'blocking') return;
    const key = `${rule} ${severity}`;
    const finding = this.#found.get(key) ?? { rule, severity, count: 0, places: [] };
    this.#found.set(key, finding);
    finding.count += 1;
    if (finding.places.length < MAX_PLACES) finding.places.push({ pointer: pointer(), what });
  }

  /** What blocks before what does not; the model first, then by number. */
  list(): Finding[] {
    const order = ({ rule, severity }: Finding): number =>
      (rule === 'model' ? 0 : rule) + (severity === 'warning' ? 100 : 0);
    return [...this.#found.values()].toSorted((a, b) => order(a) - order(b));
  }
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

/** Maximum number of places of a finding that are shown in a text. */
const SHOWN_PLACES = 10;

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

function findingLines({ rule, severity, count, places }: Finding): string[] {
  const shown = places.slice(0, SHOWN_PLACES);
  const more = count - shown.length;
  return [
    `${severity.padEnd(8)} ${WORDS.ruleName(rule)}, ${WORDS.times(count)}: ${WORDS.ruleText(rule)}`,
    ...shown.map(({ pointer, what }) => `  ${pointer || '/'}  ${what}`),
    ...(more > 0 ? [`  ${WORDS.more(more)}`] : []),
  ];
}

export function countFindings({ findings }: CheckReport, severity: Severity): number {
  return findings.reduce((sum, finding) => sum + (finding.severity === severity ? finding.count : 0), 0);
}

export function summary(report: CheckReport, words = WORDS): string {
  const { findings } = report;
  if (findings.length === 0) return words.nothing;
  return words.summary(countFindings(report, 'blocking'), countFindings(report, 'warning'));
}
