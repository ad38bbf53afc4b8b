const FORMAT = new Intl.DateTimeFormat('en-US', {
  timeZone: 'Europe/Amsterdam',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

const HOUR = 3_600_000;
/** Offsets by hour, since asking the calendar takes a hundred times as long; hours that are kept at most. */
const offsets = new Map<number, number>();
const MAX_OFFSETS = 50_000;

/** What a Dutch clock shows at an instant, written as if it were UTC (milliseconds). */
function wallClock(instant: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of FORMAT.formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Dutch clocks move on whole hours of UTC, so an offset holds for the hour. */
function offsetAt(instant: number): number {
  const hour = Math.floor(instant / HOUR) * HOUR;
  const known = offsets.get(hour);
  if (known !== undefined) return known;
  if (offsets.size >= MAX_OFFSETS) offsets.clear();
  const offset = wallClock(hour) - hour;
  offsets.set(hour, offset);
  return offset;
}

export interface LocalInstant {
  /** Milliseconds since 1970 (UTC). */
  readonly instant: number;
  /** False for a time in the hour that the clock skips in spring. */
  readonly existed: boolean;
}

/**
 * The instant at which a Dutch clock showed this time. In the hour that comes twice in autumn it is the first (summer time);
 * a time in the skipped hour is taken as if the clock had not moved yet.
 * @param local the clock's time as if it were UTC (milliseconds)
 */
export function fromAmsterdam(local: number): LocalInstant {
  const before = offsetAt(local - 3 * HOUR);
  const after = offsetAt(local + 3 * HOUR);
  for (const offset of [Math.max(before, after), Math.min(before, after)]) {
    if (offsetAt(local - offset) === offset) return { instant: local - offset, existed: true };
  }
  return { instant: local - before, existed: false };
}

/** The Dutch day of an instant, `YYYY-MM-DD`. */
export function amsterdamDay(instant: number): string {
  return new Date(instant + offsetAt(instant)).toISOString().slice(0, 10);
}
