/**
 * Client generators support little of JSON Schema, so the contracts use no more than that. The other rules are in `openapi/validation/`.
 */
import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject, objectAt, readYaml } from './contract-schemas.ts';

const CONTRACTS = ['gegevens', 'verwerkingenlog', 'ldv', 'proof', 'raadsfeed'] as const;
/** Keywords that generated types cannot express, or that break the client. */
const UNREAD = new Set(
  [
    'if',
    'then',
    'else',
    'not',
    'allOf',
    'anyOf',
    'dependentSchemas',
    'unevaluatedProperties',
    'patternProperties',
  ].concat(...['prefixItems', 'contains', 'propertyNames', '$defs', 'contentSchema']),
);
/** Formats for which a client uses a type other than text, to which no pattern or length applies. */
const TYPED_FORMATS = new Set(['date', 'date-time', 'uuid', 'duration', 'uri']);
const MAX_INT32 = 2 ** 31 - 1;

/** Every schema of a document, with its location. */
function* schemasIn(value: unknown, at: string): Generator<{ at: string; schema: unknown }> {
  if (Array.isArray(value)) for (const [i, one] of value.entries()) yield* schemasIn(one, `${at}/${i}`);
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (['example', 'examples', 'enum', 'const', 'description'].includes(name)) continue;
    if (name === 'schema') yield { at: `${at}/schema`, schema: member };
    yield* schemasIn(member, `${at}/${name}`);
  }
}

/** A schema and all below it. */
function* below(schema: unknown, at: string): Generator<{ at: string; schema: unknown }> {
  yield { at, schema };
  if (!isObject(schema)) return;
  for (const [name, one] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    yield* below(one, `${at}.${name}`);
  for (const keyword of ['allOf', 'anyOf', 'oneOf'])
    for (const [i, one] of (Array.isArray(schema[keyword]) ? schema[keyword] : []).entries())
      yield* below(one, `${at} ${keyword} ${i}`);
  if (schema.items !== undefined) yield* below(schema.items, `${at}[]`);
}

function allSchemas(document: JsonObject): { at: string; schema: unknown }[] {
  const named = Object.entries(objectAt(document, 'components', 'schemas')).map(([name, schema]) => ({
    at: name,
    schema,
  }));
  const { components, ...rest } = document;
  const { schemas: _named, ...others } = objectAt(components);
  return [...named, ...schemasIn({ ...rest, components: others }, '')].flatMap(({ at, schema }) => [
    ...below(schema, at),
  ]);
}

function faultsOf({ at, schema }: { at: string; schema: unknown }): string[] {
  if (!isObject(schema)) return [`${at} is ${JSON.stringify(schema)} and no object`];
  const faults = Object.keys(schema)
    .filter((keyword) => UNREAD.has(keyword))
    .map((keyword) => `${at} has ${keyword}`);
  const { type, format, oneOf, discriminator, maximum } = schema;
  if (TYPED_FORMATS.has(String(format)) && (schema.pattern !== undefined || schema.minLength !== undefined))
    faults.push(`${at} has a pattern or length beside the format ${String(format)}`);
  if (typeof schema.pattern === 'string' && /\\u0000|\(\?[!=<]|(?:\[\w\w\]){3}/.test(schema.pattern))
    faults.push(`${at} has the pattern ${schema.pattern}`);
  if (oneOf !== undefined && !isObject(discriminator)) faults.push(`${at} has a oneOf without discriminator`);
  if (Array.isArray(type) && type.filter((one) => one !== 'null').length > 1) faults.push(`${at} has several types`);
  if (type === 'integer' && typeof maximum === 'number' && maximum > MAX_INT32 && format !== 'int64')
    faults.push(`${at} is larger than an integer of 32 bits`);
  return faults;
}

/** Names of schemas that the operations reach. */
function reached(document: JsonObject): Set<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    if (!isObject(value)) return;
    const { $ref, discriminator } = value;
    if (typeof $ref === 'string' && !names.has($ref)) {
      names.add($ref);
      visit(objectAt(document, ...$ref.split('/').slice(1)));
    }
    visit(Object.values(value));
    if (isObject(discriminator)) visit(Object.values(discriminator).map((one) => ({ $ref: one })));
  };
  visit(document.paths);
  return names;
}

describe.each(CONTRACTS)('the contract %s', (name) => {
  const document = readYaml(`${name}.yaml`);

  it('uses no keywords in schemas that client generators do not support', () => {
    const schemas = allSchemas(document);
    expect(schemas.length).toBeGreaterThan(15);
    expect(schemas.flatMap(faultsOf)).toEqual([]);
  });

  it('has only texts and numbers as headers: some generators cannot send a UUID or date in one', () => {
    const { parameters } = objectAt(document, 'components');
    const headers = Object.values(isObject(parameters) ? parameters : {}).filter(
      (one) => isObject(one) && one.in === 'header',
    );
    expect(
      headers.filter((one) => ['uuid', 'date', 'date-time'].includes(String(objectAt(one, 'schema').format))),
    ).toEqual([]);
  });

  it('has no schema that no operation uses', () => {
    const used = reached(document);
    const names = Object.keys(objectAt(document, 'components', 'schemas'));
    expect(names.filter((one) => !used.has(`#/components/schemas/${one}`))).toEqual([]);
  });

  it('has no two schemas with equal names: some generators give each word one name', () => {
    const words = Object.entries(objectAt(document, 'components', 'schemas')).flatMap(([schema, value]) =>
      isObject(value) && Array.isArray(value.enum) ? value.enum.map((word) => ({ schema, word: String(word) })) : [],
    );
    const twice = words.filter(({ word, schema }) =>
      words.some((other) => other.word.toLowerCase() === word.toLowerCase() && other.schema !== schema),
    );
    expect(twice).toEqual([]);
  });
});
