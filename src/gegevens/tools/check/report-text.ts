import type { BlockingFinding } from '../../store/forced-imports.ts';
import { type CheckReport, type Column, columnOf, type Finding, type Place, SHOWN_PLACES } from './findings.ts';
import { reportWords, type Severity } from './report-words.ts';

const WORDS = reportWords.en;

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

export interface Report {
  readonly text: string;
  readonly json: unknown;
  /** Findings that block a delivery: their number, and which. */
  readonly blocking: number;
  readonly blockers: readonly BlockingFinding[];
}

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
      rule,
      severity,
      count,
      /** JSON Pointers; at most a hundred. */
      places: places.map(({ pointer }) => pointer),
      ...(places.some(({ row }) => row !== undefined) ? { rows: places.map(({ row }) => row ?? null) } : {}),
    })),
  };
}

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
  const shown = [...columns.values()].flatMap(columnLines).slice(0, SHOWN_PLACES);
  const more = count - shown.reduce((sum, line) => sum + line.count, 0);
  return [
    `${severity.padEnd(8)} ${WORDS.ruleName(rule)}, ${WORDS.times(count)}: ${WORDS.ruleText(rule)}`,
    ...shown.map(({ text }) => `  ${text}`),
    ...(more > 0 ? [`  ${WORDS.more(more)}`] : []),
  ];
}

/** A line for each place of a column, or one for all when there are many. */
function columnLines({ count, places }: Column): { readonly text: string; readonly count: number }[] {
  const [first] = places;
  if (first !== undefined && count > places.length) {
    const text = `${columnOf(first.pointer)}  ${first.what}, ${WORDS.times(count)}; first at ${placeText(first)}`;
    return [{ text, count }];
  }
  return places.map((place) => ({ text: `${placeText(place)}  ${place.what}`, count: 1 }));
}

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
