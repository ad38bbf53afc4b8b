/** Leveringen without the running times of their records: what they delivered is chosen as if it were imported today. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

let database: TestDatabase;
let supplier: Supplier;

/** A levering as an import left it whose records the service had no time to read. */
interface Old {
  readonly variant: 'shv' | 'vs';
  readonly sleutel: string;
  readonly gemeente: string | null;
  readonly kop: object;
  readonly records: readonly object[];
  readonly zaken?: readonly object[];
}

const OLD: readonly Old[] = [
  {
    variant: 'shv',
    sleutel: 'kvk 11111111',
    gemeente: null,
    kop: {
      teller: 1,
      aanleverende_organisatie: { '(Statutaire) Naam': 'Oud', 'KvK-nummer': '11111111' },
      schuldhulptrajecten: [],
    },
    records: [
      { gemeentecode: 'GM0301', omschrijving: 'ended', startdatum: '2025-01-01', einddatum: '2026-01-15' },
      { gemeentecode: 'GM0301', omschrijving: 'running', startdatum: '2025-01-01' },
    ],
  },
  {
    variant: 'vs',
    sleutel: 'kvk 11111111',
    gemeente: '0301',
    kop: {
      teller: 1,
      gemeentecode: '0301',
      aanleverende_organisatie: { naam: 'Oud' },
      vroegsignalen: [],
      vroegsignaalzaken: [],
    },
    records: [
      { ID: 'jan', signaaldatum: '2026-01-10', signaalpartner: {}, client: {} },
      { ID: 'feb', signaaldatum: '2026-02-10', signaalpartner: {}, client: {} },
    ],
    zaken: [{ vroegsignalen: [{ ID: 'feb' }, { ID: 'jan' }] }, { vroegsignalen: [{ ID: 'jan' }] }],
  },
];

beforeAll(async () => {
  database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  for (const old of OLD) await insert(client, old);
  await client.end();
  supplier = await openSupplier({ databaseUrl: database.url });
});
afterAll(async () => {
  await supplier.close();
  await database.drop();
});

async function insert(client: pg.Client, { variant, sleutel, gemeente, kop, records, zaken = [] }: Old): Promise<void> {
  const { rows } = await client.query(
    `insert into gegevens.invoeren (variant, model_versie, bestand)
     values ($1, case $1 when 'shv' then '1.0' else '1.1' end, 'oud.json') returning id`,
    [variant],
  );
  const id = rows[0].id;
  await client.query(
    `insert into gegevens.leveringen (model_versie, variant, invoer_id, nummer, organisatie_sleutel, naam, naam_sleutel, kvk_nummer,
       gemeente_sleutel, periode_start, periode_einde, aangeleverd_op, kop, records, zaken, bytes, vingerafdruk)
     values (case $1 when 'shv' then '1.0' else '1.1' end, $1, $2, 0, $3, 'Oud', 'oud', '11111111', $4, '2026-01-01', '2026-03-31', '2026-04-01Z', $5, $6, $7, 0, '')`,
    [variant, id, sleutel, gemeente, JSON.stringify(kop), records.length, zaken.length],
  );
  for (const [soort, texts] of [records, zaken].entries()) {
    for (const [nummer, text] of texts.entries()) {
      const values = [id, soort, nummer, JSON.stringify(text)];
      await client.query(
        'insert into gegevens.records (invoer_id, levering, soort, nummer, tekst) values ($1, 0, $2, $3, $4)',
        values,
      );
      if (soort === 1) {
        await client.query('insert into gegevens.zaken_bij (invoer_id, levering, bij, zaak) values ($1, 0, 0, $2)', [
          id,
          nummer,
        ]);
      }
    }
  }
}

const asked = { aanleverperiodeStartdatum: '2026-02-01', aanleverperiodeEinddatum: '2026-02-28' };

it('its trajectories have their running time', async () => {
  const { text } = await supplier.get({ ...asked, aanleverende_organisatie: '0301' });
  expect(text.match(/"omschrijving":"\w+"/g)).toEqual(['"omschrijving":"running"']);
});

it('its signals have their date, and their cases', async () => {
  const { gegevens } = await supplier.get(asked, { variant: 'vs' });
  expect(gegevens.leveringen).toMatchObject([
    { vroegsignalen: [{ ID: 'feb' }], vroegsignaalzaken: [{ vroegsignalen: [{ ID: 'feb' }, { ID: 'jan' }] }] },
  ]);
});

it('its municipality is known, and no part of who delivers', async () => {
  const columns = 'organisatie_sleutel, gemeente_sleutel, model_versie, looptijden';
  expect(await supplier.asOwner(`select ${columns} from gegevens.leveringen order by id`)).toEqual([
    { organisatie_sleutel: 'kvk 11111111', gemeente_sleutel: '0301', model_versie: '1.0', looptijden: true },
    { organisatie_sleutel: 'kvk 11111111', gemeente_sleutel: '0301', model_versie: '1.1', looptijden: true },
  ]);
});
