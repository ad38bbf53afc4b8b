import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { PLAIN_STYLES } from '../../src/lib/jades/signature.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

/** Published examples of both variants, if they are beside the checkout; the project does not include them. */
const EXAMPLES = join(import.meta.dirname, '../../../shared/examples/gegevens');
const examples = existsSync(EXAMPLES) ? readdirSync(EXAMPLES).filter((name) => name.endsWith('.json')) : [];

describe.each([
  { from: 'our own fixtures', files: [join(FIXTURES, 'shv-klein.json'), join(FIXTURES, 'vs-klein.json')] },
  ...(examples.length === 0
    ? []
    : [{ from: 'published examples', files: examples.map((name) => join(EXAMPLES, name)) }]),
])('$from', ({ files }) => {
  let supplier: Supplier;
  beforeAll(async () => {
    supplier = await openSupplier();
    for (const file of files) await supplier.import(/\/vs-/.test(file) ? 'vs' : 'shv', file);
  });
  afterAll(() => supplier.close());

  it('are delivered for SHV, valid against the model', async () => {
    const { gegevens, paginering, headers } = await supplier.get({});
    expect(loadModel('shv').whole.faults(gegevens)).toEqual([]);
    expect(paginering).toBeUndefined();
    expect(gegevens).toMatchObject({ codeGegevensleverancier: 'TEST-01' });
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
  });

  it('are delivered for VS in the body form', async () => {
    const { gegevens } = await supplier.get({}, { variant: 'vs', style: PLAIN_STYLES.body });
    expect(loadModel('vs').whole.faults(gegevens)).toEqual([]);
  });
});
