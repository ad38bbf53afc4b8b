/** The object without its members that are `undefined`: in the feed a value is there or the member is not. */
export function withoutAbsent<T extends Readonly<Record<string, unknown>>>(
  value: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const result: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key in value) if (isPresent(value[key])) result[key] = value[key];
  return result;
}

function isPresent<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}
