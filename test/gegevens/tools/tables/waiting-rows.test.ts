/** The rows that wait for others of their record are sorted on disk, within a limit for each list. */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { fileNamed, tryTable } from './support.ts';

afterEach(() => vi.restoreAllMocks());

const FULL = expect.objectContaining({ message: 'more rows than may be sorted on disk' });
const ROWS = 2000;

const mapping = fileNamed(
  'mapping.yaml',
  stringify({
    variant: 'vs',
    model: '1.1',
    csv: { delimiter: ';' },
    envelope: {
      '/startdatumLevering': '2026-01-01',
      '/einddatumLevering': '2026-03-31',
      '/codeGegevensleverancier': 'Test 1.0',
    },
    levering: { '/gemeentecode': { value: '0363' }, '/aanleverende_organisatie/naam': { value: 'Noord' } },
    tables: [
      { key: ['Nummer'], members: { '/ID': 'Nummer', '/signaaldatum': 'Datum' } },
      { list: 'zaken', key: ['Nummer'], members: { '/datum_opgepakt': 'Datum', '/vroegsignalen/-/ID': 'Nummer' } },
    ],
  }),
);
const rows = Array.from({ length: ROWS }, (_, index) => `signaal-${index};2026-01-10`);
const file = fileNamed('signalen.csv', ['Nummer;Datum', ...rows].join('\n'));

/** Faults when the rows of a list may take so many pages of 4096 bytes. */
async function faultsWithin(pages: number): Promise<readonly object[]> {
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    const limited = sql.includes('create table waiting')
      ? sql.replace(/max_page_count = \d+/, `max_page_count = ${pages}`)
      : sql;
    exec.call(this, limited);
  });
  const { faults } = await tryTable(mapping, file, '--variant', 'vs', '--model', '1.1');
  return faults;
}

it('of records and of cases have a limit each', async () => {
  expect(await faultsWithin(90)).not.toContainEqual(FULL);
});

it('beyond the limit are a fault', async () => {
  expect(await faultsWithin(40)).toContainEqual(FULL);
});
