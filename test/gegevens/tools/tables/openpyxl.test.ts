/** Workbooks written by a real program: blanks, dates, formats and formulas of openpyxl. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { shvTable, tryTable } from './support.ts';

const python = process.env.OPENPYXL_PYTHON ?? 'python3';
const hasOpenpyxl = spawnSync(python, ['-c', 'import openpyxl']).status === 0;

const directory = mkdtempSync(join(tmpdir(), 'openpyxl-'));
afterAll(() => rmSync(directory, { recursive: true }));

const SCRIPT = `
import sys
from datetime import date, datetime
from openpyxl import Workbook
book = Workbook()
book.iso_dates = sys.argv[2] == 'iso'
sheet = book.active
sheet.append(['Tekst', 'Start', 'Einde', 'Bedrag', 'BSN', 'Postcode', 'Nr', 'Geboren'])
sheet.append(['een', date(2026, 1, 15), datetime(2026, 3, 29, 23, 59, 59), 1234.5, 12345672, '1234 AB', 7, date(1971, 3, 19)])
sheet['D2'].number_format = '"EUR" #,##0.00'
sheet['E2'].number_format = '000000000'
sheet['G2'].number_format = 'Standard'
sheet.append(['twee', '2026-01-14T23:00:00.000Z', None, None, '012345672', '1234\\u00a0AB', '12', ''])
sheet.append(['', '', None, None, '', None, None, None])
sheet['A4'].style = 'Good'
sheet['C4'].number_format = 'yyyy-mm-dd'
sheet.append(['drie', None, None, None, '123.456.782', None, None, None])
sheet.append(['vier', 46037, '15-01-2026', '=1+1', '9,9999E+08', None, None, None])
book.save(sys.argv[1])
`;

it.skipIf(!hasOpenpyxl).each(['serial', 'iso'])(
  `reads a workbook of openpyxl with %s dates${hasOpenpyxl ? '' : ' (skipped: python3 has no openpyxl)'}`,
  async (dates) => {
    const file = join(directory, `${dates}.xlsx`);
    const { status, stderr } = spawnSync(python, ['-c', SCRIPT, file, dates], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    const mapping = shvTable({
      '/omschrijving': 'Tekst',
      '/startdatum': 'Start',
      '/einddatum': 'Einde',
      '/totaalSchuldbedragBijAanvangSchuld': 'Bedrag',
      '/client/-/Burgerservicenummer': 'BSN',
      '/client/-/Postcode': 'Postcode',
      '/client/-/Huisnummer': 'Nr',
      '/client/-/Geboortedatum': 'Geboren',
    });
    const { records, faults } = await tryTable(mapping, file);
    const gemeentecode = '0014';
    const Burgerservicenummer = '012345672';
    expect(records).toEqual([
      {
        gemeentecode,
        omschrijving: 'een',
        startdatum: '2026-01-15',
        einddatum: '2026-03-29',
        totaalSchuldbedragBijAanvangSchuld: 1235,
        client: [{ Burgerservicenummer, Postcode: '1234AB', Huisnummer: '7', Geboortedatum: '1971-03-19' }],
      },
      {
        gemeentecode,
        omschrijving: 'twee',
        startdatum: '2026-01-15',
        client: [{ Burgerservicenummer, Postcode: '1234AB', Huisnummer: '12' }],
      },
      { gemeentecode, omschrijving: 'drie', client: [{ Burgerservicenummer: '123456782' }] },
      { gemeentecode, omschrijving: 'vier', startdatum: '2026-01-15', einddatum: '2026-01-15' },
    ]);
    expect(faults.map(({ cell, message }) => [cell, message])).toEqual([
      ['D6', 'is a formula without a stored result: open and save the file first'],
      ['E6', 'is a number in exponent form: its last digits are lost'],
    ]);
  },
);
