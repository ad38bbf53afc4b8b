/** What a conversion needs of a model: which members and values it knows, and what may stand together. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { builtInVersions, type Model } from '../../../gegevens/model/model.ts';
import type { JsonObject } from '../../../lib/jades/protected-header.ts';
import { addStandardFormats } from '../../../lib/json/formats.ts';
import { isRecord, pointerSteps, valueAt } from '../../../lib/json/json-value.ts';
import { builtInModel, modelsDirectory } from '../../../settings/gegevens-settings.ts';

/** What a model says of one value. */
export interface Shape {
  /** Absent for what is no object with members of its own. */
  readonly properties: ReadonlyMap<string, Shape> | undefined;
  readonly items: Shape | undefined;
  /** The values of an enumeration. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** Of which an object must meet one. */
  readonly choices: readonly Choice[];
}

/** One way in which the members of an object may stand together. */
interface Choice {
  readonly allows: (member: string) => boolean;
  readonly isMet: (value: unknown) => boolean;
}

/** The shapes of the parts in which a message is read. */
export interface ModelShapes {
  readonly envelop: Shape;
  readonly levering: Shape;
  readonly record: Shape;
  readonly zaak: Shape | undefined;
}

/** @throws {TypeError} when the model does not describe the parts that its mapping names */
export function shapesOf({ schema, mapping: { envelop, levering } }: Model): ModelShapes {
  const root = readShape(schema, schema);
  const oneLevering = itemsAt(root, envelop.leveringen);
  return {
    envelop: root,
    levering: oneLevering,
    record: itemsAt(oneLevering, levering.records),
    zaak: levering.zaken === undefined ? undefined : itemsAt(oneLevering, levering.zaken.lijst),
  };
}

function itemsAt(shape: Shape, path: readonly string[]): Shape {
  let found: Shape | undefined = shape;
  for (const step of path) found = found?.properties?.get(step);
  if (found?.items === undefined) throw new TypeError(`the model has no list at ${path.join('/')}`);
  return found.items;
}

function readShape(schema: JsonObject, part: unknown): Shape {
  const described = resolve(schema, part);
  const { properties, items, enum: values, oneOf } = described;
  return {
    properties: isRecord(properties)
      ? new Map(Object.entries(properties).map(([name, member]) => [name, readShape(schema, member)]))
      : undefined,
    items: items === undefined ? undefined : readShape(schema, items),
    allowed: Array.isArray(values) ? new Set(values.map(String)) : undefined,
    choices: (Array.isArray(oneOf) ? oneOf : []).filter(isRecord).map(readChoice),
  };
}

function readChoice(schema: JsonObject): Choice {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  addStandardFormats(ajv);
  const validate = ajv.compile(schema);
  const known = isRecord(schema.properties) ? schema.properties : {};
  const isClosed = schema.additionalProperties === false;
  return {
    allows: (member) => (Object.hasOwn(known, member) ? known[member] !== false : !isClosed),
    isMet: (value) => validate(value) === true,
  };
}

/** Follows references within the schema. */
function resolve(schema: JsonObject, part: unknown): JsonObject {
  if (!isRecord(part)) return {};
  if (typeof part.$ref !== 'string') return part;
  return resolve(schema, valueAt(schema, pointerSteps(part.$ref.slice(1))));
}

/** Every name of a member that one of the built-in models of early warning describes. */
export function knownMembers(): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(collect);
    if (!isRecord(part)) return;
    for (const name of Object.keys(isRecord(part.properties) ? part.properties : {})) names.add(name);
    Object.values(part).forEach(collect);
  };
  for (const version of builtInVersions('vs')) {
    const file = builtInModel('vs', version);
    if (file !== undefined) collect(JSON.parse(readFileSync(file, 'utf8')));
  }
  return names;
}

/** Names of the same thing in different models. */
export interface Equivalents {
  /** Every name of a member, itself included. */
  readonly members: (name: string) => readonly string[];
  readonly values: (value: string) => readonly string[];
}

/** Of the built-in models of early warning. */
export function readEquivalents(): Equivalents {
  const file: unknown = JSON.parse(readFileSync(new URL('vs.omzetting.json', modelsDirectory), 'utf8'));
  return { members: groupsAt(file, 'leden'), values: groupsAt(file, 'waarden') };
}

function groupsAt(file: unknown, member: string): (name: string) => readonly string[] {
  const groups = valueAt(file, [member]);
  const byName = new Map<string, readonly string[]>();
  for (const group of Array.isArray(groups) ? groups : []) {
    const names = Array.isArray(group) ? group.map(String) : [];
    for (const name of names) byName.set(name, names);
  }
  return (name) => byName.get(name) ?? [name];
}
