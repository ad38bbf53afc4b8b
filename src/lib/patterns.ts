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
