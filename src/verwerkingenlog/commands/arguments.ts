import { InvalidArgumentError } from 'commander';
import { isUuid } from '../../lib/patterns.ts';
import { DATE_TIME, isDay, toUtc } from '../../lib/time.ts';

/** A UUID in lower case. @throws {InvalidArgumentError} */
export function parseUuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It is not a UUID.');
  return text.toLowerCase();
}

/** A moment with its offset, or a day: its midnight in the Netherlands. @returns a UTC text @throws {InvalidArgumentError} */
export function parseMoment(text: string): string {
  const utc = isDay(DATE_TIME.test(text) ? text.slice(0, 10) : text) ? toUtc(text) : undefined;
  if (utc === undefined) {
    throw new InvalidArgumentError('Expected a date (2026-03-31) or a time with its offset (2026-03-31T12:00:00Z).');
  }
  return utc;
}
