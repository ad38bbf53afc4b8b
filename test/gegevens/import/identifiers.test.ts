import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashId, IdIndex, ZaakLinker } from '../../../src/gegevens/import/identifiers.ts';

it('holds the first number of each of many identifiers', () => {
  const index = new IdIndex();
  for (let n = 0; n < 100_000; n += 1) index.add(hashId(`VS-2026-${n}`), n);
  for (let n = 0; n < 100_000; n += 1) index.add(hashId(`VS-2026-${n}`), n + 1);
  for (let n = 0; n < 100_000; n += 997) expect(index.get(hashId(`VS-2026-${n}`))).toBe(n);
  expect(index.get(hashId('VS-2027-1'))).toBeUndefined();
});

it('hashes similar texts to different values', () => {
  const hashes = new Set<string>();
  for (let n = 0; n < 200_000; n += 1) {
    const { low, high } = hashId(String(n));
    hashes.add(`${low} ${high}`);
  }
  expect(hashes.size).toBe(200_000);
});

it('finds the first signal of each case, whichever list comes first', () => {
  const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 });
  const scene = ids.chain((signals) => {
    const picks = fc.array(
      fc.array(fc.oneof(fc.constantFrom(...signals), fc.constant('elders-1234')), { maxLength: 4 }),
    );
    return fc.tuple(fc.constant(signals), picks, fc.boolean());
  });
  fc.assert(
    fc.property(scene, ([signals, zaken, zakenFirst]) => {
      const places = new ZaakLinker(['ID'], ['vroegsignalen'], ['ID']);
      const tellSignals = (): void => {
        for (const [nummer, ID] of signals.entries()) places.addRecord({ ID }, nummer);
      };
      if (!zakenFirst) tellSignals();
      for (const [zaak, list] of zaken.entries()) places.addZaak({ vroegsignalen: list.map((ID) => ({ ID })) }, zaak);
      if (zakenFirst) tellSignals();
      const expected = zaken.map((list) => {
        const found = list.map((id) => signals.indexOf(id)).filter((at) => at >= 0);
        return found.length === 0 ? 0 : Math.min(...found);
      });
      expect([...places.finish().bij]).toEqual(expected);
    }),
  );
});
