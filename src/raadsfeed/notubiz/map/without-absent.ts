/** The object without its members that are `undefined`: in the feed a value is there or the member is not. */
export function withoutAbsent<T extends Readonly<Record<string, unknown>>>(value: T): { [K in keyof T]?: T[K] } {
  const entries: [keyof T, T[keyof T]][] = [];
  for (const key in value) if (value[key] !== undefined) entries.push([key, value[key]]);
  const result: { [K in keyof T]?: T[K] } = {};
  for (const [key, member] of entries) result[key] = member;
  return result;
}
