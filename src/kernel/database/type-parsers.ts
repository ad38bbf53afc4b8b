import pg from 'pg';

/** Types whose default reading loses or changes something, by their fixed number (`pg_type.oid`). */
const INT8 = 20;
const INT8_ARRAY: number = 1016;
const TEXT_ARRAY: number = 1009;
/** date, timestamp without time zone: a JavaScript Date would put them in this machine's time zone. */
const TEXTUAL = [1082, 1114];
const TEXTUAL_ARRAYS = [1182, 1115];

/**
 * How values of Postgres become values here: int8 a number (an error when it does not fit, never a rounded one), date and timestamp
 * their text, numeric its text, timestamptz a Date.
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return pg.types.getTypeParser(oid, format);
    if (oid === INT8) return toSafeInteger;
    if (oid === INT8_ARRAY) return (text: string) => toSafeIntegers(pg.types.getTypeParser(INT8_ARRAY)(text));
    if (TEXTUAL.includes(oid)) return (text: string) => text;
    if (TEXTUAL_ARRAYS.includes(oid)) return pg.types.getTypeParser(TEXT_ARRAY);
    return pg.types.getTypeParser(oid);
  },
};

function toSafeInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} does not fit in a number; select it as text`);
  return number;
}

function toSafeIntegers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSafeIntegers);
  return typeof value === 'string' ? toSafeInteger(value) : value;
}
