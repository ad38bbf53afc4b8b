/** A line is stored once, whatever is repeated; its key lives as long as the line. */
import process from 'node:process';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createIdentityKeys, reveal } from '../../../src/verwerkingenlog/domain/encryption.ts';
import { readLdvOf } from '../../../src/verwerkingenlog/ldv/stored-line.ts';
import { readHistory } from '../../../src/verwerkingenlog/store/versions.ts';
import { ACTIVITY, CITUS_SETTING } from '../../support/citus.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { startTokens, type TestTokens } from '../../support/tokens.ts';
import { koppelvlak } from '../cli.ts';
import { KEY } from '../support.ts';
import { type LdvServer, line, startLdv } from './support.ts';

const NEW_KEY = `tweede:${Buffer.alloc(32, 9).toString('base64')}`;
let database: TestDatabase;
let client: pg.Client;
let tokens: TestTokens;
const running: LdvServer[] = [];

async function start(env: Record<string, string> = {}, clock?: { now: () => Date }): Promise<LdvServer> {
  const log = await startLdv({ databaseUrl: database.url, env, tokens, ...(clock === undefined ? {} : { clock }) });
  running.push(log);
  return log;
}

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  tokens = await startTokens();
});
afterEach(async () => {
  for (const log of running.splice(0)) await log.stop();
});
afterAll(async () => {
  await client.end();
  await tokens.close();
  await database.drop();
});

async function count(table: 'versies' | 'ldv_keys', traceId?: string): Promise<number> {
  const where = traceId === undefined ? '' : ` where verwerking_id = '${traceId}'::uuid`;
  const { rows } = await client.query(`select count(*)::int as n from verwerkingenlog.${table}${where}`);
  return rows[0].n;
}

it('stores the same batch once that arrives eight times at once, on two instances, and again later', async () => {
  const [one, two] = [await start(), await start()];
  const batch = Array.from({ length: 300 }, () => line());
  const [first] = batch;
  if (first === undefined) throw new Error('no line');
  const before = await count('versies');
  const sent = await Promise.all(
    Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? one : two).send(i % 3 === 0 ? batch.toReversed() : batch)),
  );
  for (const { status, answer } of sent) expect([status, answer?.rejectedSpans]).toEqual([200, 0]);
  expect(await count('versies')).toBe(before + batch.length);
  expect((await one.send([...batch, ...batch])).answer?.rejectedSpans).toBe(0);
  expect(await count('versies')).toBe(before + batch.length);
});

it('stores a batch whose keys another instance takes in another order, as several machines do', async ({ skip }) => {
  if (process.env[CITUS_SETTING] === undefined) return skip('on one machine keys are taken in one order');
  const log = await start();
  const spans = [line(), line()];
  await log.send(spans);
  // As if they had not arrived yet.
  const forget = 'delete from verwerkingenlog.ldv_keys where actie_id in (select actie_id from verwerkingenlog.versies';
  const { rows } = await client.query(`${forget} where verwerking_id = any($1::uuid[])) returning sleutel`, [
    spans.map(({ traceId }) => traceId),
  ]);
  const [low, high] = rows.map(({ sleutel }) => sleutel).sort();
  const take = 'insert into verwerkingenlog.ldv_keys values ($1::uuid, gen_random_uuid(), gen_random_uuid())';
  const before = await count('versies');
  await client.query('begin');
  await client.query(take, [high]);
  const sent = log.send(spans);
  await expect.poll(waiting).toBe(true);
  // Now each waits for the other, and Postgres ends the later one.
  await client.query(take, [low]);
  await client.query('rollback');
  expect([(await sent).status, (await sent).answer?.rejectedSpans]).toEqual([200, 0]);
  expect(await count('versies')).toBe(before + 2);
});

/** True when a connection waits for another transaction. */
async function waiting(): Promise<boolean> {
  const watcher = new pg.Client(database.url);
  await watcher.connect();
  const { rowCount } = await watcher.query(
    `select 1 from ${ACTIVITY} where datname = current_database() and wait_event_type = 'Lock'`,
  );
  await watcher.end();
  return rowCount !== 0;
}

it('refuses a different line with the same ids, in one request or two, and stores the first', async () => {
  const log = await start();
  const [span, twin] = [line(), line()];
  expect((await log.send([span])).answer?.rejectedSpans).toBe(0);
  const other = { ...span, name: 'Iets anders' };
  const { answer } = await log.send([other, twin, { ...twin, status: 'Error' }]);
  expect(answer?.rejectedSpans).toBe(2);
  expect(answer?.errorMessage).toContain(`span ${span.spanId}: onder deze ids staat al een andere regel`);
  expect(await count('versies', span.traceId)).toBe(1);
  expect(await count('versies', twin.traceId)).toBe(1);
});

it("lets nobody occupy or probe another client's ids", async () => {
  const log = await start();
  const span = line();
  await log.send([span], { subject: 'eerste' });
  const { answer } = await log.send([{ ...span, name: 'Van een ander' }], { subject: 'tweede' });
  expect(answer).toEqual({ rejectedSpans: 0, errorMessage: '' });
  expect(await count('versies', span.traceId)).toBe(2);
});

it('ignores attributes that are not stored: with a different one it is the same line', async () => {
  const log = await start();
  const span = line();
  await log.send([span]);
  const keeping = await start({ LDV_KEEP_ATTRIBUTES: 'app.zaak' });
  const more = { ...span, attributes: new Map([...span.attributes, ['app.zaak', 'Z-1'] as const]) };
  expect((await keeping.send([more])).answer?.rejectedSpans).toBe(0);
  expect(await count('versies', span.traceId)).toBe(1);
});

it('keeps the keys of lines, and their stored data, through a rotation', async () => {
  const old = await start();
  const span = line();
  await old.send([span]);
  const both = await start({ VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}` });
  expect((await both.send([span])).answer?.rejectedSpans).toBe(0);
  expect((await both.send([{ ...span, name: 'Anders' }])).answer?.rejectedSpans).toBe(1);
  expect(await count('versies', span.traceId)).toBe(1);
  for (const log of running.splice(0)) if (log !== both) await log.stop();
  running.push(both);
  const rotated = await koppelvlak(database.url, ['log', 'rotate-key'], { VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}` });
  expect(rotated.code, rotated.error).toBe(0);
  const next = await start({ VERWERKINGENLOG_KEY: NEW_KEY });
  expect((await next.send([span])).answer?.rejectedSpans).toBe(0);
  expect((await next.send([{ ...span, name: 'Anders' }])).answer?.rejectedSpans).toBe(1);
  expect(await count('versies', span.traceId)).toBe(1);
  const { rows } = await client.query('select actie_id from verwerkingenlog.versies where verwerking_id = $1', [
    span.traceId,
  ]);
  const keys = createIdentityKeys(NEW_KEY);
  const [stored] = await readHistory(client, rows[0].actie_id);
  if (stored === undefined) throw new Error('no version');
  expect(stored.ldv).not.toContain('Zoeken');
  expect(readLdvOf(await reveal(stored, keys))?.span).toEqual(span);
  const verified = await koppelvlak(database.url, ['log', 'verify'], { VERWERKINGENLOG_KEY: NEW_KEY });
  expect(verified.code, verified.error + verified.out).toBe(0);
  for (const log of running.splice(0)) await log.stop();
  await koppelvlak(database.url, ['log', 'rotate-key'], { VERWERKINGENLOG_KEY: `${KEY},${NEW_KEY}` });
});

it('removes the key with its line, and not sooner', async () => {
  const log = await start();
  const span = line({ start: 1_000_000_000_000_000_000n, end: 1_000_000_000_000_000_000n });
  await log.send([span]);
  const { rows } = await client.query('select actie_id from verwerkingenlog.versies where verwerking_id = $1', [
    span.traceId,
  ]);
  const id: string = rows[0].actie_id;
  expect((await log.call(['delete:normal'], 'DELETE', `/verwerkingsacties/${id}`)).status).toBe(204);
  // Deleted is not forgotten: the same line does not come back.
  expect((await log.send([span])).answer?.rejectedSpans).toBe(0);
  expect(await count('versies', span.traceId)).toBe(2);
  const env = {
    VERWERKINGENLOG_MAX_RETENTION: 'P1Y',
    VERWERKINGENLOG_MIN_RETENTION: 'PT1S',
    'verwerkingenlog.retentionGrace': 'PT1S',
  };
  await expect
    .poll(
      async () => {
        const pruned = await koppelvlak(database.url, ['log', 'prune'], env);
        expect(pruned.code, pruned.error).toBe(0);
        return await count('versies', span.traceId);
      },
      { interval: 200 },
    )
    .toBe(0);
  expect((await client.query('select from verwerkingenlog.ldv_keys where actie_id = $1', [id])).rowCount).toBe(0);
  expect((await log.send([span])).answer?.rejectedSpans).toBe(0);
  expect(await count('versies', span.traceId)).toBe(1);
});
