import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { useLinearUniqueItems } from '../../src/lib/json/json-value.ts';

const ajv = new Ajv2020({ allErrors: true });
useLinearUniqueItems(ajv);
const unique = ajv.compile({ type: 'array', uniqueItems: true });

it.each([
  '[]',
  '[1, "1", true, "true", null, "null", [1], ["1"], {}, []]',
  '[{"a":1}, {"a":2}, {"b":1}, {"a":1,"b":1}]',
  '[[1,2], [2,1], ["1,2"], [[1],2]]',
  String.raw`[{"a\":\"b":1}, {"a":"b"}]`,
])('finds no duplicates in %s', (text) => {
  expect(unique(JSON.parse(text))).toBe(true);
});

it.each([
  ['[1, 1.0]', { i: 1, j: 0 }],
  ['["é", "x", "\\u00e9"]', { i: 2, j: 0 }],
  ['[{"a":1,"b":[{}]}, {"b":[{}],"a":1}]', { i: 1, j: 0 }],
])('finds duplicates in %s', (text, params) => {
  expect(unique(JSON.parse(text))).toBe(false);
  expect(unique.errors).toMatchObject([{ keyword: 'uniqueItems', instancePath: '', params }]);
});

it('ignores lists that need not be unique, and values deeper than any real document', () => {
  expect(ajv.compile({ type: 'array', uniqueItems: false })([1, 1])).toBe(true);
  const deep = (): unknown => JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(unique([deep(), deep()])).toBe(true);
});
