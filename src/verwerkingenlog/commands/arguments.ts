import { InvalidArgumentError } from 'commander';
import { isDay } from '../../lib/time.ts';
import { toUtc } from '../domain/verwerkingsactie.ts';

/** A UUID in lower case. @throws {InvalidArgumentError} */
export function parseUuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('It is not a UUID.');
  return text.toLowerCase();
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?$/i;

/** A moment with its offset, or a day: its midnight in the Netherlands. @returns a UTC text @throws {InvalidArgumentError} */
export function parseMoment(text: string): string {
  const utc = isDay(MOMENT.exec(text)?.[1] ?? '') ? toUtc(text) : undefined;
  if (utc === undefined) {
    throw new InvalidArgumentError('Expected a date (2026-03-31) or a time with its offset (2026-03-31T12:00:00Z).');
  }
  return utc;
}
