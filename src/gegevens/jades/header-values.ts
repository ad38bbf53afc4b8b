import { JadesError, type JadesErrorCode } from './errors.ts';

/** All values of one HTTP header, as a raw list, so that a repeated header is seen. */
export type HeaderValues = string | readonly string[] | undefined;

/** The value of a header that must be there exactly once. */
export function onlyValue(
  values: HeaderValues,
  missing: JadesErrorCode,
  repeated: JadesErrorCode,
  name: string,
): string {
  const list = values === undefined ? [] : typeof values === 'string' ? [values] : values;
  const [value] = list;
  if (value === undefined || value === '') throw new JadesError(missing, `De header ${name} ontbreekt.`);
  if (list.length > 1) throw new JadesError(repeated, `De header ${name} komt meer dan eens voor.`);
  return value;
}
