/** With a publication for all tables, as for an upgrade without downtime, everything that writes still works. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  eventually,
  expectMerged,
  follow,
  SOURCE_ENV,
  sourceState,
  startAggregator,
} from '../raadsfeed/aggregator/support.ts';
import { SOON_PRUNED } from '../raadsfeed/cli.ts';
import { document, type FeedServer, removal, startFeed, vergadering } from '../raadsfeed/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startTokens } from '../support/tokens.ts';
import { koppelvlak } from '../verwerkingenlog/cli.ts';
import { actie, actieIn, KEY, type LogServer, newPerson, startLog } from '../verwerkingenlog/support.ts';

const PUBLISH = 'create publication alles for all tables';
const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
/** Tables with rows, including leaves of partitioned ones, whose changes could not be replicated to a subscriber. */
const WITHOUT_IDENTITY = `
  select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and c.relpersistence <> 't' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and not case c.relreplident
      when 'f' then true
      when 'd' then exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
      when 'i' then exists (select from pg_index i where i.indrelid = c.oid and i.indisreplident)
      else false end
  order by 1`;

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

let database: TestDatabase;
let log: LogServer;
beforeAll(async () => {
  database = await createDatabase();
  log = await startLog({ databaseUrl: database.url, tokens: await startTokens() });
  await run(database.url, PUBLISH);
});
afterAll(async () => {
  await log?.stop();
  await log?.tokens.close();
  await database?.drop();
});

it('every table and partition has a primary key or a replica identity, including those created later', async () => {
  await run(database.url, `select verwerkingenlog.create_months('2041-01-01Z', 3)`);
  expect(await run(database.url, WITHOUT_IDENTITY)).toEqual([]);
});

it('actions are changed and deleted, processings lifted, expired ones pruned, keys rotated', async () => {
  const call = (method: string, path: string, body?: unknown) => log.call(ALL, method, path, body);
  const person = newPerson();
  const body = actie(person);
  const { actieId } = actieIn(await call('POST', '/verwerkingsacties', body));
  expect((await call('PUT', `/verwerkingsacties/${actieId}`, { ...body, actieNaam: 'Anders' })).status).toBe(200);
  const patch = { vertrouwelijkheid: 'vertrouwelijk' };
  const patched = await call('PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, patch);
  expect(patched.status, patched.text).toBe(204);
  expect((await call('DELETE', `/verwerkingsacties/${actieId}`)).status).toBe(204);

  await call('POST', '/verwerkingsacties', actie(person, { tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'P1Y' }));
  expect(await koppelvlak(database.url, ['log', 'prune'])).toMatchObject({ code: 0 });
  const keys = { VERWERKINGENLOG_KEY: `tweede:${Buffer.alloc(32, 8).toString('base64')},${KEY}` };
  const { tokens } = log;
  await log.stop();
  log = await startLog({ databaseUrl: database.url, tokens, env: keys });
  const rotated = await koppelvlak(database.url, ['log', 'rotate-key', '--json'], keys);
  expect(rotated).toMatchObject({ code: 0, json: { key: 'tweede' } });
});

it('the feed publishes, deletes, redacts and prunes, and an aggregator follows it, through a failure too', async () => {
  let [source, aggregator]: (FeedServer | undefined)[] = [];
  try {
    [source, aggregator] = await Promise.all([startFeed(SOURCE_ENV), startAggregator()]);
    for (const { databaseUrl } of [source, aggregator]) await run(databaseUrl, PUBLISH);
    await source.publish([vergadering('v-1'), document('d-1'), document('d-2')]);
    await source.publish([vergadering('v-1', { naam: 'Anders' })]);
    await source.publish([removal('delete', 'Informatieobject', 'd-1'), removal('redact', 'Informatieobject', 'd-2')]);
    await follow(aggregator.pool, source.mount);
    // Nothing listens there: an issue is written, counted again and finally deleted.
    const nobody = 'http://127.0.0.1:9/ori/v1';
    await follow(aggregator.pool, nobody);
    await expectMerged(aggregator, [source]);
    const followed = aggregator;
    await eventually(async () => expect((await sourceState(followed.pool, nobody)).meldingen).toBeGreaterThan(0));
    await run(aggregator.databaseUrl, 'delete from aggregator.issues');
    const prune = ['feed', 'prune', '--before', new Date().toISOString()];
    const pruned = await koppelvlak(source.databaseUrl, prune, SOON_PRUNED);
    expect(pruned.code, pruned.error).toBe(0);
    expect(source.server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  } finally {
    await aggregator?.stop();
    await source?.stop();
  }
});
