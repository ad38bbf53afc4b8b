import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonTextError, locateValues } from '../../../src/lib/json/locate-values.ts';

it('finds where each requested value begins', () => {
  const text = '{ "a/b": [1, {"~": "x"}],\n "c": null }';
  const pointers = ['', '/a~1b', '/a~1b/0', '/a~1b/1', '/a~1b/1/~0', '/c', '/d', '/c/0'];
  expect(Object.fromEntries(locateValues(text, pointers))).toEqual({
    '': 0,
    '/a~1b': text.indexOf('['),
    '/a~1b/0': text.indexOf('1'),
    '/a~1b/1': text.indexOf('{"~'),
    '/a~1b/1/~0': text.indexOf('"x"'),
    '/c': text.indexOf('null'),
  });
});

it('accepts exactly what JSON.parse accepts', () => {
  const damage = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', ',', '"', '}', ']', '\\', '\u0001', '0', '-', '.', 'e'),
  );
  fc.assert(
    fc.property(damage, ([json, place, inserted]) => {
      const at = place % (json.length + 1);
      const text = json.slice(0, at) + inserted + json.slice(at);
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      try {
        locateValues(text);
        expect(valid, text).toBe(true);
      } catch (error) {
        if (!(error instanceof JsonTextError)) throw error;
        if (!error.isDuplicate) expect(valid, text).toBe(false);
      }
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ['{"a":1,"a":2}', 7],
  ['{"a":1,"\\u0061":2}', 7],
  ['[{"x":{"b":1,"b":1}}]', 13],
])('points at the member that occurs twice in %s', (text, offset) => {
  expect(() => locateValues(text)).toThrow(expect.objectContaining({ isDuplicate: true, offset }));
});
