/** The report of a check, for machines and for people. */
import type { CheckReport, MunicipalityCounts } from './delivery-check.ts';
import { type Finding, type Rule, ruleText, type Severity } from './findings.ts';

interface ReportJson {
  readonly period: { readonly start: string; readonly end: string } | null;
  readonly municipalities: readonly Readonly<Record<string, unknown>>[];
  readonly findings: readonly {
    readonly rule: Rule;
    readonly severity: Severity;
    readonly count: number;
    /** JSON Pointers; at most a hundred. */
    readonly places: readonly string[];
  }[];
}

export function reportJson({ variant, period, municipalities, findings }: CheckReport): ReportJson {
  return {
    period: period ?? null,
    municipalities: municipalities.map(({ gemeentecode, records, cases, persons, activePersons, groups }) =>
      variant === 'shv'
        ? { gemeentecode, trajectories: records, persons, activePersons, personsPerStep: groups }
        : { gemeentecode, signals: records, cases, persons, activePersons, signalsPerKind: groups },
    ),
    findings: findings.map(({ rule, severity, count, places }) => ({
      ...{ rule, severity, count },
      places: places.map(({ pointer }) => pointer),
    })),
  };
}

/** The names of what is counted, and the counts of each municipality in that order. */
export function countColumns({ variant, municipalities }: CheckReport): {
  readonly own: readonly string[];
  readonly ownCounts: (counts: MunicipalityCounts) => readonly number[];
  /** What the groups are: persons per step, or signals per kind. */
  readonly title: string;
  readonly groups: readonly string[];
} {
  const groups = [...new Set(municipalities.flatMap((each) => Object.keys(each.groups)))];
  return variant === 'shv'
    ? {
        own: ['trajectories', 'persons', 'active'],
        ownCounts: ({ records, persons, activePersons }) => [records, persons, activePersons],
        title: 'Persons per latest step',
        groups,
      }
    : {
        own: ['signals', 'cases', 'persons', 'active'],
        ownCounts: ({ records, cases, persons, activePersons }) => [records, cases, persons, activePersons],
        title: 'Signals per kind',
        groups,
      };
}

/** Most places of a finding that are shown in a text. */
const SHOWN_PLACES = 10;

/** @param table writes a table in plain text */
export function reportText(
  report: CheckReport,
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string {
  const { period, municipalities, findings } = report;
  const { own, ownCounts, groups } = countColumns(report);
  const counts = table(
    ['municipality', ...own, ...groups],
    municipalities.map((each) => [
      municipalityText(each),
      ...ownCounts(each).map(String),
      ...groups.map((group) => String(each.groups[group] ?? 0)),
    ]),
  );
  return [
    period === undefined ? 'period unknown' : `${period.start} to ${period.end}`,
    '',
    municipalities.length === 0 ? 'No records.' : counts,
    '',
    ...findings.flatMap(findingLines),
    summary(report),
  ].join('\n');
}

export function municipalityText({ gemeentecode }: MunicipalityCounts): string {
  return gemeentecode ?? '(none)';
}

function findingLines({ rule, severity, count, places }: Finding): string[] {
  const shown = places.slice(0, SHOWN_PLACES);
  const more = count - shown.length;
  return [
    `${severity.padEnd(8)} ${ruleName(rule)}, ${count} ${count === 1 ? 'time' : 'times'}: ${ruleText(rule)}`,
    ...shown.map(({ pointer, what }) => `  ${pointer || '/'}  ${what}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

export function ruleName(rule: Rule): string {
  return rule === 'model' ? 'model' : `rule ${rule}`;
}

export function countFindings({ findings }: CheckReport, severity: Severity): number {
  return findings.reduce((sum, finding) => sum + (finding.severity === severity ? finding.count : 0), 0);
}

export function summary(report: CheckReport): string {
  const [blocking, warnings] = [countFindings(report, 'blocking'), countFindings(report, 'warning')];
  if (blocking + warnings === 0) return 'Nothing was found that breaks a rule.';
  return `${blocking} blocking, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
}
