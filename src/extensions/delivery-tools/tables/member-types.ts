import type { Model } from '../../../gegevens/model/model.ts';
import type { JsonObject } from '../../../lib/jades/protected-header.ts';
import { isRecord, pointerSteps } from '../../../lib/json/json-value.ts';
import type { ValueType } from './mapping-file.ts';

/** Deeper than any model; references may lead in circles. */
const MAX_REFERENCES = 20;

/**
 * What the model says that the value of a member is.
 * @param path from the message: names of members, `*` for any item of a list
 * @returns `list` or `object` for what holds other values; `undefined` when the model does not describe the member
 */
export function memberType({ schema }: Model, path: readonly string[]): ValueType | 'list' | 'object' | undefined {
  let parts: readonly JsonObject[] = withBranches(schema, schema, MAX_REFERENCES);
  for (const step of path) {
    const children = parts.map((part) => {
      if (step === '*') return part.items;
      return isRecord(part.properties) && Object.hasOwn(part.properties, step) ? part.properties[step] : undefined;
    });
    parts = children.flatMap((child) => (isRecord(child) ? withBranches(schema, child, MAX_REFERENCES) : []));
    if (parts.length === 0) return undefined;
  }
  return typeOf(parts);
}

/** A part of a schema, and all that it refers to or combines. */
function withBranches(schema: JsonObject, part: JsonObject, left: number): JsonObject[] {
  if (left === 0) return [part];
  const branches: unknown[] = [part.allOf, part.anyOf, part.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (typeof part.$ref === 'string' && part.$ref.startsWith('#')) branches.push(resolve(schema, part.$ref.slice(1)));
  return [part, ...branches.flatMap((branch) => (isRecord(branch) ? withBranches(schema, branch, left - 1) : []))];
}

function resolve(schema: JsonObject, reference: string): unknown {
  let found: unknown = schema;
  for (const step of pointerSteps(decodeURIComponent(reference))) {
    found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}

function typeOf(parts: readonly JsonObject[]): ValueType | 'list' | 'object' {
  const types = new Set(parts.flatMap(({ type }) => (Array.isArray(type) ? type : [type])));
  if (types.has('array')) return 'list';
  if (types.has('object')) return 'object';
  if (types.has('integer')) return 'integer';
  if (types.has('number')) return 'number';
  if (types.has('boolean')) return 'boolean';
  return parts.some(({ format }) => format === 'date') ? 'date' : 'text';
}
