import { randomUUID } from 'node:crypto';

export const OIN = /^\d{20}$/;

/** For patterns with more around it. */
export const UUID_DIGITS = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** A UUID in lower case, as Postgres writes it. */
export const UUID = new RegExp(`^${UUID_DIGITS}$`);

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value.toLowerCase());
}

/** A UUID of version 7 (RFC 9562 section 5.7): the time in milliseconds, then random bits. */
export function uuidV7(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const BSN_WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2, -1];

/** Whether a value is a citizen service number: nine digits that pass the eleven test. */
export function isBsn(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{9}$/.test(value) || value === '000000000') return false;
  return BSN_WEIGHTS.reduce((sum, weight, place) => sum + weight * Number(value[place]), 0) % 11 === 0;
}
