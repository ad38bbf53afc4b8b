import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkWhole, loadModel } from '../../src/gegevens/domain/model/model.ts';
import { plainStyles } from '../../src/gegevens/jades/sign.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
  for (const name of ['shv-enkelvoudig', 'shv-meerdere-leveringen', 'shv-meervoudig']) {
    await supplier.import('shv', join(FIXTURES, `${name}.json`));
  }
  await supplier.import('vs', join(FIXTURES, 'vs-enkelvoudig.json'));
});
afterAll(() => supplier.close());

it('delivers the examples of SHV, valid against the model', async () => {
  const { gegevens, paginering, headers } = await supplier.get({});
  expect(checkWhole(loadModel('shv')).faults(gegevens)).toEqual([]);
  expect(paginering).toBeUndefined();
  expect(gegevens).toMatchObject({ codeGegevensleverancier: 'TEST-01', startdatumLevering: '2024-01-01' });
  expect(headers.get('cache-control')).toBe('no-store, no-transform');
});

it('delivers the example of VS in the body form', async () => {
  const { gegevens } = await supplier.get({}, { variant: 'vs', style: plainStyles.body });
  expect(checkWhole(loadModel('vs')).faults(gegevens)).toEqual([]);
});
