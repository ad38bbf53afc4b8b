import { isRecord, type JsonObject, valueAt } from '../src/lib/json/json-value.ts';

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, path);
  return typeof found === 'string' ? found : undefined;
}

/** The objects in a list at a path. */
export function objectsIn(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
