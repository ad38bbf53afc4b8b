/** Parsed JSON from outside: paths in it, and checks on it whose running time the sender cannot inflate. */
import { randomUUID } from 'node:crypto';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { DataValidateFunction, KeywordDefinition } from 'ajv/dist/types/index.js';

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON Pointer (RFC 6901) as a list of steps: `/a~1b/0` -> `['a/b', '0']`. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function toPointer(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let found: unknown = value;
  for (const step of steps) found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  return found;
}

export function withValueAt(object: JsonObject, steps: readonly string[], value: unknown): JsonObject {
  const [step, ...rest] = steps;
  if (step === undefined) return object;
  const child = Object.hasOwn(object, step) ? object[step] : undefined;
  return {
    ...object,
    [step]: rest.length === 0 ? value : withValueAt(isRecord(child) ? child : {}, rest, value),
  };
}

/** A copy with a JSON Merge Patch (RFC 7396) applied. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

/** How many list elements of a value are searched for all faults. */
const SAMPLE_ELEMENTS = 1000;
/** How many members of a value are searched; an object is searched whole or not at all. */
const SAMPLE_MEMBERS = 2000;
/** Deeper than any contract; levels below are not searched. */
const SAMPLE_DEPTH = 32;

export type SchemaVerdict<T> = { readonly value: T } | { readonly faults: ErrorObject[] };

/**
 * Makes a check that reports all faults. A validator that finds all copies its findings at each element of a list, and would need most of an hour for
 * a megabyte of `{}`. So one that stops at the first fault decides; the other only explains, on at most the first thousand elements of a list.
 */
export function schemaCheck<T>(first: Ajv2020, all: Ajv2020, schema: object): (value: unknown) => SchemaVerdict<T> {
  const judge = first.compile<T>(schema);
  // Compiled at the first fault.
  let explain: ValidateFunction | undefined;
  return (value) => {
    if (judge(value)) return { value };
    const [found] = judge.errors ?? [];
    explain ??= all.compile(schema);
    explain(sampleOf(value, { elements: SAMPLE_ELEMENTS, members: SAMPLE_MEMBERS }, SAMPLE_DEPTH));
    const faults = explain.errors ?? [];
    const isIncluded = found === undefined || faults.some((fault) => isSame(fault, found));
    return { faults: isIncluded ? faults : [found, ...faults] };
  };
}

function isSame(a: ErrorObject, b: ErrorObject): boolean {
  return a.instancePath === b.instancePath && a.schemaPath === b.schemaPath;
}

/** A copy with fewer list elements, taken from the front so that each keeps its index. */
function sampleOf(value: unknown, left: { elements: number; members: number }, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (!Array.isArray(value)) {
    const members = Object.entries(value);
    left.members -= members.length;
    return Object.fromEntries(members.map(([name, part]) => [name, sampleOf(part, left, depth - 1)]));
  }
  const copy: unknown[] = [];
  for (const element of value) {
    if (left.elements === 0 || left.members <= 0) break;
    left.elements -= 1;
    copy.push(sampleOf(element, left, depth - 1));
  }
  return copy;
}

interface Validator {
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: KeywordDefinition): unknown;
}

/** A placeholder that no text from outside can contain. */
const NONCE = randomUUID();
const PLACEHOLDER = new RegExp(`"${NONCE}(\\w+)"`);

/** The JSON text of an object with some of its lists left out: texts, with the name of each list in its place. */
export function textAround<List extends string>(
  object: JsonObject,
  lists: ReadonlyMap<List, readonly string[]>,
): readonly ({ readonly list: List } | { readonly list?: undefined; readonly text: string })[] {
  let marked = object;
  for (const [list, path] of lists)
    if (valueAt(object, path) !== undefined) marked = withValueAt(marked, path, NONCE + list);
  // Splitting includes the captures of the expression: text, list, text, list, text.
  const pieces = JSON.stringify(marked).split(PLACEHOLDER);
  return pieces.map((text, index) => {
    const list = index % 2 === 0 ? undefined : [...lists.keys()].find((name) => name === text);
    return list === undefined ? { text } : { list };
  });
}

/** Replaces `uniqueItems`, which compares every pair (ten minutes for four megabytes), by one in linear time. Call before anything is compiled. */
export function useLinearUniqueItems(ajv: Validator): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isWanted: boolean): DataValidateFunction => {
      const validate: DataValidateFunction = (items: readonly unknown[]): boolean => {
        const seen = new Map<string, number>();
        for (const [i, item] of isWanted ? items.entries() : []) {
          const key = keyOf(item) ?? `#${i}`;
          const j = seen.get(key);
          if (j !== undefined) {
            const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
            validate.errors = [{ keyword: 'uniqueItems', message, params: { i, j } }];
            return false;
          }
          seen.set(key, i);
        }
        return true;
      };
      return validate;
    },
  });
}

/** The same text for equal values, whatever the order of members (JSON Schema Core 4.2.2). Undefined for a value that is too deep. */
function keyOf(item: unknown): string | undefined {
  try {
    return JSON.stringify(item, (_name, value: unknown) =>
      isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
    );
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
