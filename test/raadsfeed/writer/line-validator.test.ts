import { expect, it } from 'vitest';
import { createLineValidator } from '../../../src/raadsfeed/writer/line-validator.ts';
import { document, vergadering } from '../support.ts';

const check = createLineValidator();

function faultsOf(line: unknown): readonly string[] {
  const checked = check(line);
  return 'faults' in checked ? checked.faults : [];
}

it('checks a line of a hundred thousand wrong elements, and names those at its beginning', () => {
  const faults = faultsOf(vergadering('v1', { agendapunten: Array.from({ length: 100_000 }, () => ({ x: 1 })) }));
  expect(faults).toContainEqual(expect.stringMatching(/^data\.agendapunten\.0 /));
  expect(faults.length).toBeLessThan(1000);
});

it('checks a line of a hundred thousand different references, and finds the duplicate', () => {
  const agendapunten = Array.from({ length: 100_000 }, (_, i) => ({
    bronidentificatie: `a-${i}`,
    organisatiecode: 'gm0001',
  }));
  expect(faultsOf(vergadering('v1', { agendapunten }))).toEqual([]);
  agendapunten.push({ organisatiecode: 'gm0001', bronidentificatie: 'a-7' });
  expect(faultsOf(vergadering('v1', { agendapunten }))).toEqual([
    'data.agendapunten must NOT have duplicate items (items ## 7 and 100000 are identical)',
  ]);
});

it('names unexpected members', () => {
  const resource = { organisatiecode: 'gm9901', bronidentificatie: 'v-1' };
  const line = { op: 'delete', resourceType: 'Vergadering', resource, verwijderreden: 'correctie' };
  expect(faultsOf({ ...line, data: 1 })).toContain('data may not be there with this op');
  expect(faultsOf([line])).toEqual(['the line must be object']);
});

it('lists the first hundred faults of a line that has more', () => {
  const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`onbekend-${i}`, i]));
  const faults = faultsOf(vergadering('v1', unknown));
  expect(faults).toHaveLength(101);
  expect(faults.at(-1)).toBe('and 49900 more faults');
});

it('names the wrong element even beyond those that are searched for all faults', () => {
  const agendapunten = Array.from({ length: 5000 }, (_, i) => ({ bronidentificatie: `ap-${i}` }));
  expect(faultsOf(vergadering('v1', { agendapunten }))).toEqual([]);
  const faults = faultsOf(vergadering('v1', { agendapunten: [...agendapunten, { bronidentificatie: 5 }] }));
  expect(faults).toEqual([expect.stringMatching(/^data\.agendapunten\.5000\.bronidentificatie /)]);
});

it.each([
  ['lists', '['.repeat(20_000) + ']'.repeat(20_000)],
  ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
])('refuses a line with deeply nested %s', (_name, deep) => {
  const text = JSON.stringify(vergadering('v1', { naam: 'HERE' })).replace('"HERE"', deep);
  expect(check(JSON.parse(text), text)).toEqual({ faults: ['the line is nested too deeply'] });
});

it('refuses a number that would be published as null', () => {
  const line = JSON.stringify(document('d1', { omvang: 7 })).replace('"omvang":7', '"omvang":1e400');
  expect(check(JSON.parse(line), line)).toEqual({
    faults: ['the line has a number that is too large for JSON to be read'],
  });
});
