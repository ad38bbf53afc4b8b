import { describe, expect, it } from 'vitest';
import { JsonCounter, type JsonLimits, parseUntrusted } from '../../../src/lib/json/parse-untrusted.ts';

const LIMITS: JsonLimits = { bytes: 1000, depth: 4, containers: 8, members: 10, objectMembers: 7, values: 20 };

const SHAPES = {
  'nested lists': ['[', 'too-deep'],
  'nested objects': ['{"a":', 'too-deep'],
  'a list of lists': ['[],', 'too-many-containers'],
  'a list of objects': ['{"a":1},', 'too-many-containers'],
  'a list of numbers': ['1,', 'too-many-values'],
  'an object of members': ['"a":"",', 'too-many-members'],
} as const;

describe('parseUntrusted', () => {
  it.each([
    ['null', null],
    [' [1, "a\\"b\\\\", {"c": [true]}] ', [1, 'a"b\\', { c: [true] }]],
    ['{"[[[[[[[[{{{,:,:,": "]]]]]]]]"}', { '[[[[[[[[{{{,:,:,': ']]]]]]]]' }],
    ['[[[[1]]]]', [[[[1]]]]],
    ['\uFEFF{}', {}],
    ['"é€😀"', 'é€😀'],
  ])('returns what JSON.parse returns: %s', (text, value) => {
    expect(parseUntrusted(Buffer.from(text), LIMITS)).toEqual(value);
  });

  it('reads a text as it reads bytes', () => {
    expect(parseUntrusted('{"naam":"Zuid"}', LIMITS)).toEqual({ naam: 'Zuid' });
    expect(() => parseUntrusted('[[[[[1]]]]]', LIMITS)).toThrow(expect.objectContaining({ code: 'too-deep' }));
  });

  it.each([
    ['too-large', JSON.stringify('x'.repeat(999))],
    ['too-deep', '[[[[[1]]]]]'],
    ['too-deep', '{"a":{"a":{"a":{"a":{}}}}}'],
    ['too-many-containers', '[[],[],[],[],[],[],[],[]]'],
    ['too-many-values', JSON.stringify(Array(21).fill(1))],
    ['too-many-members', `[{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6},{"a":1,"b":2,"c":3,"d":4,"e":5}]`],
    ['too-many-object-members', `[{"a":1},{"a":1,"b":{"a":1},"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}]`],
    ['not-json', '[1,]'],
    ['not-json', ''],
    ['not-json', '["open'],
    ['not-json', '["open\\'],
  ])('refuses %s: %s', (code, text) => {
    expect(() => parseUntrusted(Buffer.from(text), LIMITS)).toThrow(
      expect.objectContaining({ name: 'UntrustedJsonError', code }),
    );
  });

  it('refuses bytes that are not UTF-8, and a lone surrogate in UTF-8', () => {
    for (const bytes of [
      [0x22, 0xe9, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ]) {
      expect(() => parseUntrusted(Buffer.from(bytes), LIMITS)).toThrow(expect.objectContaining({ code: 'not-utf8' }));
    }
  });

  it('accepts up to the allowed number', () => {
    const values = JSON.stringify(Array(19).fill(1));
    expect(parseUntrusted(values, { ...LIMITS, values: 20, bytes: values.length })).toHaveLength(19);
    const members = Object.fromEntries(
      Array.from({ length: 7 }, (_, n) => [`a${n}`, n === 3 ? { a: 1, b: 2, c: 3 } : n]),
    );
    expect(parseUntrusted(JSON.stringify(members), LIMITS)).toEqual(members);
  });

  it('does not quote the text in its errors', () => {
    const refuse = (): unknown => parseUntrusted('{"bsn":999990019,}', LIMITS);
    expect(refuse).toThrow('not JSON');
    expect(refuse).not.toThrow(/bsn|99999/);
  });

  it.each(Object.entries(SHAPES))('refuses 30 MB of %s before building anything', (_name, [part, code]) => {
    const bytes = Buffer.alloc(30_000_000, part);
    const before = process.memoryUsage();
    expect(() => parseUntrusted(bytes, { bytes: bytes.length })).toThrow(expect.objectContaining({ code }));
    expect(process.memoryUsage().heapUsed - before.heapUsed).toBeLessThan(20_000_000);
  });
});

describe('JsonCounter', () => {
  const text = Buffer.from('{"a\\"[":[1,"\\\\",{"b":"]}"}],"é":"\\u005b"}');

  it('counts the same wherever a text is split', () => {
    for (let first = 0; first <= text.length; first += 1) {
      for (const values of [6, 7]) {
        const counter = new JsonCounter({ ...LIMITS, depth: 3, members: 3, values });
        const feed = (): void => {
          counter.feed(text.subarray(0, first));
          counter.feed(new Uint8Array(0));
          for (const byte of text.subarray(first)) counter.feed(Uint8Array.of(byte));
        };
        if (values === 7) expect(feed).not.toThrow();
        else expect(feed).toThrow(expect.objectContaining({ code: 'too-many-values' }));
      }
    }
  });

  it('refuses at the piece that exceeds the limit', () => {
    const counter = new JsonCounter({ ...LIMITS, bytes: 100_000 });
    counter.feed(Buffer.from('[1,2,3'));
    counter.feed(Buffer.from(`,"${'x'.repeat(50_000)}"`));
    expect(() => counter.feed(Buffer.from(',1'.repeat(30)))).toThrow(
      expect.objectContaining({ code: 'too-many-values' }),
    );
  });
});
