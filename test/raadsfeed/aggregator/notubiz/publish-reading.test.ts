import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Pool } from '../../../../src/database/pool.ts';
import { createNotubizAdapter } from '../../../../src/raadsfeed/aggregator/notubiz/supplier.ts';
import { type Lease, LeaseLostError } from '../../../../src/raadsfeed/aggregator/source.ts';
import { takeLease } from '../../../../src/raadsfeed/aggregator/store/leased-source.ts';
import { readItemsIn } from '../../../../src/raadsfeed/aggregator/store/source-items.ts';
import { findSource, saveSources } from '../../../../src/raadsfeed/aggregator/store/sources.ts';
import {
  type PublishedReading,
  type PublishReadingOptions,
  publishReading,
} from '../../../../src/raadsfeed/aggregator/supplier/publish-window.ts';
import type { SourceAdapter } from '../../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import type { DateWindow, WindowRequest } from '../../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';
import { quarters } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { createLineValidator } from '../../../../src/raadsfeed/writer/line-validator.ts';
import { createDatabase, type TestDatabase } from '../../../support/database.ts';
import { servicePool } from '../../support.ts';
import { agendaItemOf, documentOf, meetingOf } from './supplier/answers.ts';
import { chanceOf, generateOrganisation } from './supplier/generate.ts';
import { NEXT_QUARTER, NOW, QUARTER, SOURCE } from './supplier/memory-feed.ts';
import { publicResources } from './supplier/public-resources.ts';
import { type NotubizServer, startNotubiz } from './supplier/server.ts';

let database: TestDatabase;
let pool: Pool;
let supplier: NotubizServer;
let adapter: SourceAdapter;
const clock = { now: () => NOW };
const validate = createLineValidator();

beforeEach(async () => {
  database = await createDatabase();
  pool = servicePool(database.url);
  supplier = await startNotubiz();
  adapter = createNotubizAdapter({ base: supplier.base, categories: new Map(), clock });
  const { organisatiecode, naam } = SOURCE;
  const source = {
    adres: 'notubiz:281',
    soort: 'leveranciers-api',
    organisatiecodes: [organisatiecode],
    naam,
  } as const;
  await saveSources(pool, [source]);
});

afterEach(async () => {
  await adapter.close();
  await supplier.close();
  await pool.end();
  await database.drop();
});

async function lease(): Promise<Lease> {
  const source = await findSource(pool, 'notubiz:281');
  const taken = source === undefined ? undefined : await takeLease(pool, source.id, 'test', 60);
  if (taken === undefined) throw new Error('no source');
  return taken;
}

async function round(
  held: Lease,
  window: DateWindow,
  more: Partial<PublishReadingOptions> & Partial<WindowRequest> = {},
): Promise<PublishedReading> {
  const { depth = 'full', ...options } = more;
  const known = await readItemsIn(pool, held.source.id, window);
  const { signal } = new AbortController();
  const reading = await adapter.readWindow({ source: SOURCE, window, depth, known, signal });
  const word = { organisatiecode: SOURCE.organisatiecode, deletedBefore: 0, allowMassDelete: true, ...options };
  return await publishReading(held, reading, word, { pool, clock, validate, proof: undefined });
}

async function feedKeys(): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(
    `select resource_type || '/' || bronidentificatie as key from raadsfeed.current_records where organisatiecode = 'gm0363'`,
  );
  return rows.map(({ key }) => key).toSorted();
}

async function head(): Promise<number> {
  const { rows } = await pool.query<{ head: number }>('select head from raadsfeed.feed');
  return rows[0]?.head ?? 0;
}

it('publishes a window and stores its items; the next reading publishes nothing', async () => {
  supplier.organisation.addMeeting(
    meetingOf(20, { documents: [documentOf(1)], agenda_items: [agendaItemOf(201, { documents: [documentOf(2)] })] }),
  );
  const held = await lease();
  expect(await round(held, QUARTER)).toEqual({ published: 4, deleted: 0, withheld: 0, issues: [] });
  expect(await round(held, QUARTER)).toMatchObject({ published: 0, deleted: 0 });
  expect(await round(held, QUARTER, { depth: 'quick' })).toMatchObject({ published: 0, deleted: 0 });
  supplier.organisation.change(20, { agenda_items: [] });
  expect(await round(held, QUARTER)).toMatchObject({ published: 3, deleted: 2 });
  expect(await feedKeys()).toEqual(['Informatieobject/document-1', 'Vergadering/meeting-20']);
});

it('keeps the references of a document in another window', async () => {
  supplier.organisation
    .addMeeting(meetingOf(20, { documents: [documentOf(1)] }))
    .addMeeting(meetingOf(30, { start: '2025-05-05 19:30:00', documents: [documentOf(1)] }));
  const held = await lease();
  await round(held, QUARTER);
  await round(held, NEXT_QUARTER);
  const before = await head();
  await round(held, QUARTER);
  await round(held, NEXT_QUARTER);
  expect(await head()).toBe(before);
  supplier.organisation.remove(20);
  expect(await round(held, QUARTER)).toMatchObject({ published: 2, deleted: 1 });
  expect(await feedKeys()).toEqual(['Informatieobject/document-1', 'Vergadering/meeting-30']);
});

it('deletes a document that is confidential in another window', async () => {
  supplier.organisation
    .addMeeting(meetingOf(20))
    .addMeeting(meetingOf(30, { start: '2025-05-05 19:30:00', documents: [documentOf(1)] }));
  const held = await lease();
  await round(held, NEXT_QUARTER);
  supplier.organisation.change(20, { documents: [documentOf(1, { confidential: 1 })] });
  expect(await round(held, QUARTER)).toMatchObject({ published: 2, deleted: 1 });
  expect(await feedKeys()).toEqual(['Vergadering/meeting-20', 'Vergadering/meeting-30']);
  expect(await round(held, QUARTER)).toMatchObject({ published: 0, deleted: 0 });
});

it('publishes and stores nothing once the lease is lost', async () => {
  supplier.organisation.addMeeting(meetingOf(20));
  const lost = await lease();
  const held = await lease();
  await expect(round(lost, QUARTER)).rejects.toThrow(LeaseLostError);
  expect(await feedKeys()).toEqual([]);
  expect(await readItemsIn(pool, held.source.id, QUARTER)).toEqual([]);
});

it('does not publish what the contract does not allow, and reports it', async () => {
  supplier.organisation.addMeeting(meetingOf(20));
  const held = await lease();
  const { signal } = new AbortController();
  const reading = await adapter.readWindow({ source: SOURCE, window: QUARTER, depth: 'full', known: [], signal });
  const [item] = reading.items;
  const [record] = item?.records ?? [];
  if (item === undefined || record === undefined) throw new Error('nothing was read');
  const bad = { ...item, records: [{ ...record, data: { ...record.data, naam: '' } }] };
  const word = { organisatiecode: SOURCE.organisatiecode, deletedBefore: 0, allowMassDelete: false };
  const needs = { pool, clock, validate, proof: undefined };
  const { published, issues } = await publishReading(held, { ...reading, items: [bad] }, word, needs);
  expect(published).toBe(0);
  expect(issues).toMatchObject([{ what: 'invalid-record', where: 'Vergadering/meeting-20' }]);
});

it('converges to the public items although it is interrupted again and again', async () => {
  const organisation = generateOrganisation({ seed: 21, events: 20 });
  supplier.add(organisation);
  const chance = chanceOf(21);
  const year = quarters({ from: '2025-01-01', to: '2025-12-31' });
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  let cut = 0;
  for (const window of [...year, ...year]) {
    await failAt(owner, (await head()) + 1 + Math.floor(chance() * 60));
    cut += await round(await lease(), window, { depth: 'quick' }).then(
      () => 0,
      (error: unknown) => (error instanceof Error && error.message === 'cut off' ? 1 : Promise.reject(error)),
    );
  }
  await failAt(owner, -1);
  await owner.end();
  expect(cut).toBeGreaterThan(2);
  const expected = new Set(publicResources(organisation));
  for (const key of await feedKeys()) expect(expected).toContain(key);
  const held = await lease();
  for (const window of year) await round(held, window, { depth: 'quick' });
  expect(await feedKeys()).toEqual(publicResources(organisation));
  const before = await head();
  for (const window of year) await round(held, window);
  expect(await head()).toBe(before);
  const { rows } = await pool.query<{ double: number }>(
    `select count(*) as double from raadsfeed.records where op = 'upsert'
      group by resource_type, bronidentificatie having count(*) > 3`,
  );
  expect(rows).toEqual([]);
});

/** Fails the transaction with this number, at whatever point it uses it. */
async function failAt(owner: pg.Client, sequenceNumber: number): Promise<void> {
  await owner.query(
    `create or replace function raadsfeed.breek_af() returns trigger language plpgsql as $$
     begin
       if new.sequence_number = ${sequenceNumber} then raise exception 'cut off'; end if;
       return new;
     end $$;
     create or replace trigger breek_af before insert on raadsfeed.records for each row execute function raadsfeed.breek_af()`,
  );
}
