import { isRecord } from '../../../kernel/json-value.ts';
import { type JsonObject, pointerSteps, toPointer } from './json-pointer.ts';

/** A place in the data: names of members, `*` for any item of a list. */
export type DataPath = readonly string[];

/**
 * Where in a schema the part stands that describes a place in the data, as steps from the schema's root. References within the
 * schema are followed.
 * @throws {TypeError} when the schema says nothing about the place by plain `properties` and `items`
 */
export function schemaPlace(schema: JsonObject, path: DataPath): string[] {
  let place: string[] = follow(schema, []);
  for (const step of path) {
    place = follow(schema, step === '*' ? [...place, 'items'] : [...place, 'properties', step]);
  }
  return place;
}

/** The part of a schema at a place, if there is one. */
export function schemaAt(schema: JsonObject, place: readonly string[]): unknown {
  let found: unknown = schema;
  for (const step of place) {
    if (Array.isArray(found)) found = found[Number(step)];
    else found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}

function follow(schema: JsonObject, place: string[]): string[] {
  const part = schemaAt(schema, place);
  if (!isRecord(part)) throw new TypeError(`the model has no ${toPointer(place)}`);
  const reference = part.$ref;
  if (typeof reference !== 'string') return place;
  if (!reference.startsWith('#')) throw new TypeError(`the model refers to another file: ${reference}`);
  return follow(schema, pointerSteps(decodeURIComponent(reference.slice(1))));
}

/** A copy of a schema with one part replaced. */
export function withSchemaAt(schema: JsonObject, place: readonly string[], part: JsonObject): JsonObject {
  const [step, ...rest] = place;
  if (step === undefined) return part;
  const child = schema[step];
  return { ...schema, [step]: withSchemaAt(isRecord(child) ? child : {}, rest, part) };
}
