/** The rules of the statistics office for a single record, case or organisation, and where they find their values. */
import type { Mapping } from '../../../lib/exchange-model/mapping.ts';
import { isRecord, pointerSteps, valueAt } from '../../../lib/json/json-value.ts';
import { isBsn } from '../../../lib/patterns.ts';
import { DATE } from '../../../lib/time.ts';
import { dayNumber } from '../../import/record-traits.ts';
import type { Severity, What } from './report-words.ts';
import type { Run } from './runs.ts';

type Path = readonly string[];
type ItemPath = readonly (string | number)[];
/** Receives violations of a rule. @param path from the record */
export type Report = (rule: number, severity: Severity, what: What, path: ItemPath) => void;

/** A begin and an end that belong together, in a record or in each item of one of its lists. */
interface PeriodPlaces {
  readonly lijst?: Path;
  readonly begin: Path;
  readonly einde: Path;
}

/** The member `controle` of a mapping, see `mapping.schema.json`, with paths for pointers. A rule is checked when its places are named. */
export interface CheckPlaces {
  readonly contactpersonen?: { readonly lijst: Path; readonly email: Path };
  readonly personen?: {
    readonly plaats: Path;
    readonly bsn?: Path;
    readonly geslacht?: Path;
    readonly geboortedatum?: Path;
    /** Groups of paths from a person; the first group with all values present identifies the person. */
    readonly kenmerken?: readonly (readonly Path[])[];
  };
  readonly gelijk?: readonly { readonly regel: number; readonly lijst?: Path; readonly plaatsen: readonly Path[] }[];
  readonly waarAlleenMet?: { readonly plaats: Path; readonly met: Path };
  readonly perioden?: readonly PeriodPlaces[];
  readonly stappen?: readonly Path[];
  readonly soort?: Path;
  readonly status?: Path;
  readonly zaken?: {
    readonly resultaat?: Path;
    readonly opgepakt?: Path;
    readonly pogingen?: { readonly lijst: Path; readonly datum: Path };
    readonly perioden?: readonly PeriodPlaces[];
  };
}

/** @param controle valid against `mapping.schema.json`; absent: no places */
export function readCheckPlaces(controle: unknown = {}): CheckPlaces {
  return JSON.parse(JSON.stringify(controle), (_name, value) =>
    typeof value === 'string' ? pointerSteps(value) : value,
  );
}

/** Rules 1 and 11. @param head of the levering */
export function judgeOrganisation(
  head: unknown,
  { object, gemeentecode, kvkNummer }: Mapping['levering']['organisatie'],
  { contactpersonen }: CheckPlaces,
  report: Report,
): void {
  if (gemeentecode !== undefined && kvkNummer !== undefined) {
    const [code, kvk] = [valueAt(head, gemeentecode), valueAt(head, kvkNummer)];
    if (isGiven(code) && isGiven(kvk)) report(1, 'blocking', 'has both: which of the two is it?', object);
    else if (!isGiven(code) && !isGiven(kvk)) report(1, 'blocking', 'has neither', object);
    else if (isGiven(code) && !isMunicipalityCode(code)) report(1, 'blocking', 'is not a gemeentecode', gemeentecode);
    else if (isGiven(kvk) && !(typeof kvk === 'string' && /^\d{8}$/.test(kvk.trim())))
      report(1, 'blocking', 'is not a KvK number of eight digits', kvkNummer);
  }
  if (contactpersonen === undefined) return;
  const hasAddress = itemsOf(head, contactpersonen.lijst).some(({ item }) => {
    const address = valueAt(item, contactpersonen.email);
    return typeof address === 'string' && /.@./.test(address);
  });
  if (!hasAddress) report(11, 'blocking', 'no contact with an e-mail address', object);
}

/** Whether it has the form of the office's codes. Anything else is not shown: it may be personal. */
export function isMunicipalityCode(code: unknown): boolean {
  return typeof code === 'string' && /^(gm)?\d{1,5}$/i.test(code.trim());
}

const SEXES: readonly unknown[] = ['Man', 'Vrouw', 'Onbekend', 'Leeg'];

interface RecordRules {
  readonly places: CheckPlaces;
  /** Of the record. */
  readonly begin: Path | undefined;
  /** `YYYY-MM-DD`. */
  readonly today: string;
}

/** Rules 5 to 10, 14 and 15, of a trajectory or signal. */
export function judgeRecord(value: unknown, { places, begin, today }: RecordRules, report: Report): void {
  const { gelijk = [], waarAlleenMet: flag, perioden, personen } = places;
  for (const { regel, lijst, plaatsen } of gelijk) {
    for (const { item, path } of itemsOf(value, lijst)) {
      const given = plaatsen.filter((member) => isGiven(valueAt(item, member)));
      const [first] = given;
      if (first === undefined) continue;
      const isEqual = given.every((member) => valueAt(item, member) === valueAt(item, first));
      if (isEqual && given.length === plaatsen.length) continue;
      report(regel, 'warning', isEqual ? 'is not in the other place' : 'they differ', [...path, ...first]);
    }
  }
  if (flag !== undefined && valueAt(value, flag.plaats) === true && !isGiven(valueAt(value, flag.met)))
    report(6, 'blocking', 'true without that date', flag.plaats);
  judgePeriods(value, perioden, today, report);
  if (personen === undefined) return;
  const { bsn, geslacht, geboortedatum } = personen;
  const firstDay = begin && dayOf(valueAt(value, begin));
  for (const { item, path } of personsAt(value, personen.plaats)) {
    const number = bsn && valueAt(item, bsn);
    if (bsn !== undefined && isGiven(number) && !isBsn(number))
      report(15, 'warning', 'does not pass the eleven test', [...path, ...bsn]);
    const sex = geslacht && valueAt(item, geslacht);
    if (geslacht !== undefined && sex !== undefined && !SEXES.includes(sex))
      report(9, 'blocking', 'is another value', [...path, ...geslacht]);
    if (geboortedatum !== undefined && isBornTooLate(valueAt(item, geboortedatum), firstDay, today))
      report(14, 'blocking', 'born on or after the first day', [...path, ...geboortedatum]);
  }
}

/** Rules 13 and 14, of a case. */
export function judgeCase(value: unknown, places: CheckPlaces['zaken'] = {}, today: string, report: Report): void {
  const { perioden, opgepakt, resultaat, pogingen } = places;
  judgePeriods(value, perioden, today, report);
  if (opgepakt === undefined) return;
  const day = dayOf(valueAt(value, opgepakt));
  if (day === undefined) {
    // A case may end without having been taken up.
    const isLeft = resultaat !== undefined && isNotTakenUp(valueAt(value, resultaat));
    if (!isLeft) report(13, 'warning', 'the case has no day on which it was taken up', []);
    return;
  }
  if (pogingen === undefined) return;
  for (const { item, path } of itemsOf(value, pogingen.lijst)) {
    if ((dayOf(valueAt(item, pogingen.datum)) ?? day) < day)
      report(13, 'warning', 'before the day on which the case was taken up', [...path, ...pogingen.datum]);
  }
}

/** A case runs from the day on which it was taken up, or else matched, until its last day if it has a result. */
export function runOfCase(value: unknown, places: CheckPlaces['zaken'] = {}): Run {
  const { resultaat, opgepakt, pogingen, perioden = [] } = places;
  const begin = opgepakt && dayNumber(valueAt(value, opgepakt));
  const isOver = resultaat !== undefined && isGiven(valueAt(value, resultaat));
  const attempts = pogingen && itemsOf(value, pogingen.lijst).map(({ item }) => valueAt(item, pogingen.datum));
  const ofPeriods = perioden.flatMap((period) => [valueAt(value, period.begin), valueAt(value, period.einde)]);
  const days = [begin, ...[...ofPeriods, ...(attempts ?? [])].map(dayNumber)].filter((day) => day !== undefined);
  if (days.length === 0) return { begin: undefined, end: undefined };
  return { begin: begin ?? Math.min(...days), end: isOver ? Math.max(...days) : undefined };
}

/** In all models, the statuses and results with this meaning begin with one of these. */
export function isNotTakenUp(status: unknown): boolean {
  return typeof status === 'string' && /^(nog )?niet opgepakt/i.test(status.trim());
}

function judgePeriods(value: unknown, periods: readonly PeriodPlaces[] = [], today: string, report: Report): void {
  for (const { lijst, begin, einde } of periods) {
    for (const { item, path } of itemsOf(value, lijst)) {
      const [first, last] = [dayOf(valueAt(item, begin)), dayOf(valueAt(item, einde))];
      if (last === undefined) continue;
      if (first !== undefined && first > last) report(14, 'blocking', 'ends before it begins', [...path, ...einde]);
      if (last > today) report(14, 'warning', 'ends in the future', [...path, ...einde]);
    }
  }
}

/** Rule 15, of the items of lists: an export that repeats a row doubles a debt. */
export function judgeItems(value: unknown, path: ItemPath, report: Report): void {
  if (Array.isArray(value)) {
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      const text = value.length > 1 && isRecord(item) ? canonicalText(item) : undefined;
      if (text !== undefined && seen.has(text)) report(15, 'warning', 'is there twice', [...path, index]);
      if (text !== undefined) seen.add(text);
      judgeItems(item, [...path, index], report);
    }
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) judgeItems(member, [...path, name], report);
  }
}

/** One text for equal values, whatever the order of members. Strings follow their length: escaping them would take most of the time. */
export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return `${value.length}:${value}`;
  if (typeof value !== 'object' || value === null) return `${value},`;
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += canonicalText(item);
    return `[${text}]`;
  }
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, member] of members) text += canonicalText(name) + canonicalText(member);
  return `{${text}}`;
}

export function personsAt(value: unknown, at: Path): ReturnType<typeof itemsOf> {
  const found = valueAt(value, at);
  return isRecord(found) ? [{ item: found, path: at }] : itemsOf(value, at);
}

/** The value itself, or the objects of a list in it, each with its path. */
function itemsOf(
  value: unknown,
  list: Path | undefined,
): readonly { readonly item: unknown; readonly path: ItemPath }[] {
  if (list === undefined) return [{ item: value, path: [] }];
  const found = valueAt(value, list);
  if (!Array.isArray(found)) return [];
  return found.flatMap((item, index) => (isRecord(item) ? [{ item, path: [...list, index] }] : []));
}

/** A member that software left empty counts as absent. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');
}

function dayOf(value: unknown): string | undefined {
  return typeof value === 'string' && DATE.test(value) ? value : undefined;
}

/** Month and day of a date of birth may be unknown: then the years are compared. */
function isBornTooLate(born: unknown, begin: string | undefined, today: string): boolean {
  const [, year = '', month = '00', day = '00'] =
    typeof born === 'string' ? (/^\s*(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?\s*$/.exec(born) ?? []) : [];
  if (year === '') return false;
  const isWhole = month !== '00' && day !== '00';
  if (begin === undefined) return isWhole ? `${year}-${month}-${day}` > today : year > today.slice(0, 4);
  return isWhole ? `${year}-${month}-${day}` >= begin : year > begin.slice(0, 4);
}
