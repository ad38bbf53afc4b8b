import { expect, it } from 'vitest';
import { createLineValidator } from '../../../src/raadsfeed/writer/line-validator.ts';
import { vergadering } from '../support.ts';

const check = createLineValidator();

function faultsOf(line: unknown): readonly string[] {
  const checked = check(line);
  return 'faults' in checked ? checked.faults : [];
}

it('judges a line of a hundred thousand wrong elements, and names those at its beginning', () => {
  const faults = faultsOf(vergadering('v1', { agendapunten: Array.from({ length: 100_000 }, () => ({ x: 1 })) }));
  expect(faults).toContainEqual(expect.stringMatching(/^data\.agendapunten\.0 /));
  expect(faults.length).toBeLessThan(10_000);
});

it('names the wrong element also when it lies beyond those that are looked through for all faults', () => {
  const agendapunten = Array.from({ length: 5000 }, (_, i) => ({ bronidentificatie: `ap-${i}` }));
  expect(faultsOf(vergadering('v1', { agendapunten }))).toEqual([]);
  const faults = faultsOf(vergadering('v1', { agendapunten: [...agendapunten, { bronidentificatie: 5 }] }));
  expect(faults).toEqual([expect.stringMatching(/^data\.agendapunten\.5000\.bronidentificatie /)]);
});
