import { InvalidArgumentError, Option } from 'commander';

export function variantOption(): Option {
  return new Option('--variant <variant>', 'only of this variant').choices(['shv', 'vs']);
}

/** @throws {InvalidArgumentError} for what is no positive whole number */
export function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('A number as shown by `list` is expected.');
  return Number(text);
}

/** @throws {InvalidArgumentError} for what is no positive whole number */
export function parseIds(text: string, before: readonly number[] = []): number[] {
  return [...before, parseId(text)];
}

/** A day or moment (RFC 3339). @throws {InvalidArgumentError} */
export function parseMoment(text: string): Date {
  const moment = /^\d{4}-\d{2}-\d{2}(T.*)?$/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(moment.getTime())) throw new InvalidArgumentError('A date such as 2026-03-31 is expected.');
  return moment;
}
