/** Days and months in Amsterdam, as `2018-02-08` and `2018-02`. */
import { TIME_ZONE } from '../../html/format.ts';

const MONTH = /^(19|20|21)\d\d-(0[1-9]|1[0-2])$/;

export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

/** @param by how many months later */
export function otherMonth(month: string, by: number): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

const offset = new Intl.DateTimeFormat('en-GB', { timeZone: TIME_ZONE, timeZoneName: 'longOffset' });

/** The first moment of a day. The clock changes at one o'clock UTC, so midnight has the offset of midnight in UTC. @param later number of days */
export function midnight(day: string, later = 0): Date {
  const utc = new Date(`${day}T00:00:00Z`);
  utc.setUTCDate(utc.getUTCDate() + later);
  const zone = offset.formatToParts(utc).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const hours = Number(/GMT([+-]\d\d)/.exec(zone)?.[1] ?? 0);
  return new Date(utc.getTime() - hours * 3_600_000);
}
