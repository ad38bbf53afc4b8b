import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { messageFile, shvMessage, vsMessage } from './support/messages.ts';
import { type Delivered, openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
const models = { shv: loadModel('shv').whole, vs: loadModel('vs').whole };

beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

interface Shown {
  readonly organisaties: readonly string[];
  readonly records: readonly string[];
}

/** Names and marks of the delivered records, once checked against the model. */
function shown({ gegevens, paginering }: Delivered): Shown & { paginering: typeof paginering } {
  expect(models.shv.faults(gegevens)).toEqual([]);
  const leveringen = Array.isArray(gegevens.leveringen) ? gegevens.leveringen : [];
  expect(leveringen.map(({ teller }) => teller)).toEqual(leveringen.map((_, index) => index + 1));
  return {
    organisaties: leveringen.map((levering) => String(levering.aanleverende_organisatie['(Statutaire) Naam'])),
    records: leveringen.flatMap(({ schuldhulptrajecten }) =>
      schuldhulptrajecten.map(({ omschrijving }: { omschrijving: string }) => omschrijving),
    ),
    paginering,
  };
}

describe('before any import', () => {
  it('delivers an empty answer that is valid against the model', async () => {
    const shv = await supplier.get({});
    expect(models.shv.faults(shv.gegevens)).toEqual([]);
    const vs = await supplier.get({ aanleverperiodeStartdatum: '2020-01-01' }, { variant: 'vs' });
    expect(models.vs.faults(vs.gegevens)).toEqual([]);
    expect(vs.gegevens).toMatchObject({ startdatumLevering: '2020-01-01', einddatumLevering: '2020-01-01' });
  });
});

describe('the delivery', () => {
  beforeAll(async () => {
    const old = { start: '2025-10-01', end: '2025-12-31', moment: '2026-01-05T10:00:00+01:00' };
    await supplier.import(
      'shv',
      messageFile(shvMessage({ ...old, leveringen: [{ naam: 'Zuid', kvk: '30000003', records: ['oud zuid'] }] })),
    );
    await supplier.import(
      'shv',
      messageFile(
        shvMessage({
          leveringen: [
            { naam: 'Zuid', kvk: '30000003', records: ['z1', 'z2'] },
            { naam: 'Noord', kvk: '10000001', gemeentecode: 'GM0010', records: ['n1', 'n2', 'n3'] },
            { naam: 'Leeg', kvk: '20000002', records: [] },
          ],
        }),
      ),
    );
    await supplier.import(
      'shv',
      messageFile(
        shvMessage({
          start: '2024-01-01',
          end: '2024-12-31',
          moment: '2025-01-05T10:00:00Z',
          leveringen: [{ naam: 'Vroeger', records: ['v1'] }],
        }),
      ),
    );
  });

  it('is the most recent period overall, by organisation, each record once', async () => {
    const answer = await supplier.get({});
    expect(shown(answer)).toEqual({
      organisaties: ['Leeg', 'Noord', 'Zuid'],
      records: ['n1', 'n2', 'n3', 'z1', 'z2'],
      paginering: undefined,
    });
    expect(answer.gegevens).toMatchObject({
      startdatumLevering: '2026-01-01',
      einddatumLevering: '2026-03-31',
      aanleverdatumEnTijd: '2026-04-05T10:15:30Z',
      codeGegevensleverancier: 'TEST-01',
    });
  });

  it('is the most recent period of the requested organisation', async () => {
    expect(shown(await supplier.get({ aanleverende_organisatie: 'Vroeger' })).records).toEqual(['v1']);
  });

  it('is the records that overlap the requested dates, with those dates', async () => {
    const answer = await supplier.get({
      aanleverperiodeStartdatum: '2025-01-01',
      aanleverperiodeEinddatum: '2026-12-31',
    });
    expect(shown(answer)).toMatchObject({ organisaties: ['Leeg', 'Noord', 'Zuid', 'Zuid'] });
    expect(shown(answer).records).toEqual(['n1', 'n2', 'n3', 'oud zuid', 'z1', 'z2']);
    expect(answer.gegevens).toMatchObject({ startdatumLevering: '2025-01-01', einddatumLevering: '2026-12-31' });
  });

  it.each(['  zuid ', 'ZUID', '30000003'])('finds the organisation by "%s"', async (aanleverende_organisatie) => {
    expect(shown(await supplier.get({ aanleverende_organisatie })).records).toEqual(['z1', 'z2']);
  });

  it.each(['GM0010', 'gm0010', '0010'])('finds the municipality by "%s"', async (aanleverende_organisatie) => {
    expect(shown(await supplier.get({ aanleverende_organisatie })).organisaties).toEqual(['Noord']);
  });

  it('treats an empty name as all organisations', async () => {
    expect(shown(await supplier.get({ aanleverende_organisatie: '' })).organisaties).toHaveLength(3);
  });

  it('names each organisation with an empty list when the period has no records', async () => {
    const answer = await supplier.get({
      aanleverperiodeStartdatum: '2030-01-01',
      aanleverperiodeEinddatum: '2030-12-31',
    });
    expect(shown(answer)).toMatchObject({ organisaties: ['Leeg', 'Noord', 'Vroeger', 'Zuid'], records: [] });
    expect(answer.gegevens).toMatchObject({ startdatumLevering: '2030-01-01', einddatumLevering: '2030-12-31' });
    const one = await supplier.get({ aanleverperiodeStartdatum: '2030-01-01', aanleverende_organisatie: 'zuid' });
    expect(shown(one)).toMatchObject({ organisaties: ['Zuid'], records: [], paginering: undefined });
  });

  it('pages by records, with empty leveringen in their position', async () => {
    const pages = [1, 2, 3].map((page) => supplier.get({ page, pageSize: 2 }).then(shown));
    expect(await Promise.all(pages)).toEqual([
      { organisaties: ['Leeg', 'Noord'], records: ['n1', 'n2'], paginering: at(1) },
      { organisaties: ['Noord', 'Zuid'], records: ['n3', 'z1'], paginering: at(2) },
      { organisaties: ['Zuid'], records: ['z2'], paginering: at(3) },
    ]);
    function at(currentPage: number) {
      return { pageSize: 2, currentPage, totalPages: 3, totalRecords: 5 };
    }
  });

  it('has paginering exactly when it was requested', async () => {
    expect(shown(await supplier.get({ page: 1 })).paginering).toMatchObject({ pageSize: 25_000, totalPages: 1 });
    expect(shown(await supplier.get({ pageSize: 5 })).paginering).toMatchObject({ currentPage: 1, totalPages: 1 });
    expect(shown(await supplier.get({})).paginering).toBeUndefined();
  });

  it('answers a page past the end with the first', async () => {
    const [first, past] = [
      await supplier.get({ page: 1, pageSize: 2 }),
      await supplier.get({ page: 9, pageSize: 2 }),
    ].map(shown);
    expect(past).toEqual(first);
    expect(past?.paginering).toEqual({ pageSize: 2, currentPage: 1, totalPages: 3, totalRecords: 5 });
    const none = shown(
      await supplier.get({ page: 2, aanleverperiodeStartdatum: '2030-01-01', aanleverperiodeEinddatum: '2030-01-02' }),
    );
    expect(none.paginering).toEqual({ pageSize: 25_000, currentPage: 1, totalPages: 1, totalRecords: 0 });
  });

  it('is paged when there are more records than the maximum', async () => {
    const server = await supplier.another({ 'gegevens.shvMaxRecords': '4' });
    expect(shown(await supplier.get({}, { server }))).toEqual({
      organisaties: ['Leeg', 'Noord', 'Zuid'],
      records: ['n1', 'n2', 'n3', 'z1'],
      paginering: { pageSize: 4, currentPage: 1, totalPages: 2, totalRecords: 5 },
    });
    expect((await supplier.ask({ pageSize: 5 }, { server })).status).toBe(400);
  });

  it('sends the same bytes on every call', async () => {
    const [first, second] = [await supplier.get({ page: 1 }), await supplier.get({ page: 1 })];
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect(second.headers.get('digest')).toBe(first.headers.get('digest'));
    const metrics = await (await fetch(`${supplier.server.managementUrl}/metrics`)).text();
    expect(metrics).toMatch(/koppelvlak_gegevens_pages_total\{from="memory"\} [1-9]/);
  });
});

describe('signals and their cases', () => {
  beforeAll(async () => {
    await supplier.import(
      'vs',
      messageFile(
        vsMessage({
          leveringen: [
            {
              naam: 'Stad',
              records: ['s1', 's2', 's3', 's4'],
              zaken: [['s4', 's2'], ['s1'], [], ['elders'], ['s3', 's4']],
            },
            { naam: 'Stad', gemeentecode: 'GM0002', records: ['t1'] },
          ],
        }),
      ),
    );
  });

  it('puts a case on the page of the first of its signals, in the order of the file', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => supplier.get({ page, pageSize: 2 }, { variant: 'vs' })));
    for (const { gegevens } of pages) expect(models.vs.faults(gegevens)).toEqual([]);
    const zaken = pages.map(({ gegevens }) =>
      (Array.isArray(gegevens.leveringen) ? gegevens.leveringen : []).flatMap(({ vroegsignaalzaken = [] }) =>
        vroegsignaalzaken.map(({ volgnummer }: { volgnummer: number }) => volgnummer),
      ),
    );
    expect(zaken).toEqual([[0, 1, 2, 3], [4], []]);
  });

  it('delivers leveringen of one organisation for several municipalities separately', async () => {
    const { gegevens } = await supplier.get({ aanleverende_organisatie: '0002' }, { variant: 'vs' });
    expect(gegevens.leveringen).toMatchObject([{ teller: 1, gemeentecode: 'GM0002', vroegsignalen: [{ ID: 't1' }] }]);
    const both = await supplier.get({ aanleverende_organisatie: 'stad' }, { variant: 'vs' });
    expect(both.gegevens.leveringen).toHaveLength(2);
  });
});

describe('many organisations', () => {
  it('keep their own records and cases', async () => {
    const sizes = [0, 1, 700, 1500, 3, 2500, 0, 40, 1999, 2001, 5];
    const leveringen = sizes.map((size, n) => {
      const records = Array.from({ length: size }, (_, at) => `${n}-${at}`);
      const zaken = records.filter((_, at) => at % 3 === 0).map((id) => [id]);
      return { naam: `Stad ${String(n).padStart(2, '0')}`, gemeentecode: `9${n}`, records, zaken };
    });
    await supplier.import('vs', messageFile(vsMessage({ start: '2026-04-01', end: '2026-06-30', leveringen })));
    const { gegevens } = await supplier.get({}, { variant: 'vs' });
    const given = Array.isArray(gegevens.leveringen) ? gegevens.leveringen : [];
    expect(
      given.map(({ vroegsignalen, vroegsignaalzaken }) => ({
        records: vroegsignalen.map(({ ID }: { ID: string }) => ID),
        zaken: vroegsignaalzaken.map(({ vroegsignalen: [first] }: { vroegsignalen: { ID: string }[] }) => [first?.ID]),
      })),
    ).toEqual(leveringen.map(({ records, zaken }) => ({ records, zaken })));
  });
});
