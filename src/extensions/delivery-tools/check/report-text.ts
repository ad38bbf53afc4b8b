/** What a check finds, by rule: a count, and the first places. No value of a record is ever part of it. */
import type { Report } from '../../../gegevens/commands/tools.ts';
import type { CheckReport, MunicipalityCounts } from './delivery-check.ts';

export type Severity = 'blocking' | 'warning';
export type Rule = number | 'model';

/** The rules of the statistics office, by their numbers. */
const RULE_TEXTS: Readonly<Record<number, string>> = {
  1: 'a delivering organisation has a gemeentecode only if it is a municipality, and else a KvK number',
  2: 'every trajectory or signal is for a municipality: a gemeentecode, or `Onbekend`',
  3: 'an organisation that delivers for several municipalities has one levering for each',
  4: 'codeGegevensleverancier is the name and version of the product',
  5: 'the beschikkingsdatum and the einddatum of an intake are the same',
  6: 'a dwangakkoord is true only when the arrangement has a date in `toegekend`',
  7: 'both names of a creditor, `naam` and `Naam`, are the same',
  8: 'the toekenningsdatum is the date in `toegekend` of the arrangement',
  9: 'the geslachtsaanduiding is Man, Vrouw, Onbekend or Leeg',
  10: 'outflow, trajectory and datumBeeindigingsbeschikking have the same end',
  11: 'an organisation has a contact with an e-mail address: the office sends its report there',
  12: 'a client has one trajectory at a time in a municipality',
  13: 'a signal in a case is one taken up, and the case begins on the day that it was taken up',
  14: 'dates are in order: begin before end, no end in the future, born before the begin',
  15: 'a BSN passes its eleven test, and no record or item of one is there twice',
};

export function ruleText(rule: Rule): string {
  return rule === 'model' ? 'the delivery fits the exchange model' : (RULE_TEXTS[rule] ?? '');
}

/** One place of a finding. */
export interface Place {
  /** JSON Pointer; behind the name of the file when several are checked. */
  readonly pointer: string;
  /** What is wrong there. */
  readonly what: string;
}

export interface Finding {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly count: number;
  readonly places: readonly Place[];
}

/** Most places of a finding that are kept. */
const MAX_PLACES = 100;

export class Findings {
  readonly #found = new Map<string, { rule: Rule; severity: Severity; count: number; places: Place[] }>();

  /** @param pointer is asked for only when the place is kept */
  add(rule: Rule, severity: Severity, what: string, pointer: () => string): void {
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

interface Counts {
  readonly columns: readonly {
    readonly head: string;
    readonly json: string;
    readonly of: Exclude<keyof MunicipalityCounts, 'gemeentecode' | 'groups'>;
  }[];
  readonly groups: { readonly title: string; readonly json: string };
}

const PERSONS: Counts['columns'] = [
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

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** The report as text and as JSON. @param table writes a table in plain text */
export function describeReport(report: CheckReport, table: Table): Report {
  return { text: reportText(report, table), json: reportJson(report), blocking: countFindings(report, 'blocking') };
}

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

function reportText(report: CheckReport, table: Table): string {
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
