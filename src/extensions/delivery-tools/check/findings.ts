/** What a check finds, by rule: a count, and the first places. No value of a record is ever part of it. */
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
const MODEL_TEXT = 'the delivery fits the exchange model';

export function ruleText(rule: Rule): string {
  return rule === 'model' ? MODEL_TEXT : (RULE_TEXTS[rule] ?? '');
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
