/** Reads a model's schema for tools that do more than validate. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { addStandardFormats } from '../../lib/json/formats.ts';
import { isRecord, type JsonObject, pointerSteps, valueAt } from '../../lib/json/json-value.ts';

export type ValueType = 'text' | 'integer' | 'number' | 'boolean' | 'date';

/** One allowed combination of members of an object. */
interface Choice {
  readonly allows: (member: string) => boolean;
  readonly isMet: (value: unknown) => boolean;
}

/** Deeper than any model; references may be circular. */
const MAX_REFERENCES = 20;

/** The schema of one value: a part of the schema with everything that it refers to and combines. */
export class Shape {
  readonly #schema: JsonObject;
  readonly #parts: readonly JsonObject[];
  readonly #children = new Map<string, Shape | undefined>();
  readonly allowed: ReadonlySet<string> | undefined;
  #choices: readonly Choice[] | undefined;

  constructor(schema: JsonObject, parts: readonly unknown[] = [schema]) {
    this.#schema = schema;
    this.#parts = parts.filter(isRecord).flatMap((part) => withBranches(schema, part, MAX_REFERENCES));
    const values = this.#parts.map((part) => part.enum).find((each) => Array.isArray(each));
    this.allowed = values && new Set(values.map(String));
  }

  /** An object must match one of these, if there are any. */
  get choices(): readonly Choice[] {
    const alternatives = this.#parts.map(({ oneOf }) => oneOf).find((each) => Array.isArray(each)) ?? [];
    this.#choices ??= alternatives.filter(isRecord).map(readChoice);
    return this.#choices;
  }

  /** @returns `undefined` for a member that the model does not describe */
  member(name: string): Shape | undefined {
    return this.#child(`.${name}`, ({ properties }) =>
      isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined,
    );
  }

  get items(): Shape | undefined {
    return this.#child('[]', ({ items }) => items);
  }

  get hasMembers(): boolean {
    return this.#parts.some(({ properties }) => isRecord(properties));
  }

  /** @param path names of members, `*` for any item of a list */
  at(path: readonly string[]): Shape | undefined {
    let found: Shape | undefined = this;
    for (const step of path) found = step === '*' ? found?.items : found?.member(step);
    return found;
  }

  /** `list` or `object` for containers. */
  get type(): ValueType | 'list' | 'object' {
    const types = new Set(this.#parts.flatMap(({ type }) => (Array.isArray(type) ? type : [type])));
    if (types.has('array')) return 'list';
    for (const type of ['object', 'integer', 'number', 'boolean'] as const) if (types.has(type)) return type;
    return this.#parts.some(({ format }) => format === 'date') ? 'date' : 'text';
  }

  #child(key: string, of: (part: JsonObject) => unknown): Shape | undefined {
    if (!this.#children.has(key)) {
      const parts = this.#parts.map(of).filter(isRecord);
      this.#children.set(key, parts.length === 0 ? undefined : new Shape(this.#schema, parts));
    }
    return this.#children.get(key);
  }
}

function withBranches(schema: JsonObject, part: JsonObject, left: number): JsonObject[] {
  if (left === 0) return [part];
  const branches: unknown[] = [part.allOf, part.anyOf, part.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (typeof part.$ref === 'string' && part.$ref.startsWith('#')) {
    branches.push(valueAt(schema, pointerSteps(decodeURIComponent(part.$ref.slice(1)))));
  }
  return [part, ...branches.filter(isRecord).flatMap((branch) => withBranches(schema, branch, left - 1))];
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

export function memberNames(schema: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const part of schema) memberNames(part, names);
  if (!isRecord(schema)) return names;
  for (const name of Object.keys(isRecord(schema.properties) ? schema.properties : {})) names.add(name);
  for (const part of Object.values(schema)) memberNames(part, names);
  return names;
}
