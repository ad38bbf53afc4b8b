import { describe, expect, it } from 'vitest';
import type { ValueType } from '../../../../src/extensions/delivery-tools/model-shape.ts';
import { Scratch, ScratchFull } from '../../../../src/extensions/delivery-tools/scratch.ts';
import { createConvert } from '../../../../src/extensions/delivery-tools/tables/convert.ts';
import type { FromColumn } from '../../../../src/extensions/delivery-tools/tables/mapping-file.ts';
import { formatOf } from '../../../../src/extensions/delivery-tools/tables/xlsx/workbook.ts';

const faulty = { message: expect.any(String) };

/** What a text is read as. */
function read(type: ValueType, text: string, source: Omit<FromColumn, 'column'> = {}): unknown {
  const defaults = { dates: ['d-M-yyyy', 'yyyyMMdd', 'd MMMM yyyy'], empty: ['-', 'N.v.t.'] };
  return createConvert({ source: { column: 1, ...source }, type, defaults, date1904: false })(text);
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
    '%s is not one',
    (text) => {
      expect(read('integer', text)).toMatchObject(faulty);
    },
  );

  it('is written as the mapping says', () => {
    expect(read('integer', '1,234.56', { decimal: '.' })).toBe(1235);
    expect(read('number', '1.234,5678')).toBe(1234.5678);
  });
});

describe('a text', () => {
  it('is split, mapped, filled with zeros, or nothing', () => {
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

it('knows a format of dates from one of numbers', () => {
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
  ];
  const dates = codes.filter((code) => formatOf(code) === 'date');
  expect(dates).toEqual(['dd-mm-yyyy', '[$-413]d mmm yy;@', 'mmmm', 'yyyy"-jaar"']);
  expect(formatOf('000000000')).toEqual({ digits: 9 });
});

describe('what is kept on disk', () => {
  it('stops when the disk has had its share', () => {
    const scratch = new Scratch('entries (text text)', 1, 5000);
    const fill = (): void => {
      for (let n = 0; n < 1000; n += 1) scratch.insert('x'.repeat(100));
    };
    expect(fill).toThrow(ScratchFull);
    scratch.close();
  });
});
