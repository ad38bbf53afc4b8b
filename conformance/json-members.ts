import { isRecord, type JsonObject } from '../src/lib/json/json-value.ts';

export function textAt(value: unknown, name: string): string | undefined {
  const found = isRecord(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** The objects in a member that is a list. */
export function objectsIn(value: unknown, member: string): readonly JsonObject[] {
  const list = isRecord(value) ? value[member] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
