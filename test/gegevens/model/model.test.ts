import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadModel } from '../../../src/lib/exchange-model/model.ts';

it('checks a case with very many signals, where comparing every pair would take minutes', () => {
  const { zaak: check } = loadModel('vs');
  const vroegsignalen = Array.from({ length: 100_000 }, (_, n) => ({ ID: `signaal ${n}` }));
  const zaak = { resultaat: '(Budget)advies en/of quick fix', volgnummer: 1, vroegsignalen };
  expect(check?.faults(zaak)).toEqual([]);
  expect(check?.ok(zaak)).toBe(true);
  const twice = { ...zaak, vroegsignalen: [...vroegsignalen, { ID: 'signaal 70000' }] };
  expect(check?.ok(twice)).toBe(false);
  expect(check?.faults(twice)).toMatchObject([{ keyword: 'uniqueItems', params: { i: 100_000, j: 70_000 } }]);
});

it('accepts the deliveries of the demo', () => {
  for (const variant of ['shv', 'vs'] as const) {
    const path = join(import.meta.dirname, `../../../examples/demo/${variant}-levering.json`);
    expect(loadModel(variant).whole.faults(JSON.parse(readFileSync(path, 'utf8')))).toEqual([]);
  }
});
