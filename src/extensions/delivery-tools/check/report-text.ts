/** What a check finds, by rule: a count, and the first places. No value of a record is ever part of it. */
import type { Report } from '../../../gegevens/commands/tools.ts';
import type { CheckReport, MunicipalityCounts } from './delivery-check.ts';
import type { ModelFault, What } from './what.ts';

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

  /** @param pointer is asked for only when the place is kept */
  add(rule: Rule, severity: Severity, what: What | ModelFault, pointer: () => string): void {
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
export function countsTable({ municipalities }: CheckReport, nameOf = municipalityText) {
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
    period === undefined ? 'period unknown' : `${period.start} to ${period.end}`,
    '',
    rows.length === 0 ? 'No records.' : table(head, rows),
    '',
    ...findings.flatMap(findingLines),
    summary(report),
  ].join('\n');
}

export function municipalityText(gemeentecode: MunicipalityCounts['gemeentecode']): string {
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

function ruleName(rule: Rule): string {
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
