/** The period indicated by a file name. */
import { expect, it } from 'vitest';
import { periodInName } from '../../../../src/gegevens/tools/table-period.ts';

const now = new Date('2026-05-10T12:00:00Z');
const year2025 = { start: '2025-01-01', end: '2025-03-31' };

it.each([
  ['2026-q1.csv', '2026-01-01', '2026-03-31'],
  ['Gemeente_2026_Q2.xlsx', '2026-04-01', '2026-06-30'],
  ['2026q3.csv', '2026-07-01', '2026-09-30'],
  ['export 4e kwartaal 2025.xlsx', '2025-10-01', '2025-12-31'],
  ['Eerste kwartaal 2026 definitief.csv', '2026-01-01', '2026-03-31'],
  ['kwartaal 2 2026.csv', '2026-04-01', '2026-06-30'],
  ['schulden_20260101_20260331.csv', '2026-01-01', '2026-03-31'],
  ['2026-01-01 tm 2026-12-31.csv', '2026-01-01', '2026-12-31'],
])('is that of %s', (name, start, end) => {
  expect(periodInName(name, undefined, now)).toEqual({ start, end });
});

it('has the year of the mapping, or else the latest such quarter that has begun', () => {
  expect(periodInName('q2.csv', year2025, now)).toEqual({ start: '2025-04-01', end: '2025-06-30' });
  expect(periodInName('q2.csv', undefined, now)).toEqual({ start: '2026-04-01', end: '2026-06-30' });
  expect(periodInName('q3.csv', undefined, now)).toEqual({ start: '2025-07-01', end: '2025-09-30' });
});

it.each(['trajecten.csv', '2026-04-02.csv', '2026.csv', 'q1-q2 2026.csv', 'q5.csv', '2025-2026 q1.csv', 'bbq1.csv'])(
  'is not indicated by %s',
  (name) => {
    expect(periodInName(name, year2025, now)).toBeUndefined();
  },
);
