/** Problems in the export of a real quarter: several municipalities in one table, repeated rows, a column in another form. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callProgram } from '../../../support/program.ts';
import { fileNamed, shvMapping, shvTable, tryTable } from './support.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../examples/tables/gegevens');
const csv = (...rows: readonly (readonly string[])[]): string =>
  fileNamed('t.csv', rows.map((row) => `${row.join(';')}\n`).join(''));
const ORGANISATION = {
  '/aanleverende_organisatie/(Statutaire) Naam': { value: 'Kredietbank' },
  '/aanleverende_organisatie/KvK-nummer': { value: '40000031' },
};
const NUMBER = { column: 'Gemeente', pattern: 'GM(\\d{4})' };

it.each([
  ['shv', 'shv-trajecten.json', 'Nothing was found that breaks a rule.'],
  ['vs', 'vs-signalen.json', '\n0 blocking, '],
])('has no blocking findings for the example of %s', async (variant, name, summary) => {
  const { stdout, status } = await callProgram(['gegevens', 'check', '--variant', variant, join(EXAMPLES, name)], {});
  expect([status, stdout]).toEqual([0, expect.stringContaining(summary)]);
});

it('makes a levering for each municipality, which is not written into the organisation', async () => {
  const mapping = shvTable(
    { '/gemeentecode': NUMBER, '/omschrijving': 'T' },
    {},
    { levering: ORGANISATION, leveringKey: [NUMBER] },
  );
  const file = csv(['Gemeente', 'T'], ['GM0014', 'a'], ['gm0344', 'b'], ['GM0014', 'c'], ['GM0344', 'd']);
  const { leveringen, records, faults } = await tryTable(mapping, file);
  expect([leveringen, faults]).toEqual([2, []]);
  expect(records.map(({ gemeentecode }) => gemeentecode).toSorted()).toEqual(['0014', '0014', '0344', '0344']);
});

it('makes one levering of a municipality whose code lost its leading zeros in some rows', async () => {
  const content = { levering: ORGANISATION, leveringKey: ['Gemeente'] };
  const mapping = shvTable({ '/gemeentecode': 'Gemeente', '/omschrijving': 'T' }, {}, content);
  const { leveringen, records } = await tryTable(
    mapping,
    csv(['Gemeente', 'T'], ['14', 'a'], ['0014', 'b'], ['GM0014', 'c']),
  );
  expect([leveringen, records.map(({ gemeentecode }) => gemeentecode)]).toEqual([1, ['0014', '0014', '0014']]);
});

it('reports timestamps once per column, and names the cells of damaged numbers', async () => {
  const mapping = shvTable({ '/startdatum': 'Start', '/einddatum': 'Einde', '/client/-/Geboortedatum': 'Geboren' });
  const rows = ['2026-01-14T23:00:00.000Z', '2026-06-30T22:00:00Z', '1980-05-13T22:00:00Z'];
  const file = csv(['Start', 'Einde', 'Geboren'], ...Array.from({ length: 20 }, () => rows), ['2026-01-15', '', '']);
  const run = await callProgram(
    ['gegevens', 'import', '--variant', 'shv', '--mapping', mapping, '--dry-run', file],
    {},
  );
  const message = 'has moments with an offset from UTC: each is read as its day in Europe/Amsterdam';
  expect([run.status, run.stderr, run.stdout.split('\n').filter((line) => line.includes('note:'))]).toEqual([
    0,
    '',
    ['Start', 'Einde', 'Geboren'].map((column) => `  note: row 2, column ${column}  ${message}`),
  ]);
  const { records } = await tryTable(mapping, file);
  expect(records[0]).toEqual({
    gemeentecode: '0014',
    startdatum: '2026-01-15',
    einddatum: '2026-07-01',
    client: [{ Geboortedatum: '1980-05-14' }],
  });
  const damaged = csv(['BSN'], ['9,9999E+08'], ["'012345672"], ['12345672']);
  const bsn = await tryTable(shvTable({ '/client/-/Burgerservicenummer': 'BSN' }), damaged);
  expect(bsn.faults).toEqual([
    { row: 2, column: 'BSN', message: 'is a number in exponent form: its last digits are lost' },
    { row: 3, column: 'BSN', message: expect.stringContaining('begins with an apostrophe') },
  ]);
  expect(bsn.records[2]).toMatchObject({ client: [{ Burgerservicenummer: '012345672' }] });
});

it('makes no record of rows whose key a spreadsheet rounded', async () => {
  const members = { '/gemeentecode': { value: '0014' }, '/schulden/-/bedrag': 'Bedrag' };
  const items = { '/schulden': { key: ['Nr'] } };
  const mapping = shvMapping({ tables: [{ key: ['Dossier'], items, members }] });
  const rows = [
    ['1,23457E+11', '1', '10'],
    ['1,23457E+11', '2', '10'],
    ['12E3', '3', '10'],
    ['5', '2,02601E+13', '10'],
  ];
  const { faults } = await tryTable(mapping, csv(['Dossier', 'Nr', 'Bedrag'], ...rows));
  const message = 'is a number in exponent form: its last digits are lost';
  expect(faults).toEqual([
    { row: 2, column: 'Dossier', message },
    { row: 3, column: 'Dossier', message },
    { row: 5, column: 'Nr', message },
  ]);
});

it('makes no levering without rows that name its municipality', async () => {
  const mapping = shvTable({ '/omschrijving': 'T' }, {}, { levering: ORGANISATION, leveringKey: ['Gemeente'] });
  expect((await tryTable(mapping, csv(['Gemeente', 'T']))).faults).toEqual([{ message: 'no rows' }]);
});

it('says that the columns of a levering belong in every main table', async () => {
  const content = { levering: ORGANISATION, leveringKey: ['Gemeente'] };
  const { faults } = await tryTable(shvTable({ '/omschrijving': 'T' }, {}, content), csv(['T'], ['a']));
  expect(faults).toEqual([
    {
      row: 1,
      column: 'Gemeente',
      message:
        'no such column; 1 columns were read as utf-8, delimiter ";"; the columns of a levering belong in every main table',
    },
  ]);
});

it('reads part of a text by a pattern, and reports texts that do not match', async () => {
  const mapping = shvTable({ '/gemeentecode': NUMBER });
  const { records, faults } = await tryTable(mapping, csv(['Gemeente'], ['GM0344'], ['Groningen']));
  expect(records[0]).toMatchObject({ gemeentecode: '0344' });
  expect(faults).toEqual([{ row: 3, column: 'Gemeente', message: 'does not fit the pattern of the mapping' }]);
  const kept = await tryTable(shvTable({ '/omschrijving': { ...NUMBER, other: 'keep' } }), csv(['Gemeente'], ['Rest']));
  expect(kept.records[0]).toMatchObject({ omschrijving: 'Rest' });
});

it('refuses an invalid pattern', async () => {
  const members = { '/omschrijving': { column: 'T', pattern: '(' } };
  await expect(tryTable(shvTable(members), csv(['T'], ['a']))).rejects.toThrow(
    /\/tables\/0\/members\/~1omschrijving: the pattern is not a regular expression/,
  );
});

it('omits rows by their text', async () => {
  const table = { where: { column: 'Status', notIn: ['Geannuleerd', 'test'] } };
  const file = csv(['Status', 'T'], ['Open', 'a'], ['geannuleerd', 'b'], ['', 'c'], ['TEST', 'd']);
  const { records } = await tryTable(shvTable({ '/omschrijving': 'T' }, table), file);
  expect(records.map(({ omschrijving }) => omschrijving)).toEqual(['a', 'c']);
  const both = { where: { column: 'Status', in: ['x'], notIn: ['y'] } };
  await expect(tryTable(shvTable({ '/omschrijving': 'T' }, both), file)).rejects.toThrow(/\/tables\/0\/where/);
});

it('reports rows of one record that add the same item twice, which would double a debt', async () => {
  const members = { '/gemeentecode': { value: '0014' }, '/schulden/-/bedrag': 'Bedrag', '/omschrijving': 'T' };
  const rows = [
    ['Dossier', 'Bedrag', 'T'],
    ['1', '100', 'x'],
    ['1', '100', 'x'],
    ['1', '200', 'x'],
    ['2', '100', 'x'],
    ['2', '', 'x'],
    ['2', '', 'x'],
  ];
  const tried = async (table: object) => {
    const mapping = shvMapping({ tables: [{ key: ['Dossier'], members, ...table }] });
    const words = ['gegevens', 'import', '--variant', 'shv', '--mapping', mapping, '--dry-run'];
    const { status, stdout } = await callProgram([...words, csv(...rows)], {});
    return [status, stdout.split('\n').filter((line) => line.includes('note:'))];
  };
  expect(await tried({})).toEqual([0, ['  note: row 3, column Dossier  adds the same as row 2, of the same record']]);
  expect(await tried({ items: { '/schulden': { key: ['Bedrag'] } } })).toEqual([0, []]);
});

it.each([
  [
    'dates as day numbers',
    '45678',
    '99999',
    'these look like the day numbers of a spreadsheet: add `serial` to `dates`',
  ],
  ['dates in another form', '3 mrt. 26', '9 aaa. 99', 'add their format to `dates`'],
])('reports once what is wrong with a whole column: %s', async (_name, text, form, remedy) => {
  const rows = Array.from({ length: 180 }, () => [text]);
  const { faults } = await tryTable(shvTable({ '/startdatum': 'Start' }), csv(['Start'], ...rows));
  expect(faults).toEqual([
    {
      row: 2,
      column: 'Start',
      message: `is not a date of the form yyyy-MM-dd, d-M-yyyy (180 rows, such as ${form}); ${remedy}`,
    },
  ]);
});

it('reports a model fault in a whole column once, and in a few rows individually', async () => {
  const rows = (count: number) => csv(['Start'], ...Array.from({ length: count }, () => ['']));
  const mapping = shvTable({ '/gemeentecode': 'Start' });
  expect((await tryTable(mapping, rows(10))).faults.length).toBeLessThanOrEqual(10);
  const values = { '/omschrijving': { column: 'Start', values: { a: 'b' } } };
  const unknown = csv(['Start'], ...Array.from({ length: 11 }, (_, i) => [`Ab${i}`]));
  expect((await tryTable(shvTable(values), unknown)).faults).toEqual([
    {
      row: 2,
      column: 'Start',
      message:
        'is not among the values that the mapping knows (11 rows, such as Aa9); add them to `values`, or set `other: keep`',
    },
  ]);
});
