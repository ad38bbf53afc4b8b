/** The elements of synthetic records: choices that depend only on the seed and the place, persons, and days. */
import { createHash } from 'node:crypto';
import { dayAfter } from '../../time.ts';

export interface Period {
  readonly start: string;
  readonly end: string;
}

export interface RecordPlace {
  readonly seed: string;
  readonly period: Period;
  /** Both from 0. */
  readonly levering: number;
  readonly place: number;
  readonly version: string;
}

const DAY_MS = 86_400_000;

/** Numbers below a bound, a new one each time. */
export function chance({ seed, levering, place }: RecordPlace, about: string): (below: number) => number {
  let state = createHash('sha256').update(`${about} ${levering} ${place} ${seed}`).digest().readUInt32BE();
  return (below) => {
    // A linear congruential generator (Numerical Recipes); its upper half is the random one.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function oneOf<Value>(values: readonly [Value, ...Value[]], next: (below: number) => number): Value {
  return values[next(values.length)] ?? values[0];
}

export function daysIn({ start, end }: Period): number {
  return (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
}

/** Citizen service numbers that pass the eleven test and belong to nobody: numbers that begin with 99999 are for tests. */
const TEST_NUMBERS = Array.from({ length: 1000 }, (_, number) => {
  const digits = `99999${String(number).padStart(3, '0')}`;
  const check = [...digits].reduce((sum, digit, at) => sum + Number(digit) * (9 - at), 0) % 11;
  return check === 10 ? undefined : `${digits}${check}`;
}).filter((number) => number !== undefined);

export function testNumber({ place, levering, seed }: RecordPlace): string {
  const from = chance({ place: 0, levering, seed, version: '', period: { start: '', end: '' } }, 'numbers')(1000);
  return TEST_NUMBERS[(from + place) % TEST_NUMBERS.length] ?? '';
}

/** The address of a person: a different one for each place, and for a second person there. */
export function addressOf({ place, levering }: RecordPlace, next: (below: number) => number) {
  const letters = String.fromCharCode(65 + next(26), 65 + next(26));
  return { postcode: `${1000 + (levering % 9000)}${letters}`, huisnummer: String(1 + place) };
}

/** A date of birth of somebody between 18 and 80 at the end of the period. */
export function birthday({ period }: RecordPlace, next: (below: number) => number): string {
  return dayAfter(period.end, -18 * 366 - next(62 * 365));
}
