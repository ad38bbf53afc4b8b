import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasDoubleNames } from '../../../src/raadsfeed/domain/member-names.ts';

const isDouble = (text: string): boolean => hasDoubleNames(text, JSON.parse(text));

it.each([
  '{"a":1,"a":1}',
  '{"a":1,"a":2}',
  String.raw`{"a":1,"\u0061":2}`,
  '{"x":[{"b":{"a" : 1,\n"a"\t:2}}]}',
  '{"a":{"b":1},"a":{}}',
  '{"__proto__":1,"__proto__":2}',
  String.raw`{"a\"":1,"a\"":2}`,
  String.raw`{"\\":":","\\":1}`,
])('finds a name that stands twice: %s', (text) => {
  expect(isDouble(text)).toBe(true);
});

it.each([
  '{}',
  '[1, "a", "a"]',
  '{"a":1, "b":{"a":1}, "c":[{"a":1},{"a":1}]}',
  String.raw`{ "a": "\"a\":1,\"a\":2" }`,
  String.raw`{ "a\\": "\\", "b": ":" }`,
  '{ "__proto__": { "a": 1 } }',
  '{ "10": 1.0, "9": 1e3 }',
])('finds nothing wrong with %s', (text) => {
  expect(isDouble(text)).toBe(false);
});

it('finds nothing wrong with any value, however it is written', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => !isDouble(JSON.stringify(value, undefined, 2))));
});
