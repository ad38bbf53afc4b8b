import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../../src/lib/json/canonical-json.ts';
import { hasDoubleNames } from '../../../src/lib/json/parse-untrusted.ts';

const canonical = (text: string): string => canonicalJson(JSON.parse(text));

it('sorts members by UTF-16 code units, at every depth (RFC 8785 section 3.2.3)', () => {
  expect(
    canonical(String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
      "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`),
  ).toBe(
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign",' +
      '"😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  );
  expect(canonical('[{"b":[{"z":1,"a":2}],"a":{}},[]]')).toBe('[{"a":{},"b":[{"a":2,"z":1}]},[]]');
});

it('sorts names that look like numbers as texts, and keeps a member called __proto__', () => {
  expect(canonical('{"10":1,"9":2,"2":3,"__proto__":{"b":1,"a":2}}')).toBe(
    '{"10":1,"2":3,"9":2,"__proto__":{"a":2,"b":1}}',
  );
});

it('writes numbers, texts and literals as ECMAScript does (RFC 8785 section 3.2.2)', () => {
  expect(
    canonical(String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0],
      "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`),
  ).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  expect(canonical(String.raw`["","\u007f","\u2028","é","\ud834\udd1e"]`)).toBe('["","\u007f","\u2028","é","𝄞"]');
});

it.each([String.raw`["\ud800"]`, String.raw`{"\udc00":1}`])('cannot represent half a surrogate pair: %s', (text) => {
  expect(() => canonical(text)).toThrow(TypeError);
});

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
])('finds a name that occurs twice: %s', (text) => {
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
