/** Every query of the service uses an index: a missing one fails here, on tables large enough to notice. */

import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Db } from '../../src/database/transaction.ts';
import type { StoredVersie } from '../../src/verwerkingenlog/domain/encryption.ts';
import { GEEN_AANROEP } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import type { VersionStore } from '../../src/verwerkingenlog/store/append.ts';
import { openVersionStore } from '../../src/verwerkingenlog/store/append.ts';
import { lastObjectNumber, patchActies, readActies, removeLocations } from '../../src/verwerkingenlog/store/changes.ts';
import { countLocations, findLocations, readVersionsAt } from '../../src/verwerkingenlog/store/find.ts';
import { readIdempotency } from '../../src/verwerkingenlog/store/idempotency.ts';
import { readCurrent, readCurrentParts, readHistory, readVersie } from '../../src/verwerkingenlog/store/versions.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let client: pg.Client;
let store: VersionStore;

const ACTIE = '019b77d8-0000-7000-8000-000000010000';
const ID = '48086bf2-11b7-4603-9526-67d7c3bb6587';
const NOW = new Date('2026-03-01T00:00:00Z');
const QUESTION = { hashes: [ID, ACTIE], categorieen: ['normaal' as const], per: 'actie' as const };
const OBJECTS = { ...QUESTION, per: 'object' as const };
const VERSIE = {
  actieId: ACTIE,
  tijdstip: '2026-01-01T00:00:00Z',
  objecten: [{ nr: 1, soort: 'BSN', id: 'x', sleutel: ID }],
};

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  store = await openVersionStore(client, undefined);
  await client.query(`
    select verwerkingenlog.create_months('2026-01-01Z', 12);
    insert into verwerkingenlog.keys values ('eerste', 'x', true);
    insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, verwerking_id, vertrouwelijkheid,
      ooit_vertrouwelijk, tijdstip, key_name, objecten)
    select overlay(verwerkingenlog.first_id(m)::text placing lpad(to_hex(i), 6, '0') from 27)::uuid, 1, m, 't', 't', false, gen_random_uuid(),
      'normaal', false, m, 'eerste', '[]'
    from generate_series(1, 20000) i, lateral (select '2026-01-01Z'::timestamptz + i * interval '26 minutes') as t(m);
    insert into verwerkingenlog.locations
    select gen_random_uuid(), tijdstip, actie_id, 1, 0, null, '{0}' from verwerkingenlog.versies;
    insert into verwerkingenlog.idempotency_keys select gen_random_uuid(), actie_id, tijdstip from verwerkingenlog.versies;
    analyze verwerkingenlog.versies; analyze verwerkingenlog.locations; analyze verwerkingenlog.idempotency_keys;`);
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

function scansIn(plan: Plan): Plan[] {
  return [...(plan['Relation Name'] === undefined ? [] : [plan]), ...(plan.Plans ?? []).flatMap(scansIn)];
}

/** The plan of a store function's statement, without running it; with the actual values, and for unknown ones. */
async function plansOf(ask: (db: Db) => Promise<unknown>): Promise<Plan[][]> {
  let asked: { text: string; values: unknown[] } | undefined;
  const db: Db = {
    query(query, values) {
      asked =
        typeof query === 'string'
          ? { text: query, values: values ?? [] }
          : { text: query.text, values: query.values ?? [] };
      return Promise.resolve({ rows: [], rowCount: 0, command: '', oid: 0, fields: [] });
    },
  };
  await ask(db);
  if (asked === undefined) throw new Error('no statement was executed');
  const custom = await client.query(`explain (format json) ${asked.text}`, asked.values);
  const generic = await client.query(`explain (format json, generic_plan) ${asked.text}`);
  return [custom, generic].map(({ rows }) => scansIn(rows[0]['QUERY PLAN'][0].Plan));
}

const PERSON = [/^locations_\d\d_person_hash_tijdstip_actie_id_idx$/];
const VERSION = [/^versies_\d{6}_pkey$/];
const PROCESSING = [...VERSION, /^versies_\d{6}_verwerking_id_actie_id_idx$/];

it.each<[string, (db: Db) => Promise<unknown>, RegExp[]]>([
  ['the first page of a person', (db) => findLocations(db, QUESTION, undefined, 101), PERSON],
  [
    'a later page',
    (db) => findLocations(db, QUESTION, { direction: 'after', key: ['2026-01-02T00:00:00Z', ACTIE] }, 101),
    PERSON,
  ],
  [
    'an earlier page',
    (db) => findLocations(db, QUESTION, { direction: 'before', key: ['2026-01-02T00:00:00Z', ACTIE] }, 101),
    PERSON,
  ],
  ['the first page of objects', (db) => findLocations(db, OBJECTS, undefined, 101), PERSON],
  [
    'an earlier page of objects',
    (db) => findLocations(db, OBJECTS, { direction: 'before', key: ['2026-01-02T00:00:00Z', ACTIE, '1'] }, 101),
    PERSON,
  ],
  ['the count of objects', (db) => countLocations(db, OBJECTS), PERSON],
  ['the count of a person', (db) => countLocations(db, QUESTION), PERSON],
  ['the versions of a page', (db) => readVersionsAt(db, [{ actieId: ACTIE, versie: 1, positions: '{0}' }]), VERSION],
  ['the current version', (db) => readCurrent(db, ACTIE), VERSION],
  ['a part of the current version', (db) => readCurrentParts(db, [ACTIE], { hashes: [ID] }), VERSION],
  ['the conditions for a change', (db) => readCurrentParts(db, [ACTIE], { most: 0 }), VERSION],
  ['one version', (db) => readVersie(db, ACTIE, 1), VERSION],
  ['the history', (db) => readHistory(db, ACTIE), VERSION],
  ['the highest number of an object', (db) => lastObjectNumber(db, ACTIE), VERSION],
  ['an idempotency key', (db) => readIdempotency(db, ID), [/^idempotency_keys_pkey$/]],
  ['the actions of a processing', (db) => readActies(db, ID, { withLdv: false }), PROCESSING],
])('%s is read by its index', async (_title, ask, indexes) => {
  for (const scans of await plansOf(ask)) {
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) {
      expect(scan['Node Type'], JSON.stringify(scan)).toMatch(/^(Bitmap Heap Scan|Index (Only )?Scan)$/);
      if (scan['Index Name'] !== undefined) {
        expect(
          indexes.some((name) => name.test(scan['Index Name'] ?? '')),
          scan['Index Name'],
        ).toBe(true);
      }
    }
  }
});

it('reads a person from one partition, and a version from its month', async () => {
  const [places] = await plansOf((db) => findLocations(db, { ...QUESTION, hashes: [ID] }, undefined, 101));
  expect(places).toHaveLength(1);
  const [versions] = await plansOf((db) => readVersionsAt(db, [{ actieId: ACTIE, versie: 1, positions: '{0}' }]));
  expect(versions).toHaveLength(1);
});

it('looks up each version of a page by its key, even with nearly empty months in between', async () => {
  const places = [ACTIE, '019c77d8-0000-7000-8000-000000010000'].map((actieId) => ({
    actieId,
    versie: 1,
    positions: '{0}',
  }));
  for (const scans of await plansOf((db) => readVersionsAt(db, places))) {
    for (const scan of scans) expect(scan['Index Cond']).toMatch(/actie_id = (k\.actie_id|ANY )/);
  }
});

it('changes a processing, and removes persons, by index too', async () => {
  // As `preferIndexes` sets it for a change's transaction.
  await client.query('set enable_seqscan = off');
  const patch = await plansOf((db) =>
    patchActies(
      db,
      [{ actieId: ACTIE, categorie: 'normaal', objects: 1 }],
      { bewaartermijn: 'P1Y' },
      NOW,
      { door: 't', verzoekId: 't' },
      store,
    ),
  );
  const remove = await plansOf((db) => removeLocations(db, [stored()]));
  for (const scan of [...patch, ...remove].flat()) {
    // These tables have a row for each key of the log.
    if (scan['Node Type'] === 'ModifyTable' || /^(keys|idempotency_hashing)$/.test(scan['Relation Name'] ?? ''))
      continue;
    expect(scan['Node Type'], JSON.stringify(scan)).toMatch(/^(Bitmap Heap Scan|Index (Only )?Scan)$/);
  }
});

function stored(): StoredVersie {
  const nothing = {
    actieNaam: null,
    handelingNaam: null,
    verwerkingNaam: null,
    verwerkingId: null,
    verwerkingsactiviteitId: null,
    verwerkingsactiviteitUrl: null,
    bewaartermijn: null,
    uitvoerder: null,
    systeem: null,
    gebruiker: null,
    gegevensbron: null,
    soortAfnemerId: null,
    afnemerId: null,
    verwerkingsactiviteitIdAfnemer: null,
    verwerkingsactiviteitUrlAfnemer: null,
    verwerkingIdAfnemer: null,
    keyName: 'eerste',
    seed: null,
    bewijsNr: null,
    ldv: null,
    tijdstipOffset: null,
  } as const;
  return {
    ...nothing,
    ...GEEN_AANROEP,
    ...VERSIE,
    versie: 1,
    door: 't',
    verzoekId: 't',
    vervallen: false,
    ooitVertrouwelijk: false,
    vertrouwelijkheid: 'normaal',
    tijdstipRegistratie: VERSIE.tijdstip,
  };
}

/** Index scans of the versions in the running transaction. */
async function lookups(): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `select sum(idx_scan)::integer as n from pg_stat_xact_all_tables where schemaname = 'verwerkingenlog' and relname like 'versies\\_%'`,
  );
  return rows[0]?.n ?? 0;
}

it('looks up each action of a processing a few times for a change, however many there are', async () => {
  const actions = 4000;
  await client.query('begin');
  try {
    await client.query(
      `update verwerkingenlog.versies set verwerking_id = $1
       where actie_id in (select actie_id from verwerkingenlog.versies limit $2)`,
      [ID, actions],
    );
    const before = await lookups();
    const acties = await readActies(client, ID, { withLdv: false });
    await patchActies(client, acties, { bewaartermijn: 'P1Y' }, NOW, { door: 't', verzoekId: 't' }, store);
    expect((await lookups()) - before).toBeLessThan(8 * actions);
    const { rows } = await client.query('select count(*)::integer as n from verwerkingenlog.versies where versie = 2');
    expect(rows).toEqual([{ n: actions }]);
  } finally {
    await client.query('rollback');
  }
});

it('looks up the current version of an action a few times, however many it has', async () => {
  await client.query('begin');
  try {
    await client.query(
      `insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, vertrouwelijkheid,
         ooit_vertrouwelijk, tijdstip, key_name, objecten)
       select $1, i, now(), 't', 't', false, 'normaal', false, now(), 'eerste', '[]' from generate_series(2, 2000) i`,
      [ACTIE],
    );
    const before = await lookups();
    const parts = await readCurrentParts(client, [ACTIE], { most: 1 });
    expect((await lookups()) - before).toBeLessThan(20);
    expect(parts).toMatchObject([{ stored: { versie: 2000 } }]);
  } finally {
    await client.query('rollback');
  }
});
