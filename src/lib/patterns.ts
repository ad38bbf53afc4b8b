/** An organisation's number (OIN). */
export const OIN = /^\d{20}$/;

/** For patterns with more around it. */
export const UUID_DIGITS = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** A UUID in lower case, as Postgres writes it. */
export const UUID = new RegExp(`^${UUID_DIGITS}$`);

/** Whether a value is a UUID in either case. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value.toLowerCase());
}

const BSN_WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2, -1];

/** Whether a value is a citizen service number: nine digits that pass the eleven test. */
export function isBsn(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{9}$/.test(value) || value === '000000000') return false;
  return BSN_WEIGHTS.reduce((sum, weight, place) => sum + weight * Number(value[place]), 0) % 11 === 0;
}
