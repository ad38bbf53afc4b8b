/** The report of a check, for machines and for people. */
import type { CheckReport, MunicipalityCounts } from './delivery-check.ts';
import { type Finding, type Rule, ruleText, type Severity } from './findings.ts';

interface CountColumn {
  readonly head: string;
  readonly json: string;
  readonly of: Exclude<keyof MunicipalityCounts, 'gemeentecode' | 'groups'>;
}

interface Counts {
  readonly columns: readonly CountColumn[];
  readonly groups: { readonly title: string; readonly json: string };
}

const PERSONS: readonly CountColumn[] = [
  { head: 'persons', json: 'persons', of: 'persons' },
  { head: 'active', json: 'activePersons', of: 'activePersons' },
];

/** What is counted of each municipality. */
export const COUNTS: Readonly<Record<CheckReport['variant'], Counts>> = {
  shv: {
    columns: [{ head: 'trajectories', json: 'trajectories', of: 'records' }, ...PERSONS],
    groups: { title: 'Persons per latest step', json: 'personsPerStep' },
  },
  vs: {
    columns: [
      { head: 'signals', json: 'signals', of: 'records' },
      { head: 'cases', json: 'cases', of: 'cases' },
      ...PERSONS,
    ],
    groups: { title: 'Signals per kind', json: 'signalsPerKind' },
  },
};

export function reportJson({ variant, period, municipalities, findings }: CheckReport) {
  const { columns, groups } = COUNTS[variant];
  return {
    period: period ?? null,
    municipalities: municipalities.map((each) => ({
      gemeentecode: each.gemeentecode,
      ...Object.fromEntries(columns.map(({ json, of }) => [json, each[of]])),
      [groups.json]: each.groups,
    })),
    findings: findings.map(({ rule, severity, count, places }) => ({
      ...{ rule, severity, count },
      /** JSON Pointers; at most a hundred. */
      places: places.map(({ pointer }) => pointer),
    })),
  };
}

/** The steps or kinds that are counted. */
export function groupNames({ municipalities }: CheckReport): string[] {
  return [...new Set(municipalities.flatMap((each) => Object.keys(each.groups)))];
}

/** Most places of a finding that are shown in a text. */
const SHOWN_PLACES = 10;

/** @param table writes a table in plain text */
export function reportText(
  report: CheckReport,
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string {
  const { variant, period, municipalities, findings } = report;
  const { columns } = COUNTS[variant];
  const groups = groupNames(report);
  const counts = table(
    ['municipality', ...columns.map(({ head }) => head), ...groups],
    municipalities.map((each) => [
      municipalityText(each),
      ...columns.map(({ of }) => String(each[of])),
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
