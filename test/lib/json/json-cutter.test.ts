import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CutError, JsonCutter } from '../../../src/lib/json/json-cutter.ts';

const lists = {
  outer: '/leveringen',
  inner: new Map([
    ['/vroegsignalen', 'records'],
    ['/vroegsignaalzaken', 'zaken'],
  ]),
};

interface Cut {
  readonly items: [levering: number, list: string, index: number, text: string, line: number][];
  readonly leveringen: string[];
  readonly envelop: string;
}

/** Cuts a text that arrives in pieces of the given sizes; the buffer is reused, as when reading a file. */
function cut(text: string, sizes: readonly number[]): Cut {
  const items: Cut['items'] = [];
  const leveringen: string[] = [];
  const cutter = new JsonCutter(lists, {
    item: (levering, list, index, { bytes, line }) => items.push([levering, list, index, bytes.toString(), line]),
    outer: (_index, skeleton) => leveringen.push(skeleton.text),
  });
  const bytes = Buffer.from(text);
  const buffer = Buffer.alloc(bytes.length);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = Math.min(sizes[turn % sizes.length] ?? 1, bytes.length - at);
    bytes.copy(buffer, 0, at, at + size);
    cutter.feed(buffer.subarray(0, size));
    buffer.fill(0);
    at += size;
  }
  return { items, leveringen, envelop: cutter.finish().text };
}

const text = `{ "a\\u0062": [1, {"leveringen": [2]}],
  "leveringen": [
    {"teller": 1, "vroegsignalen": [ {"ID": "a\\"]}", "x": [[]]},
      "tekst", 12.5 ,null], "vroegsignaalzaken": [], "vroegsignalen2": [{}]},
    7,
    {"vroegsignaalzaken": [{"é": "✓"}]}
  ],
  "z": {"vroegsignalen": []}
}`;

it('cuts every item of its lists with its line, and returns the rest', () => {
  expect(cut(text, [1_000])).toEqual({
    items: [
      [0, 'records', 0, '{"ID": "a\\"]}", "x": [[]]}', 3],
      [0, 'records', 1, '"tekst"', 4],
      [0, 'records', 2, '12.5', 4],
      [0, 'records', 3, 'null', 4],
      [2, 'zaken', 0, '{"é": "✓"}', 6],
    ],
    leveringen: [
      '{"teller": 1, "vroegsignalen": [], "vroegsignaalzaken": [], "vroegsignalen2": [{}]}',
      '7',
      '{"vroegsignaalzaken": []}',
    ],
    envelop: '{ "a\\u0062": [1, {"leveringen": [2]}],\n  "leveringen": [],\n  "z": {"vroegsignalen": []}\n}',
  });
});

it('finds a list by its name, however that is escaped', () => {
  expect(cut('{"lev\\u0065ringen":[{"vroegsignalen":[1]}]}', [100]).items).toEqual([[0, 'records', 0, '1', 1]]);
});

it('cuts the same however the bytes are divided', () => {
  const whole = cut(text, [text.length * 2]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }), (sizes) => {
      expect(cut(text, sizes)).toEqual(whole);
    }),
  );
});

it('cuts any message', () => {
  const item = fc.jsonValue({ maxDepth: 3 });
  const levering = fc.record({ vroegsignalen: fc.array(item), rest: item, vroegsignaalzaken: fc.array(item) });
  const message = fc.record({ voor: item, leveringen: fc.array(levering), na: item });
  const sizes = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(message, fc.integer({ min: 0, max: 2 }), sizes, (value, indent, steps) => {
      const { items, leveringen, envelop } = cut(JSON.stringify(value, undefined, indent), steps);
      expect(JSON.parse(envelop)).toEqual(JSON.parse(JSON.stringify({ ...value, leveringen: [] })));
      const rebuilt = leveringen.map((skeleton, at) => ({
        ...JSON.parse(skeleton),
        vroegsignalen: items
          .filter(([of, list]) => of === at && list === 'records')
          .map(([, , , json]) => JSON.parse(json)),
        vroegsignaalzaken: items
          .filter(([of, list]) => of === at && list === 'zaken')
          .map(([, , , json]) => JSON.parse(json)),
      }));
      expect(rebuilt).toEqual(JSON.parse(JSON.stringify(value.leveringen)));
    }),
  );
});

it.each([
  ['ends too early', '{"leveringen": [{"vroegsignalen": [{"ID": "a"'],
  ['ends within a name', '{"leverin'],
  ['has text after its end', '{} {}'],
  ['is not an object or list', '"tekst"'],
  ['closes an unopened bracket', '{"a": ]}'],
  ['has two commas', '{"leveringen": [{"vroegsignalen": [1,,2]}]}'],
  ['has a comma at the end of a list', '{"leveringen": [{"vroegsignalen": [1,]}]}'],
  ['has a comma at the start of a list', '{"leveringen": [,{}]}'],
  ['has no comma between items', '{"leveringen": [{"vroegsignalen": [1 2]}]}'],
  ['is empty', ''],
  ['is deeper than anyone needs', `{"leveringen": [{"vroegsignalen": [${'['.repeat(200)}${']'.repeat(200)}]}]}`],
])('refuses a text that %s', (_what, broken) => {
  for (const size of [1, 1_000]) expect(() => cut(broken, [size])).toThrow(CutError);
});
