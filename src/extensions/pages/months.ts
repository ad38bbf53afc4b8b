/** Months in Amsterdam, as `2018-02`. */
import { TIME_ZONE } from '../../plugins/html/format.ts';

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

/** The first moment of the month, and that of the next one. */
export function monthBounds(month: string): { readonly from: Date; readonly to: Date } {
  return { from: midnight(`${month}-01`), to: midnight(`${otherMonth(month, 1)}-01`) };
}

const offset = new Intl.DateTimeFormat('en-GB', { timeZone: TIME_ZONE, timeZoneName: 'longOffset' });

/** The first moment of a day in Amsterdam. The clock is never changed on the first of a month at midnight. */
function midnight(day: string): Date {
  const utc = new Date(`${day}T00:00:00Z`);
  const zone = offset.formatToParts(utc).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const hours = Number(/GMT([+-]\d\d)/.exec(zone)?.[1] ?? 0);
  return new Date(utc.getTime() - hours * 3_600_000);
}
