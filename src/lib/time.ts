/** The source of time: a parameter, so that a test can choose the moment. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/** The form of a date, whether or not the calendar has it. */
export const DATE = /^\d{4}-\d\d-\d\d$/;

/** The form of a date and time with an offset. @see RFC 3339 section 5.6 */
export const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

export function isMoment(value: unknown): value is string {
  return typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));
}

/** The same, with each part in its range. */
const PARTS =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/** Whether a text is an existing date and time of RFC 3339: a day in the calendar, and a leap second only at the end of a day in UTC. */
export function isDateTime(text: string): boolean {
  const parts = PARTS.exec(text);
  if (parts === null) return false;
  const [, day = '', hours, minutes, seconds, sign, offsetHours = 0, offsetMinutes = 0] = parts;
  if (day.slice(8) > '28' && !isDay(day)) return false;
  if (seconds !== '60') return true;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  return (Number(hours) * 60 + Number(minutes) - offset + 2 * DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1;
}

const DAY_MINUTES = 1440;

/** Whether a text is a day of the calendar, `YYYY-MM-DD`: `Date` reads 30 February as another day. */
export function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text;
}

let dutchDays: Intl.DateTimeFormat | undefined;

/** The day in the Netherlands, `YYYY-MM-DD`. @throws {RangeError} when the moment is not one */
export function dutchDay(moment: Date): string {
  dutchDays ??= new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Amsterdam' });
  return dutchDays.format(moment).padStart(10, '0');
}

const ISO_MOMENT =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(?: ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$/i;

/** The day of an ISO 8601 date and time: in the Netherlands where it has an offset. @returns `undefined` when it is not one */
export function dayOfMoment(text: string): { readonly day: string; readonly hasOffset: boolean } | undefined {
  const [, day = '', time = '', offset] = ISO_MOMENT.exec(text) ?? [];
  if (!isDay(day)) return undefined;
  if (offset === undefined) return { day, hasOffset: false };
  const dutch = dutchDayAt(day, time, offset);
  return dutch === undefined ? undefined : { day: dutch, hasOffset: true };
}

/** The day in the Netherlands at a time elsewhere. @param offset `Z`, `+01`, `+0100`, `+01:00` @returns `undefined` when there is no such moment */
export function dutchDayAt(day: string, time: string, offset: string): string | undefined {
  const [, sign, hours = '00', minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  const zone = sign === undefined ? 'Z' : `${sign}${hours}:${minutes}`;
  const moment = new Date(`${day}T${time.replace(',', '.').replace(/^(?=\d:)/, '0')}${zone}`);
  return Number.isNaN(moment.getTime()) ? undefined : dutchDay(moment);
}

/** @param day `YYYY-MM-DD` @param days after it; negative: before */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** A moment as answers show it: UTC, with milliseconds only if there are any. @throws {RangeError} for an invalid date */
export function moment(at: Date): string {
  return at.toISOString().replace('.000Z', 'Z');
}

/** Created once, and only when a day is read, because that takes longer than the rest of this section. */
let amsterdam: Intl.DateTimeFormat | undefined;

/** A moment, or the midnight of a Dutch day, as a UTC text. @returns undefined outside the years 1 to 9999, where a text would not be RFC 3339 */
export function toUtc(text: string): string | undefined {
  const at = DATE.test(text) ? midnight(text) : new Date(text.toUpperCase());
  const year = at.getUTCFullYear();
  return year >= 1 && year <= 9999 ? moment(at) : undefined;
}

/** The offset from UTC that a moment was written with; `null` for UTC. */
export function offsetOf(text: string): string | null {
  return /[+-]\d\d:\d\d$/.exec(text)?.[0] ?? null;
}

/** A moment in UTC as its caller wrote it, with `offsetOf` that: by the standard a provider does not convert time zones. */
export function withOffset(utc: string, offset: string | null): string {
  if (offset === null) return utc;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4));
  const ahead = offset.startsWith('-') ? -minutes : minutes;
  return moment(new Date(Date.parse(utc) + ahead * 60_000)).replace('Z', offset);
}

/** The first moment of a day in the Netherlands. */
export function midnight(day: string): Date {
  const utc = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(utc.getTime())) return utc;
  // The offset at midnight in the Netherlands: on the day that the clocks change it differs from that at midnight in UTC.
  const first = new Date(utc.getTime() - offsetMs(utc));
  return new Date(utc.getTime() - offsetMs(first));
}

/** Milliseconds that Dutch clocks are ahead of UTC. */
export function offsetMs(at: Date): number {
  amsterdam ??= new Intl.DateTimeFormat('en', { timeZone: 'Europe/Amsterdam', timeZoneName: 'longOffset' });
  const name = amsterdam.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}

/** Durations are compared by adding them to a moment, because a month has no fixed length. @see ISO 8601-1, "Duration"; RFC 3339 appendix A */

/** Whole numbers of at most five digits, so that the sum stays within the calendar. */
const DURATION =
  /^P(?:(?<weeks>\d{1,5})W|(?=\d|T\d)(?:(?<years>\d{1,5})Y)?(?:(?<months>\d{1,5})M)?(?:(?<days>\d{1,5})D)?(?:T(?=\d)(?:(?<hours>\d{1,5})H)?(?:(?<minutes>\d{1,5})M)?(?:(?<seconds>\d{1,5})S)?)?)$/;

export const LONGEST_TERM = 'P1000Y';
const LONGEST_MONTHS = 12_000;

const DAY_MS = 86_400_000;
const MONTH_MS = (365.2425 / 12) * DAY_MS;

export function isDuration(text: string): boolean {
  return DURATION.test(text);
}

function lengthOf(text: string): { readonly months: number; readonly ms: number } | undefined {
  const parts = DURATION.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const { years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = parts;
  return {
    months: 12 * Number(years) + Number(months),
    ms:
      (7 * Number(weeks) + Number(days)) * DAY_MS +
      (3600 * Number(hours) + 60 * Number(minutes) + Number(seconds)) * 1000,
  };
}

/** Adds a duration in UTC, as Postgres does: years and months first, on the last day of a month that is too short. @throws {RangeError} */
export function addDuration(at: Date, text: string): Date {
  const length = lengthOf(text);
  if (length === undefined) throw new RangeError('not an ISO 8601 duration');
  const { months, ms } = length;
  const sum = new Date(at);
  const day = at.getUTCDate();
  sum.setUTCDate(1);
  sum.setUTCMonth(sum.getUTCMonth() + months);
  const lastDay = new Date(sum);
  lastDay.setUTCMonth(lastDay.getUTCMonth() + 1, 0);
  sum.setUTCDate(Math.min(day, lastDay.getUTCDate()));
  return new Date(sum.getTime() + ms);
}

/** The duration that ends last when both begin at this moment; the first when they end together. */
export function longerDuration(at: Date, first: string, second: string): string {
  return addDuration(at, second) > addDuration(at, first) ? second : first;
}

export function shorterDuration(at: Date, first: string, second: string): string {
  return longerDuration(at, first, second) === first ? second : first;
}

/** Whether a text is a usable term: a duration that is not zero, and not longer than the longest. */
export function isTerm(text: string): boolean {
  const { months, ms } = lengthOf(text) ?? { months: 0, ms: 0 };
  return months + ms > 0 && months * MONTH_MS + ms <= LONGEST_MONTHS * MONTH_MS;
}

/** Seconds or a date (RFC 9110 section 10.2.3), as milliseconds from now; `undefined` when it is neither. */
export function retryAfterMs(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

interface BackoffPolicy {
  /** Longest first wait in milliseconds; doubles with each failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** How long to wait after failures. Half of it is random, so that clients that failed together do not return together. */
export function backoffMs(policy: BackoffPolicy, failures: number, atLeastMs = 0): number {
  const ceiling = Math.min(policy.maxMs, policy.firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  const wait = ceiling / 2 + (Math.random() * ceiling) / 2;
  return Math.round(Math.max(wait, atLeastMs + (Math.random() * ceiling) / 4));
}
