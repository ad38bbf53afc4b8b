/** Which records belong to a period: those that overlap it, by organisation and municipality. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJournal } from '../../src/gegevens/store/journal.ts';
import { type LeveringWishes, messageFile, shvMessage, vsMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

const Q1 = { start: '2026-01-01', end: '2026-03-31' };
const Q2 = { start: '2026-04-01', end: '2026-06-30', moment: '2026-07-05T08:00:00Z' };
const YEAR = { start: '2026-01-01', end: '2026-12-31', moment: '2027-01-05T08:00:00Z' };

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

interface Loaded {
  readonly start: string;
  readonly end: string;
  readonly moment?: string;
}

async function shv(period: Loaded, levering: LeveringWishes): Promise<void> {
  await supplier.import('shv', messageFile(shvMessage({ ...period, leveringen: [levering] })));
}

async function vs(period: Loaded, levering: LeveringWishes): Promise<void> {
  await supplier.import('vs', messageFile(vsMessage({ ...period, leveringen: [levering] })));
}

async function marks(naam: string, start?: string, end?: string, more: object = {}): Promise<string[]> {
  const { text } = await supplier.get({ ...asking(naam, start, end), ...more });
  return [...text.matchAll(/"omschrijving":"([^"]*)"/g)].map(([, mark = '']) => mark);
}

function asking(naam: string, start?: string, end?: string): object {
  return {
    aanleverende_organisatie: naam,
    ...(start === undefined ? {} : { aanleverperiodeStartdatum: start }),
    ...(end === undefined ? {} : { aanleverperiodeEinddatum: end }),
  };
}

/** Signals, and the cases with the signals that they name. */
async function signals(naam: string, start: string, end: string, more: object = {}) {
  const { gegevens } = await supplier.get({ ...asking(naam, start, end), ...more }, { variant: 'vs' });
  const leveringen = Array.isArray(gegevens.leveringen) ? gegevens.leveringen : [];
  return leveringen.map(({ vroegsignalen, vroegsignaalzaken = [] }) => ({
    signalen: vroegsignalen.map(({ ID }: { ID: string }) => ID),
    zaken: vroegsignaalzaken.map(({ vroegsignalen: named = [] }) =>
      named.map(({ ID }: { ID: string }) => ID).join('+'),
    ),
  }));
}

describe('trajectories of one delivery', () => {
  beforeAll(() =>
    shv(Q1, {
      naam: 'Lopend',
      records: [
        { mark: 'ended before', van: '2025-06-01', tot: '2026-01-09' },
        { mark: 'ends on the first day', van: '2025-06-01', tot: '2026-01-10' },
        { mark: 'within', van: '2026-01-15', tot: '2026-01-20' },
        { mark: 'around', van: '2025-01-01', tot: '2026-12-31' },
        { mark: 'running', van: '2025-01-01' },
        { mark: 'begins on the last day', van: '2026-02-10' },
        { mark: 'begins after', van: '2026-02-11' },
        { mark: 'without dates' },
        { mark: 'only an end', tot: '2026-01-31' },
      ],
    }),
  );

  it('are all delivered for exactly its period', async () => {
    expect(await marks('lopend', Q1.start, Q1.end)).toHaveLength(9);
    expect(await marks('lopend')).toHaveLength(9);
  });

  it('are delivered if they overlap part of its period', async () => {
    expect(await marks('lopend', '2026-01-10', '2026-02-10')).toEqual([
      ...['ends on the first day', 'within', 'around', 'running', 'begins on the last day', 'without dates'],
      'only an end',
    ]);
  });

  it('are still delivered for a period one day shorter', async () => {
    expect(await marks('lopend', '2026-01-02', Q1.end)).toHaveLength(9);
    expect(await marks('lopend', Q1.start, '2026-03-30')).toHaveLength(9);
  });

  it('are paged like any other', async () => {
    const whole = await marks('lopend', '2026-01-10', '2026-02-10');
    const asked = asking('lopend', '2026-01-10', '2026-02-10');
    const pages = [];
    for (const page of [1, 2, 3]) {
      const answer = await supplier.get({ ...asked, page, pageSize: 3 });
      expect(answer.paginering).toEqual({ pageSize: 3, currentPage: page, totalPages: 3, totalRecords: 7 });
      pages.push(...[...answer.text.matchAll(/"omschrijving":"([^"]*)"/g)].map(([, mark]) => mark));
    }
    expect(pages).toEqual(whole);
  });

  it.each([
    // A missing date is taken from the most recent period.
    [undefined, '2026-01-10', '2026-01-01', '2026-01-10'],
    ['2026-02-11', undefined, '2026-02-11', '2026-03-31'],
    // If that puts the start after the end, it equals the other date.
    [undefined, '2025-12-01', '2025-12-01', '2025-12-01'],
    ['2026-05-01', undefined, '2026-05-01', '2026-05-01'],
    [undefined, undefined, '2026-01-01', '2026-03-31'],
    ['2026-01-10', '2026-02-10', '2026-01-10', '2026-02-10'],
  ])('are answered for %s to %s with the bounds %s and %s', async (start, end, startdatum, einddatum) => {
    const { gegevens } = await supplier.get(asking('lopend', start, end));
    expect(gegevens).toMatchObject({
      startdatumLevering: startdatum,
      einddatumLevering: einddatum,
    });
  });
});

describe('of several deliveries', () => {
  it('the newest that covers the period is used, and nothing of the others', async () => {
    const naam = 'Dekkend';
    await shv(YEAR, { naam, records: [{ mark: 'old year', van: '2026-02-01' }] });
    await shv(
      { start: '2026-01-01', end: '2026-09-30' },
      {
        naam,
        records: [
          { mark: 'new', van: '2026-02-01', tot: '2026-02-20' },
          { mark: 'new, later', van: '2026-08-01' },
        ],
      },
    );
    await shv(Q1, { naam, records: [{ mark: 'quarter', van: '2026-02-01' }] });
    expect(await marks(naam, '2026-02-01', '2026-05-31')).toEqual(['new']);
    expect(await marks(naam, '2026-02-01', '2026-10-01')).toEqual(['old year']);
    expect(await marks(naam, Q1.start, Q1.end)).toEqual(['quarter']);
  });

  it('all that overlap are used if none covers the period, each trajectory once, from the newest', async () => {
    const naam = 'Samen';
    const person = '900000013';
    await shv(Q1, {
      naam,
      records: [
        { mark: 'Q1 of both', van: '2026-01-10', bsn: [person] },
        { mark: 'Q1 ended, then another began', van: '2026-01-05', tot: '2026-01-31', bsn: ['900000025'] },
        { mark: 'Q1 of two persons', van: '2026-01-05', bsn: ['900000037', '900000049'] },
        { mark: 'Q1 alone', van: '2026-01-05', bsn: ['900000037'] },
        { mark: 'Q1 nobody known', van: '2026-01-05' },
        { mark: 'Q1 number not known', van: '2026-01-05', bsn: ['000000000'] },
      ],
    });
    await shv(Q2, {
      naam,
      records: [
        { mark: 'Q2 of both', van: '2026-01-10', tot: '2026-05-01', bsn: [` ${person}`] },
        { mark: 'Q2 another of the same person', van: '2026-04-10', bsn: ['900000025'] },
        { mark: 'Q2 of two persons', van: '2026-01-05', bsn: ['900000049', '900000037'] },
        { mark: 'Q2 twice', van: '2026-04-02', bsn: ['900000050'] },
        { mark: 'Q2 twice', van: '2026-04-02', bsn: ['900000050'] },
        { mark: 'Q2 nobody known', van: '2026-01-05' },
        { mark: 'Q2 number not known', van: '2026-01-05', bsn: ['000000000'] },
      ],
    });
    const halfYear = [
      ...['Q1 ended, then another began', 'Q1 alone', 'Q1 nobody known', 'Q1 number not known'],
      ...['Q2 of both', 'Q2 another of the same person', 'Q2 of two persons', 'Q2 twice', 'Q2 twice'],
      ...['Q2 nobody known', 'Q2 number not known'],
    ];
    expect(await marks(naam, Q1.start, Q2.end)).toEqual(halfYear);
    const paged = [];
    for (const page of [1, 2, 3, 4]) paged.push(...(await marks(naam, Q1.start, Q2.end, { page, pageSize: 3 })));
    expect(paged).toEqual(halfYear);
    const { gegevens } = await supplier.get(asking(naam, Q1.start, Q2.end));
    expect(gegevens).toMatchObject({ startdatumLevering: Q1.start, einddatumLevering: Q2.end });
    expect(gegevens).toMatchObject({ aanleverdatumEnTijd: '2026-07-05T08:00:00Z' });
    // Each is unchanged for its own period.
    expect(await marks(naam, Q1.start, Q1.end)).toHaveLength(6);
  });

  it('pages come from the deliveries and the dates of page 1', async () => {
    const naam = 'Gepind';
    const records = [{ mark: 'a1', van: '2026-01-02' }, { mark: 'a2' }];
    await shv(Q1, { naam, records });
    const begin = { start: '2026-01-02' };
    expect(await marks(naam, begin.start, undefined, { page: 1, pageSize: 1 })).toEqual(['a1']);
    await shv(Q2, { naam, records: [{ mark: 'b1' }] });
    expect(await marks(naam, begin.start, undefined, { page: 2, pageSize: 1 })).toEqual(['a2']);
    expect(await marks(naam, begin.start, undefined, { page: 1, pageSize: 9 })).toEqual(['a1', 'a2', 'b1']);
  });

  it('an organisation with another period than the most recent is answered for that period too', async () => {
    await shv({ start: '2031-01-01', end: '2031-03-31' }, { naam: 'Kwartaal', kvk: '70000001', records: ['k1'] });
    await shv({ start: '2031-01-01', end: '2031-02-28' }, { naam: 'Maanden', kvk: '70000002', records: ['m1'] });
    const { text } = await supplier.get({});
    expect(text).toContain('"k1"');
    expect(text).toContain('"m1"');
  });

  it('days that none covers are named in the log and the journal', async () => {
    const naam = 'Gaten';
    await shv({ start: '2026-01-05', end: '2026-01-31' }, { naam, records: ['jan'] });
    await shv({ start: '2026-03-01', end: '2026-03-31' }, { naam, records: ['mrt'] });
    supplier.server.logged.length = 0;
    expect(await marks(naam, '2026-01-01', '2026-04-02')).toEqual(['jan', 'mrt']);
    const gemeente = '0001';
    const ongedekt = [
      { organisatie: naam, gemeente, van: '2026-01-01', tot: '2026-01-04' },
      { organisatie: naam, gemeente, van: '2026-02-01', tot: '2026-02-28' },
      { organisatie: naam, gemeente, van: '2026-04-01', tot: '2026-04-02' },
    ];
    expect(supplier.server.logged).toContainEqual(expect.objectContaining({ ongedekt }));
    const [entry] = await readJournal(supplier.pool, { limit: 1 });
    expect(entry?.ongedekt).toEqual(ongedekt);
    expect(await marks(naam, '2020-01-01', '2020-01-31')).toEqual([]);
    const [empty] = await readJournal(supplier.pool, { limit: 1 });
    expect(empty?.ongedekt).toEqual([{ organisatie: naam, gemeente, van: '2020-01-01', tot: '2020-01-31' }]);
    await marks(naam, '2026-03-01', '2026-03-31');
    expect((await readJournal(supplier.pool, { limit: 1 }))[0]?.ongedekt).toEqual([]);
  });
});

describe('signals', () => {
  beforeAll(async () => {
    const signaal = (mark: string, van?: string) => ({ mark, ...(van === undefined ? {} : { van }) });
    await vs(Q1, {
      naam: 'Stad',
      records: [
        ...[signaal('jan', '2026-01-10'), signaal('feb', '2026-02-10'), signaal('feb2', '2026-02-20')],
        ...[signaal('mrt', '2026-03-10'), signaal('undated')],
      ],
      zaken: [['jan'], ['feb', 'jan'], ['mrt', 'feb2'], ['mrt'], ['elsewhere']],
    });
    await vs(Q1, {
      naam: 'Twee',
      records: [signaal('x', '2026-01-10'), signaal('y', '2026-01-20'), signaal('y', '2026-01-20')],
      zaken: [['x'], ['y'], ['x', 'y']],
    });
    await vs(Q2, {
      naam: 'Twee',
      records: [signaal('y', '2026-01-20'), signaal('z', '2026-04-20')],
      zaken: [['y', 'z']],
    });
  });

  it('are delivered where their date lies in the period, with their cases', async () => {
    expect(await signals('stad', '2026-02-01', '2026-02-28')).toEqual([
      { signalen: ['feb', 'feb2', 'undated'], zaken: ['feb+jan', 'mrt+feb2', 'elsewhere'] },
    ]);
    expect(await signals('stad', '2026-02-01', '2026-03-30')).toEqual([
      { signalen: ['feb', 'feb2', 'mrt', 'undated'], zaken: ['feb+jan', 'mrt+feb2', 'mrt', 'elsewhere'] },
    ]);
  });

  it('have their case on the page of the first delivered signal', async () => {
    const page = (number: number) => signals('stad', '2026-02-01', '2026-03-30', { page: number, pageSize: 1 });
    expect(await page(1)).toEqual([{ signalen: ['feb'], zaken: ['feb+jan', 'elsewhere'] }]);
    expect(await page(2)).toEqual([{ signalen: ['feb2'], zaken: ['mrt+feb2'] }]);
    expect(await page(3)).toEqual([{ signalen: ['mrt'], zaken: ['mrt'] }]);
    expect(await page(4)).toEqual([{ signalen: ['undated'], zaken: [] }]);
  });

  it('with the same ID are one, whatever their dates, and so are their cases', async () => {
    expect(await signals('twee', Q1.start, Q2.end)).toEqual([
      { signalen: ['x'], zaken: ['x'] },
      { signalen: ['y', 'z'], zaken: ['y+z'] },
    ]);
    // A duplicate within one delivery is delivered as the supplier sent it.
    expect(await signals('twee', '2026-01-02', Q1.end)).toEqual([
      { signalen: ['x', 'y', 'y'], zaken: ['x', 'y', 'x+y'] },
    ]);
  });
});

it('delivers tens of thousands of records from two deliveries once each, over pages', async () => {
  const naam = 'Groot';
  const size = 12_000;
  const many = (mark: string, from: number) =>
    Array.from({ length: size }, (_, n) => ({
      mark: `${mark}${from + n}`,
      van: '2026-01-02',
      bsn: [String(100_000_000 + from + n)],
    }));
  await shv(Q1, { naam, records: many('q1-', 0) });
  await shv(Q2, { naam, records: many('q2-', size / 2) });
  const found = [];
  for (const page of [1, 2, 3, 4]) found.push(...(await marks(naam, Q1.start, Q2.end, { page, pageSize: 5000 })));
  expect(found).toEqual([
    ...Array.from({ length: size / 2 }, (_, n) => `q1-${n}`),
    ...Array.from({ length: size }, (_, n) => `q2-${size / 2 + n}`),
  ]);
});

it('stores nothing that identifies a person without the key', async () => {
  await shv(Q1, { naam: 'Sleutel', records: [{ mark: 's', bsn: ['900000013'] }] });
  const hashes = await supplier.asOwner(
    `select encode(identity_hash, 'hex') as hex, sha256('900000013') as bare from gegevens.record_periods where identity_hash is not null`,
  );
  expect(hashes.length).toBeGreaterThan(0);
  const guessable = hashes.filter(
    ({ hex, bare }) =>
      String(hex).length !== 32 || (Buffer.isBuffer(bare) && bare.toString('hex').startsWith(String(hex))),
  );
  expect(guessable).toEqual([]);
  const [key] = await supplier.asOwner('select length(key) as bytes from gegevens.recognition_key');
  expect(key).toEqual({ bytes: 32 });
});
