import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chooseLeveringen, type Levering, type Period, uncoveredDays } from '../../../src/gegevens/model/selection.ts';

function levering(id: number, { start, end }: Period, gemeenteSleutel: string | null = null): Levering {
  return {
    id,
    invoerId: id,
    nummer: 0,
    organisatieSleutel: 'o',
    naam: 'O',
    gemeenteSleutel,
    periodeStart: start,
    periodeEinde: end,
    aangeleverdOp: new Date(0),
    head: '{}',
    records: 1,
    zaken: 0,
    bytes: 0,
  };
}

const day = (n: number): string => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10);
const period = fc
  .tuple(fc.nat({ max: 30 }), fc.nat({ max: 30 }))
  .map(([a, b]) => ({ start: day(Math.min(a, b)), end: day(Math.max(a, b)) }));
const overlaps = (a: Levering, b: Period): boolean => a.periodeStart <= b.end && a.periodeEinde >= b.start;
const deliverer = { organisatieSleutel: 'o', naam: 'O', gemeenteSleutel: null };

it('chooses the same again from its own choice, so that a state needs no more than that', () => {
  fc.assert(
    fc.property(fc.array(period, { maxLength: 6 }), period, (periods, asked) => {
      const all = periods.map((each, id) => levering(id, each)).filter((each) => overlaps(each, asked));
      const chosen = chooseLeveringen(all, asked);
      expect(
        chooseLeveringen(
          chosen.map((each) => each.levering),
          asked,
        ),
      ).toEqual(chosen);
      // The choice covers everything that all of them cover.
      const named = uncoveredDays([deliverer], chosen, asked);
      const days = Array.from({ length: 31 }, (_, n) => day(n)).filter(
        (each) => each >= asked.start && each <= asked.end,
      );
      const bare = days.filter((each) =>
        all.every(({ periodeStart, periodeEinde }) => each < periodeStart || each > periodeEinde),
      );
      const reported = days.filter((each) => named.some(({ van, tot }) => van <= each && each <= tot));
      expect(reported).toEqual(bare);
    }),
  );
});

it('accepts a delivery without an end', () => {
  const asked = { start: '2026-01-01', end: '9999-12-31' };
  const chosen = chooseLeveringen([levering(1, { start: '2026-02-01', end: '9999-12-31' })], asked);
  expect(uncoveredDays([deliverer], chosen, asked)).toEqual([
    { organisatie: 'O', van: '2026-01-01', tot: '2026-01-31' },
  ]);
});

it('decides for each municipality separately', () => {
  const asked = { start: day(0), end: day(9) };
  const [exact, part] = [levering(1, asked, '1'), levering(2, { start: day(5), end: day(20) }, '2')];
  expect(chooseLeveringen([exact, part], asked).map(({ group }) => group)).toEqual([undefined, 1]);
});

it('takes as many leveringen of one organisation as a file may hold', () => {
  const asked = { start: day(0), end: day(9) };
  const parts = Array.from({ length: 200_000 }, (_, nummer) => ({ ...levering(1, asked), nummer }));
  expect(chooseLeveringen(parts, asked)).toHaveLength(parts.length);
});
