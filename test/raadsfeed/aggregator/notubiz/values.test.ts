import { describe, expect, it } from 'vitest';

import { fixUrl, readMoment } from '../../../../src/raadsfeed/aggregator/supplier/values.ts';
import { halves, quarters, roundWindows } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';

describe('times', () => {
  it.each([
    ['in winter', '2025-01-14 19:30:00', '2025-01-14T18:30:00Z'],
    ['in summer', '2025-07-14 19:30:00', '2025-07-14T17:30:00Z'],
    ['with a T', '2025-01-14T19:30:00', '2025-01-14T18:30:00Z'],
    ['without seconds', '2025-01-14 19:30', '2025-01-14T18:30:00Z'],
    ['just before summer time', '2025-03-30 01:59:59', '2025-03-30T00:59:59Z'],
    ['just after summer time began', '2025-03-30 03:00:00', '2025-03-30T01:00:00Z'],
    ['in the repeated hour: the first time', '2025-10-26 02:30:00', '2025-10-26T00:30:00Z'],
    ['just after summer time ended', '2025-10-26 03:00:00', '2025-10-26T02:00:00Z'],
  ])('reads a bare time %s as Dutch time', (_when, bare, utc) => {
    expect(readMoment(bare)).toEqual({ moment: { utc, day: bare.slice(0, 10) } });
  });

  it('reads a time in the skipped hour as if the clock had not moved', () => {
    const { moment } = readMoment('2025-03-30 02:30:00');
    expect(moment).toMatchObject({ utc: '2025-03-30T01:30:00Z', day: '2025-03-30' });
  });

  it.each([
    ['2025-01-14T19:30:00+01:00', '2025-01-14T18:30:00Z', '2025-01-14'],
    ['2025-01-14T19:30:00-0500', '2025-01-15T00:30:00Z', '2025-01-15'],
    ['2025-01-14T23:30:00Z', '2025-01-14T23:30:00Z', '2025-01-15'],
    ['2025-01-14T19:30:00.123+01:00', '2025-01-14T18:30:00Z', '2025-01-14'],
  ])('keeps the meaning of the offset in %s', (value, utc, day) => {
    expect(readMoment(value)).toEqual({ moment: { utc, day } });
  });

  it('reads a date without a time as a day', () => {
    expect(readMoment('2025-01-14')).toEqual({ moment: { day: '2025-01-14' } });
  });

  it.each([
    null,
    undefined,
    '',
    '  ',
    '0000-00-00',
    '0000-00-00 00:00:00',
    '2025-02-30',
    '2025-13-01',
    '2025-01-14 25:00',
  ])('treats %j as an absent time', (value) => {
    expect(readMoment(value)).toEqual({});
  });

  it.each(['gisteren', '14-01-2025', 20250114, {}])('rejects %j as a time', (value) => {
    expect(readMoment(value)).toHaveProperty('fault');
  });
});

describe('addresses', () => {
  it.each([
    ['https://api.notubiz.nl/document/1/1', 'https://api.notubiz.nl/document/1/1'],
    ['httphttp://www.voorbeeld.nl/a', 'http://www.voorbeeld.nl/a'],
    ['httphttps://www.voorbeeld.nl/a', 'https://www.voorbeeld.nl/a'],
    ['http://https://www.voorbeeld.nl/a', 'https://www.voorbeeld.nl/a'],
    ['https:/www.voorbeeld.nl/a', 'https://www.voorbeeld.nl/a'],
    [' https://www.voorbeeld.nl/een stuk.pdf ', 'https://www.voorbeeld.nl/een%20stuk.pdf'],
    ['www.voorbeeld.nl/a', 'https://www.voorbeeld.nl/a'],
    ['//www.voorbeeld.nl/a', 'https://www.voorbeeld.nl/a'],
    ['api.notubiz.nl/document/1', 'https://api.notubiz.nl/document/1'],
  ])('fixes %s', (broken, fixed) => {
    expect(fixUrl(broken)).toBe(fixed);
  });

  it.each(['', 'geen adres', 'http://', 'javascript:alert(1)', 'ftp://voorbeeld.nl/a', 'https://a:b@voorbeeld.nl/'])(
    'does not make an address of %j',
    (broken) => {
      expect(fixUrl(broken)).toBeUndefined();
    },
  );
});

describe('windows', () => {
  it('halves a window without a gap or an overlap, down to a day', () => {
    expect(halves({ from: '2025-01-01', to: '2025-03-31' })).toEqual([
      { from: '2025-01-01', to: '2025-02-14' },
      { from: '2025-02-15', to: '2025-03-31' },
    ]);
    expect(halves({ from: '2024-02-28', to: '2024-02-29' })).toEqual([
      { from: '2024-02-28', to: '2024-02-28' },
      { from: '2024-02-29', to: '2024-02-29' },
    ]);
    expect(halves({ from: '2025-01-01', to: '2025-01-01' })).toBeUndefined();
  });

  it('reads the quarters around today in the quick round, and all of them in the full one', () => {
    const { current, all } = roundWindows('2023-02-10', new Date('2025-02-01T12:00:00Z'));
    expect(current).toEqual([
      { from: '2024-10-01', to: '2024-12-31' },
      { from: '2025-01-01', to: '2025-03-31' },
      { from: '2025-04-01', to: '2025-06-30' },
    ]);
    expect(all.at(0)).toEqual({ from: '2023-02-10', to: '2023-03-31' });
    expect(all.at(-1)).toEqual({ from: '2026-04-01', to: '2026-06-30' });
    expect(all).toHaveLength(14);
  });

  it('divides days into quarters, cut off at both ends', () => {
    expect(quarters({ from: '2024-11-15', to: '2025-04-02' })).toEqual([
      { from: '2024-11-15', to: '2024-12-31' },
      { from: '2025-01-01', to: '2025-03-31' },
      { from: '2025-04-01', to: '2025-04-02' },
    ]);
  });
});
