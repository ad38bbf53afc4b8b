import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ChosenLevering, estimateBytes, planPage } from '../../../src/gegevens/model/selection.ts';

function levering(id: number, records: number, bytes = 0): ChosenLevering {
  const stored = {
    id,
    invoerId: 1,
    nummer: id,
    organisatieSleutel: `o${id}`,
    naam: null,
    gemeenteSleutel: null,
    periodeStart: '2026-01-01',
    periodeEinde: '2026-03-31',
    aangeleverdOp: new Date(0),
    head: '{}',
    records,
    zaken: 0,
    bytes,
  };
  return { levering: stored, group: undefined };
}

const sizes = fc.array(fc.nat({ max: 9 }), { maxLength: 8 });

it('puts every record and every levering on one page, in order', () => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 12 }), (counts, pageSize) => {
      const leveringen = counts.map((records, id) => levering(id, records));
      const total = counts.reduce((a, b) => a + b, 0);
      const { paginering } = planPage(leveringen, new Map(), { page: 1, pageSize, maximum: 100 });
      expect(paginering).toMatchObject({ totalRecords: total, totalPages: Math.max(1, Math.ceil(total / pageSize)) });
      const given: [number, number][] = [];
      const seen = new Set<number>();
      for (let page = 1; page <= (paginering?.totalPages ?? 0); page += 1) {
        const plan = planPage(leveringen, new Map(), { page, pageSize, maximum: 100 });
        expect(plan.records).toBeLessThanOrEqual(pageSize);
        for (const slice of plan.slices) {
          seen.add(slice.levering.id);
          for (let at = slice.from; at < slice.to; at += 1) given.push([slice.levering.id, at]);
        }
      }
      expect(given).toEqual(counts.flatMap((records, id) => Array.from({ length: records }, (_, at) => [id, at])));
      expect([...seen].toSorted((a, b) => a - b)).toEqual(counts.map((_, id) => id));
    }),
  );
});

it('answers a page past the end with the first', () => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 12 }), (counts, pageSize) => {
      const leveringen = counts.map((records, id) => levering(id, records));
      const first = planPage(leveringen, new Map(), { page: 1, pageSize, maximum: 100 });
      const past = planPage(leveringen, new Map(), { page: 1000, pageSize, maximum: 100 });
      expect(past).toEqual({ ...first, isPastEnd: true });
      expect(past.paginering).toMatchObject({ currentPage: 1 });
    }),
  );
});

it('is paged when requested, or when there are more records than the maximum', () => {
  const leveringen = [levering(0, 5)];
  const paged = (page?: number, pageSize?: number, maximum = 5) =>
    planPage(leveringen, new Map(), { page, pageSize, maximum }).paginering !== undefined;
  expect([paged(), paged(1), paged(undefined, 5), paged(undefined, undefined, 4)]).toEqual([false, true, true, true]);
});

it("estimates a levering's bytes in proportion to its records", () => {
  const leveringen = [levering(0, 10, 1000), levering(1, 0, 7), levering(2, 4, 100)];
  const bytes = (page: number, pageSize: number) =>
    estimateBytes(planPage(leveringen, new Map(), { page, pageSize, maximum: 100 }));
  expect([bytes(1, 5), bytes(2, 5), bytes(3, 5), bytes(1, 100)]).toEqual([500, 500, 107, 1107]);
});
