/**
 * Compares the models with the published field list of the exchange models: every field, type, requirement and value, in both directions.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject, objectAt, openapiFolder, readJson } from './contract-schemas.ts';

const lists = new URL('../fixtures/modellen/', import.meta.url);

describe.each(['shv-1.0', 'vs-1.0', 'vs-1.1', 'vs-1.1-draft', 'vs-1.2'])('the model %s', (name) => {
  const published = readFileSync(new URL(`${name}.fields.txt`, lists), 'utf8')
    .trim()
    .split('\n');
  const model = readJson(new URL(`modellen/${name}.schema.json`, openapiFolder));

  it('has exactly the published fields, with their types and requirements', () => {
    expect(fieldsOf(model).toSorted()).toEqual(published.filter((line) => line.includes(' | ')).toSorted());
  });

  it('has exactly the published types', () => {
    const types = Object.entries(objectAt(model, '$defs')).map(([type, schema]) => `${type} = ${definition(schema)}`);
    expect(types.toSorted()).toEqual(published.filter((line) => !line.includes(' | ')).toSorted());
  });

  it('has no other keyword that could refuse a value', () => {
    const known = [
      '$schema',
      '$id',
      '$defs',
      '$ref',
      'title',
      'description',
      'type',
      'format',
      'enum',
      'properties',
      'items',
    ];
    const demands = ['required', 'additionalProperties', 'minItems', 'maxItems', 'uniqueItems', 'oneOf'];
    expect(keywordsOf(model).filter((keyword) => ![...known, ...demands].includes(keyword))).toEqual([]);
  });
});

function fieldsOf(schema: JsonObject, at = '', required = false): string[] {
  const line = `${at === '' ? '(root)' : at} | ${typeOf(schema)} | ${required ? 'yes' : ''} | ${demandsOf(schema)}`;
  const below = Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, member]) =>
    fieldsOf(objectAt(member), at === '' ? name : `${at} / ${name}`, namesOf(schema.required).includes(name)),
  );
  const items = isObject(schema.items) ? fieldsOf(schema.items, `${at}[]`) : [];
  return [line.trimEnd(), ...below, ...items];
}

function typeOf({ $ref, type }: JsonObject): string {
  return typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : String(type);
}

function demandsOf(schema: JsonObject): string {
  const { minItems, maxItems, uniqueItems, additionalProperties } = schema;
  const described = [
    ...(minItems === undefined ? [] : [`minItems ${minItems}`]),
    ...(maxItems === undefined ? [] : [`maxItems ${maxItems}`]),
    ...(uniqueItems === undefined ? [] : [`uniqueItems ${uniqueItems}`]),
    ...(additionalProperties === false ? ['no other members'] : []),
    ...(schema.oneOf === undefined ? [] : [eitherOf(schema.oneOf)]),
  ];
  return described.join(', ');
}

/** The only alternative in a model: a number alone, or other members without that number. */
function eitherOf(choices: unknown): string {
  const [alone, without] = Array.isArray(choices) ? choices.map((choice) => objectAt(choice)) : [];
  const [number] = namesOf(alone?.required);
  const { minLength, maxLength } = objectAt(alone, 'properties', String(number));
  const isAlone = alone?.additionalProperties === false && minLength === maxLength;
  const isWithout = objectAt(without, 'properties')[String(number)] === false;
  expect([isAlone, isWithout]).toEqual([true, true]);
  return `either ${number} of ${minLength} characters alone, or without it ${namesOf(without?.required).join(' and ')}`;
}

function definition(schema: unknown): string {
  const { type, format, enum: values } = objectAt(schema);
  if (Array.isArray(values)) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  return format === undefined ? String(type) : `${type}, format ${format}`;
}

function namesOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Every keyword of a schema and those below it; the keys of `properties` and `$defs` are names. */
function keywordsOf(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  const { properties, $defs, items } = schema;
  const below = [properties, $defs].flatMap((members) => (isObject(members) ? Object.values(members) : []));
  return [...Object.keys(schema), ...[...below, items].flatMap(keywordsOf)];
}
