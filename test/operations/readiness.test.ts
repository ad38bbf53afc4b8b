/** Each condition that stops work is listed; only one that leaves nothing to serve takes the instance out of service. */
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/time.ts';
import { stateFile } from '../proof/support.ts';
import { generateHistory } from '../raadsfeed/generate-history.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { KEY } from '../verwerkingenlog/support.ts';

let database: TestDatabase;
let tokens: TestTokens;
let server: TestServer | undefined;
beforeEach(async () => {
  database = await createDatabase();
  tokens = await startTokens();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await tokens.close();
  await database.drop();
});

async function start(areas: string, more: Partial<TestServerOptions> = {}): Promise<TestServer> {
  server = await startServer({
    databaseUrl: database.url,
    ...more,
    env: { AREAS: areas, VERWERKINGENLOG_KEY: KEY, ...tokens.env, ...more.env },
  });
  return server;
}

async function asOwner(...statements: string[]): Promise<void> {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Makes every new session read-only, and ends the open ones. */
const makeReadOnly = (): Promise<void> =>
  asOwner(
    `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

async function ready({ managementUrl }: TestServer): Promise<{ status: number; lines: Record<string, object> }> {
  const response = await fetch(`${managementUrl}/health/ready`);
  const { checks }: { checks: { name: string }[] } = JSON.parse(await response.text());
  return { status: response.status, lines: Object.fromEntries(checks.map(({ name, ...line }) => [name, line])) };
}

describe('readiness', () => {
  it('is lost with a read-only database, when everything served writes to it', async () => {
    const log = await start('verwerkingenlog');
    expect(await ready(log)).toMatchObject({ status: 200, lines: { 'database-writable': { ok: true } } });
    await makeReadOnly();
    await expect
      .poll(() => ready(log))
      .toMatchObject({
        status: 503,
        lines: {
          database: { ok: true },
          'database-writable': { ok: false, detail: 'the database takes no changes: it is read-only' },
        },
      });
  });

  it('is kept with one when the feed is served, with a warning', async () => {
    const both = await start('verwerkingenlog,raadsfeed');
    await makeReadOnly();
    await expect
      .poll(() => ready(both))
      .toMatchObject({
        status: 200,
        lines: { 'database-writable': { ok: true, warning: expect.stringContaining('it is read-only') } },
      });
    expect((await fetch(`${both.url}/ori/v1/snapshot`)).status).toBe(200);
  });

  it.each([
    [4000, undefined],
    [6000, /^[5-7]\.\d s ahead of the clock of the database$/],
    [-6000, /^[5-7]\.\d s behind the clock of the database$/],
  ])('reports a clock that differs by %i ms', async (ms, warning) => {
    const off = await start('raadsfeed', {
      clock: { now: () => new Date(systemClock.now().getTime() + ms) },
    });
    const { status, lines } = await ready(off);
    expect(status).toBe(200);
    expect(lines.clock).toEqual(
      warning === undefined ? { ok: true } : { ok: true, warning: expect.stringMatching(warning) },
    );
  });

  it("is lost while the issuer's keys were never fetched; if the feed is served too, it is a warning", async () => {
    const env = { OAUTH_JWKS_URL: 'http://127.0.0.1:1/jwks' };
    const log = await start('verwerkingenlog', { env });
    expect(await ready(log)).toMatchObject({
      status: 503,
      lines: { 'token-issuer': { ok: false, detail: 'the keys of OAUTH_ISSUER were never fetched' } },
    });
    await log.stop();
    const { status, lines } = await ready(await start('verwerkingenlog,raadsfeed', { env }));
    expect([status, lines['token-issuer']]).toEqual([
      200,
      { ok: true, warning: 'the keys of OAUTH_ISSUER were never fetched' },
    ]);
  });

  it("reports that the issuer's keys are old", async () => {
    let aheadMs = 0;
    const log = await start('verwerkingenlog', {
      clock: { now: () => new Date(systemClock.now().getTime() + aheadMs) },
    });
    expect((await ready(log)).lines['token-issuer']).toEqual({ ok: true });
    await tokens.close();
    aheadMs = 3_600_000;
    await expect
      .poll(async () => (await ready(log)).lines['token-issuer'])
      .toEqual({
        ok: true,
        warning: expect.stringMatching(/^OAUTH_ISSUER is unavailable; its keys are 36\d\d s old$/),
      });
    tokens = await startTokens();
  });

  it('reports that notifications do not arrive', async () => {
    const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';
    const deaf = await start('raadsfeed', { env: { DATABASE_LISTEN_URL: nowhere } });
    const { status, lines } = await ready(deaf);
    expect(status).toBe(200);
    expect(lines.listen).toMatchObject({ ok: true, warning: expect.stringContaining('LISTEN connection is lost') });
    const logged = (): unknown =>
      deaf.logged.find(({ msg }) => msg === 'the connection for LISTEN cannot be made')?.err;
    await expect.poll(logged).toMatchObject({ message: expect.stringMatching(/^DATABASE_LISTEN_URL: .*ECONNREFUSED/) });
  });

  it('reports an unknown database schema', async () => {
    const old = await start('raadsfeed', { env: { DATABASE_MIGRATE: 'false' } });
    await asOwner(`delete from koppelvlak.migrations where name = '0010-diwoo'`);
    expect(await ready(old)).toMatchObject({
      status: 503,
      lines: { migrations: { ok: false, detail: 'to be applied: 0010-diwoo' } },
    });
  });
});

describe('readiness of retried work', () => {
  const proofState = stateFile();
  afterAll(() => proofState.remove());

  it.each([
    { name: 'search index', table: 'pages.position', env: { RAADSFEED_PAGES: 'true' } },
    { name: 'offer to DiWoo', table: 'diwoo.position', env: { RAADSFEED_DIWOO: 'true' } },
    { name: 'proof log raadsfeed', table: 'proof.logs', env: proofState.env },
  ])('reports that $name fails, why and since when, until it succeeds', async ({ name, table, env }) => {
    const client = new pg.Client(database.url);
    await client.connect();
    await generateHistory(client, 1, 50);
    await client.end();
    await asOwner(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the disk is full'; end $$`,
      `create trigger refuse before insert or update on ${table} for each row execute function refuse()`,
    );
    const feed = await start('raadsfeed', { env });
    const line = async (): Promise<unknown> => (await ready(feed)).lines[name];
    const failing = expect.stringMatching(/^has failed since 20\d\d-\S+Z and is tried again: the disk is full/);
    await expect.poll(line).toEqual({ ok: true, warning: failing });
    const first = await line();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    // It has failed again meanwhile, and counts from the first time.
    expect(await line()).toEqual(first);
    // Every attempt fails alike, and is logged once.
    expect(feed.logged.filter(({ msg }) => /cannot follow the feed/.test(String(msg))).length).toBeLessThan(2);
    await asOwner(`drop trigger refuse on ${table}`);
    await expect.poll(line).toEqual({ ok: true });
  });

  it('keeps values of the database out of the reason', async () => {
    await asOwner('alter table pages.position add constraint never check (number < 0) not valid');
    const client = new pg.Client(database.url);
    await client.connect();
    await generateHistory(client, 1, 5);
    await client.end();
    const feed = await start('raadsfeed', { env: { RAADSFEED_PAGES: 'true' } });
    await expect
      .poll(async () => (await ready(feed)).lines['search index'])
      .toEqual({
        ok: true,
        warning: expect.stringMatching(/: \(message hidden: it may repeat a value\) constraint never; 0 of 5 /),
      });
  });
});
