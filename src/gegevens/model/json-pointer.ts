/** JSON Pointers (RFC 6901) as lists of steps. */
import { isRecord } from '../../kernel/json-value.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** `/a~1b/0` -> `['a/b', '0']`. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function toPointer(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The value at a path through objects, or `undefined`. */
export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let found: unknown = value;
  for (const step of steps) found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  return found;
}

/** A copy of an object with a value set at a path; missing objects on the way are created. */
export function withValueAt(object: JsonObject, steps: readonly string[], value: unknown): JsonObject {
  const [step, ...rest] = steps;
  if (step === undefined) return object;
  const child = Object.hasOwn(object, step) ? object[step] : undefined;
  return {
    ...object,
    [step]: rest.length === 0 ? value : withValueAt(isRecord(child) ? child : {}, rest, value),
  };
}
