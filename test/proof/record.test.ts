/** The log entry of a record: it reveals nothing about the record, and proves that it is unchanged. */
import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { disclosure, entryOf, openDisclosure } from '../../src/proof/record.ts';
import { paddingEntries } from '../../src/proof/sequence.ts';
import { createProofWriters } from '../../src/proof/writer.ts';
import { readConfig } from '../../src/settings/read-config.ts';

const SEED = Buffer.alloc(32, 5);
const PARTS = { basis: { b: 1, a: '\u00e9' }, aanvullend: {}, 'object/1': { objectId: '999990019' } };
const ENTRY = entryOf(SEED, { parts: Object.entries(PARTS) });

const read = (extra: Uint8Array) => JSON.parse(Buffer.from(extra).toString());

describe('an entry', () => {
  it('follows the specification, computed here in another way', () => {
    const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
    const json = { aanvullend: '{}', basis: '{"a":"\u00e9","b":1}', 'object/1': '{"objectId":"999990019"}' };
    const parts = Object.entries(json).map(([name, text]) =>
      Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), hmac(hmac(SEED, name), text)]),
    );
    const expected = createHash('sha256').update(Buffer.concat(parts)).digest('hex');
    expect(Buffer.from(ENTRY).toString('hex')).toBe(`01${expected}`);
  });

  it('can be computed from a partial view and the commitments to the rest', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 8 }),
        fc.array(fc.boolean()),
        async (parts, choices) => {
          fc.pre(Object.keys(parts).every((name) => name.isWellFormed()) && JSON.stringify(parts).isWellFormed());
          const read = JSON.parse(JSON.stringify(parts));
          const shown = new Set(Object.keys(parts).filter((_, place) => choices[place] === true));
          const extra = await disclosure(SEED, { parts: Object.entries(read) }, shown);
          const seen = Object.fromEntries(Object.entries(read).filter(([name]) => shown.has(name)));
          expect(openDisclosure(seen, extra).entry).toEqual(entryOf(SEED, { parts: Object.entries(read) }));
        },
      ),
    );
  });

  it('differs when any visible part was changed, added or omitted', async () => {
    const shown = new Set(['basis', 'object/1']);
    const extra = await disclosure(SEED, { parts: Object.entries(PARTS) }, shown);
    const seen = { basis: PARTS.basis, 'object/1': PARTS['object/1'] };
    expect(openDisclosure(seen, extra).entry).toEqual(ENTRY);
    expect(openDisclosure({ ...seen, basis: { ...PARTS.basis, b: 2 } }, extra).entry).not.toEqual(ENTRY);
    expect(() => openDisclosure({ basis: PARTS.basis }, extra)).toThrow(/lacks/);
    expect(() => openDisclosure({ ...seen, aanvullend: {} }, extra)).toThrow(/cover/);
    for (const wrong of [
      undefined,
      Buffer.from('{'),
      Buffer.from('{"parts":{}}'),
      Buffer.from('{"parts":{"a":"AA=="},"hidden":{}}'),
    ]) {
      expect(() => openDisclosure(seen, wrong)).toThrow(/extra data/);
    }
  });

  it('of a record with tens of thousands of parts is made while other work continues', async () => {
    const config = readConfig({ AREAS: 'verwerkingenlog', PROOF_KEY: SEED.toString('base64') }, 'tool');
    const writer = createProofWriters(config)('verwerkingen');
    const part = (i: number) => [`object/${i}`, { objectId: String(i), soortObjectId: 'BSN' }] as const;
    const record = { parts: Array.from({ length: 10_000 }, (_, i) => part(i)) };
    let turns = 0;
    let isDone = false;
    const poll = (): void => {
      turns += 1;
      if (!isDone) setImmediate(poll);
    };
    poll();
    const sealed = await writer?.sealWithinBudget(record);
    const others = turns;
    isDone = true;
    expect(others).toBeGreaterThan(3);
    expect(sealed?.entry).toEqual(entryOf(sealed?.seed ?? SEED, record));
  });

  it('does not reveal the number of objects, or the salt of a hidden part', async () => {
    for (const [count, added] of [
      [0, 2],
      [1, 1],
      [2, 0],
      [3, 1],
      [4, 0],
      [5, 3],
      [1000, 24],
    ] as const) {
      const padding = { count, nameOf: (place: number) => `object/${count + place + 1}` };
      const { hidden } = read(await disclosure(SEED, { parts: [], padding }, new Set()));
      expect(Object.keys(hidden)).toHaveLength(added);
    }
    const record = { parts: Object.entries(PARTS), padding: { count: 1, nameOf: () => 'object/2' } };
    const extra = await disclosure(SEED, record, new Set(['basis']));
    const given = read(extra);
    expect(Object.keys(given.parts)).toEqual(['basis']);
    expect(Object.keys(given.hidden).sort()).toEqual(['aanvullend', 'object/1', 'object/2']);
    expect(openDisclosure({ basis: PARTS.basis }, extra)).toEqual({ entry: entryOf(SEED, record), hiddenParts: 3 });
    expect(JSON.stringify(given)).not.toContain(SEED.toString('base64'));
  });

  it('of padding looks like the others, and is recognised with the key', () => {
    const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const entryAt = paddingEntries(key, 'example.com/log');
    const made = entryAt(7);
    expect(made).toHaveLength(33);
    expect(made[0]).toBe(1);
    expect(paddingEntries(key, 'example.com/log')(7)).toEqual(made);
    for (const another of [
      entryAt(8),
      paddingEntries(key, 'example.com/log/2')(7),
      paddingEntries(other, 'example.com/log')(7),
    ]) {
      expect(another).not.toEqual(made);
    }
  });
});
