/** The scalar values of NotuBiz, which writes the same thing now as a number and now as text. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** An identification: a positive whole number, as text. */
export function identifier(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? String(value) : undefined;
  return typeof value === 'string' && /^[1-9]\d{0,17}$/.test(value) ? value : undefined;
}

/** A whole number of zero or more. */
export function count(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** Text without space around it; empty text is an absent value. NUL cannot be stored or published. */
export function text(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const trimmed = value.replaceAll('\u0000', '').trim();
  return trimmed === '' ? undefined : trimmed.toWellFormed();
}

/** `0`/`1`, `"0"`/`"1"`, `false`/`true`; `undefined` for anything else. */
export function flag(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === '1') return true;
  if (value === false || value === 0 || value === '0') return false;
  return undefined;
}
