/** The rules for a single record or case. */

import { isRecord, valueAt } from '../../../lib/json/json-value.ts';
import { isBsn } from '../../../lib/patterns.ts';
import { DATE } from '../../../lib/time.ts';
import { dayNumber } from '../../import/record-traits.ts';
import type { CheckPlaces, PeriodPlaces } from './check-places.ts';
import type { Severity, What } from './report-words.ts';
import type { Run } from './runs.ts';

type Path = readonly string[];
/** Receives violations of a rule. @param path from the record */
export type Report = (rule: number, severity: Severity, what: What, path: readonly (string | number)[]) => void;

const SEXES: readonly unknown[] = ['Man', 'Vrouw', 'Onbekend', 'Leeg'];

interface RecordRules {
  readonly places: CheckPlaces;
  readonly begin: Path | undefined;
  /** `YYYY-MM-DD`. */
  readonly today: string;
}

/** Rules 5 to 10, 14 and 15, of a trajectory or signal. */
export function judgeRecord(value: unknown, { places, begin, today }: RecordRules, report: Report): void {
  for (const { regel, lijst, plaatsen } of places.gelijk ?? []) {
    for (const { item, path } of itemsOf(value, lijst)) {
      const given = plaatsen.filter((member) => isGiven(valueAt(item, member)));
      const [first] = given;
      if (first === undefined) continue;
      const isEqual = given.every((member) => valueAt(item, member) === valueAt(item, first));
      if (isEqual && given.length === plaatsen.length) continue;
      report(regel, 'warning', isEqual ? 'is not in the other place' : 'they differ', [...path, ...first]);
    }
  }
  const { waarAlleenMet: flag } = places;
  if (flag !== undefined && valueAt(value, flag.plaats) === true && !isGiven(valueAt(value, flag.met)))
    report(6, 'blocking', 'true without that date', flag.plaats);
  judgePeriods(value, places.perioden, today, report);
  judgePersons(value, places, begin === undefined ? undefined : dayOf(valueAt(value, begin)), today, report);
}

/** Rules 13 and 14, of a case. */
export function judgeCase(value: unknown, places: CheckPlaces['zaken'], today: string, report: Report): void {
  judgePeriods(value, places?.perioden, today, report);
  if (places?.opgepakt === undefined) return;
  const day = dayOf(valueAt(value, places.opgepakt));
  if (day === undefined) {
    // A case may end without having been taken up.
    const isLeft = places.resultaat !== undefined && isNotTakenUp(valueAt(value, places.resultaat));
    if (!isLeft) report(13, 'warning', 'the case has no day on which it was taken up', []);
    return;
  }
  if (places.pogingen === undefined) return;
  const { lijst, datum } = places.pogingen;
  for (const { item, path } of itemsOf(value, lijst)) {
    if ((dayOf(valueAt(item, datum)) ?? day) < day)
      report(13, 'warning', 'before the day on which the case was taken up', [...path, ...datum]);
  }
}

/** A case runs from the day on which it was taken up, or else matched, until its last day if it has a result. */
export function runOfCase(value: unknown, places: CheckPlaces['zaken'] = {}): Run {
  const { resultaat, opgepakt, pogingen, perioden = [] } = places;
  const begin = opgepakt && dayNumber(valueAt(value, opgepakt));
  const isOver = resultaat !== undefined && isGiven(valueAt(value, resultaat));
  const days = [
    begin,
    ...perioden.flatMap(({ begin: from, einde }) => [from, einde].map((path) => dayNumber(valueAt(value, path)))),
    ...(pogingen === undefined ? [] : itemsOf(value, pogingen.lijst)).map(({ item }) =>
      dayNumber(valueAt(item, pogingen?.datum ?? [])),
    ),
  ].filter((day) => day !== undefined);
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

function judgePersons(
  value: unknown,
  { personen }: CheckPlaces,
  begin: string | undefined,
  today: string,
  report: Report,
): void {
  if (personen === undefined) return;
  const { bsn, geslacht, geboortedatum } = personen;
  for (const { item, path } of personsAt(value, personen.plaats)) {
    const number = bsn && valueAt(item, bsn);
    if (bsn !== undefined && isGiven(number) && !isBsn(number))
      report(15, 'warning', 'does not pass the eleven test', [...path, ...bsn]);
    const sex = geslacht && valueAt(item, geslacht);
    if (geslacht !== undefined && sex !== undefined && !SEXES.includes(sex))
      report(9, 'blocking', 'is another value', [...path, ...geslacht]);
    if (geboortedatum !== undefined && isBornTooLate(valueAt(item, geboortedatum), begin, today))
      report(14, 'blocking', 'born on or after the first day', [...path, ...geboortedatum]);
  }
}

export function personsAt(value: unknown, at: Path): ReturnType<typeof itemsOf> {
  const found = valueAt(value, at);
  return Array.isArray(found) ? itemsOf(value, at) : isRecord(found) ? [{ item: found, path: at }] : [];
}

/** The value itself, or the objects of a list in it, each with its path. */
function itemsOf(
  value: unknown,
  list: Path | undefined,
): readonly { readonly item: unknown; readonly path: readonly (string | number)[] }[] {
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
