/**
 * `uniqueItems` in time that grows with the list, not with its square: a line of four megabytes of different references would take the
 * validator's own comparison, each with each, most of ten minutes.
 */

import type { DataValidateFunction, KeywordDefinition } from 'ajv/dist/types/index.js';

/** Deeper than any contract describes: two values that differ only below are told apart anyway. */
const DEPTH = 64;

/** A validator of whatever dialect. */
interface Validator {
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: KeywordDefinition): unknown;
}

/** Takes the place of the validator's own keyword. Call before anything is compiled. */
export function useLinearUniqueItems(ajv: Validator): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isWanted: boolean): DataValidateFunction => {
      const validate: DataValidateFunction = (items: readonly unknown[]): boolean => {
        const twins = isWanted ? findTwins(items) : undefined;
        if (twins === undefined) return true;
        const message = `must NOT have duplicate items (items ## ${twins.j} and ${twins.i} are identical)`;
        validate.errors = [{ keyword: 'uniqueItems', message, params: twins }];
        return false;
      };
      return validate;
    },
  });
}

/** Two places with the same value, the later one first. */
function findTwins(items: readonly unknown[]): { i: number; j: number } | undefined {
  const seen = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const key = keyOf(item, `${i}`, DEPTH);
    const j = seen.get(key);
    if (j !== undefined) return { i, j };
    seen.set(key, i);
  }
  return undefined;
}

/** One text for equal values: members of an object in any order (JSON Schema Core 4.2.2). */
function keyOf(value: unknown, name: string, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (depth === 0) return `#${name}`;
  if (Array.isArray(value)) return `[${value.map((item) => keyOf(item, name, depth - 1)).join()}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([member, of]) => `${JSON.stringify(member)}:${keyOf(of, name, depth - 1)}`).join()}}`;
}
