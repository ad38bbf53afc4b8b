import { describe, expect, it } from 'vitest';
import type { ValueType } from '../../../../src/gegevens/tools/model-shape.ts';
import { Scratch, ScratchFull } from '../../../../src/gegevens/tools/scratch.ts';
import { createConvert } from '../../../../src/gegevens/tools/tables/convert.ts';
import type { FromColumn } from '../../../../src/gegevens/tools/tables/mapping-file.ts';
import { formOfTarget } from '../../../../src/gegevens/tools/tables/target-form.ts';
import { formatOf } from '../../../../src/gegevens/tools/tables/xlsx/cell-format.ts';

const faulty = { message: expect.any(String) };

/** The value that a text is read as. */
function read(type: ValueType, text: string, source: Omit<FromColumn, 'column'> = {}, pointer = ''): unknown {
  const defaults = { dates: ['d-M-yyyy', 'yyyyMMdd', 'd MMMM yyyy'], empty: ['-', 'N.v.t.'] };
  const form = formOfTarget(pointer.split('/'));
  return createConvert({ source: { column: 1, ...source }, type, form, defaults, date1904: false })(text);
}

describe('a date as text', () => {
  it.each([
    ['5-1-2026', '2026-01-05'],
    ['05-01-2026 23:59', '2026-01-05'],
    ['20260105', '2026-01-05'],
    ['5 januari 2026', '2026-01-05'],
    ['29 FEBRUARI 2024', '2024-02-29'],
    ['1 mrt 2026', '2026-03-01'],
  ])('%s', (text, day) => {
    expect(read('date', text)).toBe(day);
  });

  it.each([
    '29-2-2026',
    '31-4-2026',
    '2026-01-05',
    '5/1/2026',
    '5-13-2026',
    '0-1-2026',
    '5 janvier 2026',
    '1-1-26',
    'x',
  ])('%s has none of these forms', (text) => {
    expect(read('date', text)).toMatchObject(faulty);
  });

  it.each([
    ['2026/01/05', 'yyyy/MM/dd'],
    ['5-jan-2026', 'd-MMM-yyyy'],
    ['5.1.2026', 'd.M.yyyy'],
    ['46027', 'serial'],
    ['2026-01-05T10:00:00.5+01:00', 'yyyy-MM-dd'],
  ])('%s has the form %s', (text, form) => {
    expect(read('date', text, { dates: [form] })).toBe('2026-01-05');
  });
});

describe('a number as text', () => {
  it.each([
    ['1.234,56', 1235],
    ['1234,49', 1234],
    ['0,5', 1],
    ['-0,5', -1],
    ['-1.234.567,50', -1_234_568],
    ['€ 1.234,-', 1234],
    ['EUR 12', 12],
    ['12,50-', -13],
    ['1 234', 1234],
    ['+7', 7],
    ['2,', 2],
    ['-0,2', 0],
  ])('%s is %d whole euros', (text, value) => {
    expect(read('integer', text)).toBe(value);
  });

  it.each(['1.5', '1,234.56', '1.23,45', '12.34.567', '1,234', '1e5', '0x10', '--1', ',5', '99999999999999999999'])(
    '%s is not a number',
    (text) => {
      expect(read('integer', text)).toMatchObject(faulty);
    },
  );

  it('is formatted as the mapping says', () => {
    expect(read('integer', '1,234.56', { decimal: '.' })).toBe(1235);
    expect(read('number', '1.234,5678')).toBe(1234.5678);
  });
});

describe('a text', () => {
  it('is split, mapped, zero-padded, or nothing', () => {
    expect(read('text', '1234 AB / 7 / bis / a', { split: '/', part: 1 })).toBe('1234 AB');
    expect(read('text', '1234 AB / 7 / bis / a', { split: '/', part: '3-' })).toBe('bis/a');
    expect(read('text', '1234 AB', { split: '/', part: 2 })).toBeNull();
    expect(read('text', 'a, ,b', { split: ',' })).toEqual(['a', 'b']);
    expect(read('text', ' m ', { values: { M: 'Man' } })).toBe('Man');
    expect(read('text', 'V', { values: { M: 'Man' } })).toMatchObject(faulty);
    expect(read('text', 'Vrouw', { values: { M: 'Man' }, other: 'keep' })).toBe('Vrouw');
    expect(read('text', '?', { values: { '?': null } })).toBeNull();
    expect(read('text', '12', { digits: 9 })).toBe('000000012');
    expect(read('text', '0000000012', { digits: 9 })).toMatchObject(faulty);
    expect(['', ' ', '-', 'n.v.t.'].map((text) => read('text', text))).toEqual([null, null, null, null]);
    expect(read('text', 'x'.repeat(40_000))).toMatchObject(faulty);
  });

  it('means true or false', () => {
    expect(['Ja', 'waar', '1', 'NEE', 'onwaar', '0'].map((text) => read('boolean', text))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(read('boolean', 'misschien')).toMatchObject(faulty);
  });
});

describe('a timestamp with an offset', () => {
  const forms = { dates: ['yyyy-MM-dd', 'd-M-yyyy'] };
  it.each([
    // Midnight of the 15th in Amsterdam, as JavaScript and SQL export it; in winter, in summer, and on the days that the clocks change.
    ['2026-01-14T23:00:00.000Z', '2026-01-15'],
    ['2025-12-31T23:00:00Z', '2026-01-01'],
    ['2026-07-14T22:00:00Z', '2026-07-15'],
    ['2026-03-28T23:00:00Z', '2026-03-29'],
    ['2026-03-29T22:00:00Z', '2026-03-30'],
    ['2026-10-24T22:00:00Z', '2026-10-25'],
    ['2026-10-25T22:59:59Z', '2026-10-25'],
    ['1971-03-18T23:00:00Z', '1971-03-19'],
    ['2026-01-15T00:00:00+01:00', '2026-01-15'],
    ['2026-01-14 23:00:00+00', '2026-01-15'],
    ['2026-01-14 23:00:00.0000000 +00:00', '2026-01-15'],
    ['2026-01-14 18:30:00 -0530', '2026-01-15'],
    ['2026-01-14 23:00:00 UTC', '2026-01-15'],
    ['14-1-2026 9:00Z', '2026-01-14'],
    // Without an offset, the time is local to the table.
    ['2026-01-14T23:00:00', '2026-01-14'],
  ])('%s is its day in Amsterdam, %s', (text, day) => {
    expect(read('date', text, forms)).toBe(day);
    expect(read('text', text, forms, '/Geboortedatum')).toBe(day);
  });

  it('is a fault if there is no such time', () => {
    for (const text of ['2026-01-14T25:00:00Z', '2026-01-14T23:00:00+99:00', '2026-02-30T23:00:00Z'])
      expect(read('date', text, forms)).toMatchObject(faulty);
  });
});

describe('a target with a format of its own', () => {
  it.each([
    ['/client/-/Burgerservicenummer', '12345672', '012345672'],
    ['/client/burgerservicenummer', '123.456.782', '123456782'],
    ['/client/burgerservicenummer', ' 1234\u00a056\u202f782 ', '123456782'],
    ['/client/burgerservicenummer', '1234-56-782', '123456782'],
    ['/client/burgerservicenummer', '1234–56‑782', '123456782'],
    ['/aanleverende_organisatie/KvK-nummer', '1234567', '01234567'],
    ['/schulden/-/schuldeiser/kvknummer', '4000 0031', '40000031'],
    ['/OIN', '1823288444000', '00000001823288444000'],
    ['/gemeentecode', '14', '0014'],
    ['/gemeentecode', 'GM0344', '0344'],
    ['/gemeentecode', '00344', '0344'],
    ['/gemeentecode', 'onbekend', 'Onbekend'],
    ['/client/-/Postcode', '1234\u00a0ab', '1234AB'],
    ['/client/-/Postcode', '1234 AB', '1234AB'],
    ['/client/-/Postcode', '1234-AB', '1234AB'],
    ['/client/-/Postcode', '45127', '45127'],
    ['/schulden/-/schuldeiser/postcode', 'SW1A\u00a01AA', 'SW1A 1AA'],
    ['/client/-/Geboortedatum', '1980-00-00', '1980-00-00'],
    ['/client/-/Geboortedatum', '14-5-1980', '1980-05-14'],
    ['/omschrijving', '12345672.0', '12345672.0'],
  ])('%s of %j is %s', (pointer, text, value) => {
    expect(read('text', text, { dates: ['d-M-yyyy'] }, pointer)).toBe(value);
  });

  it.each([
    ['/bsn', '9,9999E+08', 'is a number in exponent form'],
    ['/bsn', '1E8', 'is a number in exponent form'],
    ['/bsn', "'012345672", 'begins with an apostrophe'],
    ['/bsn', '12345672.0', 'is a number with decimals'],
    ['/bsn', '12345672,0', 'is not a BSN: a number of at most 9 digits'],
    ['/bsn', '1234567890', 'is not a BSN: a number of at most 9 digits'],
    ['/kvknummer', '123456789', 'is not a KvK number: a number of at most 8 digits'],
    ['/oin', '1,82329E+12', 'is a number in exponent form'],
    ['/gemeentecode', 'Groningen', 'is not a municipality code: a number of at most 4 digits'],
    ['/postcode', "'1234AB", 'begins with an apostrophe'],
    ['/postcode', '1,2E+05', 'is a number in exponent form'],
  ])('%s of %j is a fault: %s', (pointer, text, message) => {
    expect(read('text', text, {}, pointer)).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('is checked after the mapping has processed the text', () => {
    expect(read('text', '?', { values: { '?': null } }, '/bsn')).toBeNull();
    expect(read('text', 'NL12345672B', { pattern: 'NL(\\d+)B' }, '/bsn')).toBe('012345672');
    expect(read('text', "'12345672", { remove: "'" }, '/bsn')).toBe('012345672');
  });
});

it('removes characters, and joins several groups of a pattern', () => {
  expect(read('text', 'A.12/3.4', { remove: './' })).toBe('A1234');
  expect(read('text', '...', { remove: '.' })).toBeNull();
  expect(read('integer', '1.5', { remove: '.' })).toBe(15);
  expect(read('text', '12-AB-34', { pattern: '(\\d+)-[A-Z]+-(\\d+)' })).toBe('1234');
  expect(read('text', 'b', { pattern: '(a)|b' })).toBe('b');
  expect(read('text', 'ac', { pattern: '(a)(b)?(c)' })).toBe('ac');
});

it('distinguishes a date format from a number format', () => {
  const codes = [
    'dd-mm-yyyy',
    '[$-413]d mmm yy;@',
    'mmmm',
    'yyyy"-jaar"',
    '0.00',
    'General',
    '[Red]0;"dag"',
    'h:mm',
    '@',
    '#,##0 "dagen"',
    'yyyy-mm-dd hh:mm:ss.000',
    'dd-mm-jjjj uu:mm',
    'm/d/yy h:mm AM/PM',
    'd\\-m\\-yyyy',
    'Standard',
    'Standaard',
    'USD 0.00',
    '[h]:mm',
    '[mm]:ss',
    'mm:ss.0',
    '0_d',
    '*d0',
    '\\d0',
    `${'d'.repeat(256)}`,
  ];
  const dates = codes.filter((code) => formatOf(code) === 'date');
  expect(dates).toEqual([
    'dd-mm-yyyy',
    '[$-413]d mmm yy;@',
    'mmmm',
    'yyyy"-jaar"',
    'yyyy-mm-dd hh:mm:ss.000',
    'dd-mm-jjjj uu:mm',
    'm/d/yy h:mm AM/PM',
    'd\\-m\\-yyyy',
  ]);
  expect(formatOf('000000000')).toEqual({ digits: 9 });
});

describe('temporary files', () => {
  it('stop when their disk quota is used up', () => {
    const scratch = new Scratch('entries (text text)', 1, 5000);
    const fill = (): void => {
      for (let n = 0; n < 1000; n += 1) scratch.insert('x'.repeat(100));
    };
    expect(fill).toThrow(ScratchFull);
    scratch.close();
  });
});
