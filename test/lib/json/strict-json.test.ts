import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictObject } from '../../../src/lib/json/parse-untrusted.ts';

describe('strict JSON', () => {
  it.each([
    ['at the top', '{"a":1,"b":2,"a":3}'],
    ['with other spacing', '{"a" : 1 ,\n"a"\t:1}'],
    ['written with an escape', '{"alg":"PS256","\\u0061lg":"none"}'],
    ['in an inner object', '{"sigD":{"pars":[],"pars":[]}}'],
    ['in an object in a list', '{"a":[1,{"b":1,"b":1}]}'],
    ['that is the empty name', '{"":1,"":2}'],
    ['that looks like structure', '{"{\\"a\\":":1,"{\\"a\\":":2}'],
    ['that is __proto__', '{"__proto__":1,"__proto__":2}'],
  ])('refuses a repeated member: %s', (_case, text) => {
    expect(() => parseStrictObject(text)).toThrow('has a member twice');
  });

  it.each(['[]', '1', 'null', '"a"', '{', '', '{"a":1}x', '\ufeff{}', '{"a":01}', "{'a':1}", '{"a":1,}'])(
    'refuses anything but a JSON object: %j',
    (text) => expect(() => parseStrictObject(text)).toThrow(expect.objectContaining({ name: 'UntrustedJsonError' })),
  );

  it('refuses what is nested too deeply', () => {
    expect(() => parseStrictObject(`{"a":${'['.repeat(20)}${']'.repeat(20)}}`)).toThrow('nested');
  });

  it('allows the same name in different objects, and text that looks like members', () => {
    const text = '{"a":{"a":1},"b":[{"a":1},{"a":1}],"c":"\\"a\\":1,\\"a\\":2","d":"a","e":"a"}';
    expect(parseStrictObject(text)).toEqual(JSON.parse(text));
  });

  it('reads whatever JSON.stringify writes, as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(value);
        expect(parseStrictObject(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });
});
