import { InvalidArgumentError } from 'commander';
import { toUtc } from '../domain/verwerkingsactie.ts';

/** A UUID in lower case. @throws {InvalidArgumentError} */
export function parseUuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('It is not a UUID.');
  return text.toLowerCase();
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?$/i;

/** A moment with its offset, or a day: its midnight in the Netherlands. @returns a UTC text @throws {InvalidArgumentError} */
export function parseMoment(text: string): string {
  const day = MOMENT.exec(text)?.[1];
  const utc = day !== undefined && isInCalendar(day) ? toUtc(text) : undefined;
  if (utc === undefined) {
    throw new InvalidArgumentError('Expected a date (2026-03-31) or a time with its offset (2026-03-31T12:00:00Z).');
  }
  return utc;
}

/** A day such as 30 February is read as another one. */
function isInCalendar(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}
