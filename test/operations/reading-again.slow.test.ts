/** Rebuilding after an upgrade does not block the listener: readiness shows the progress, and only the affected pages wait for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StateFile, stateFile } from '../proof/support.ts';
import { generateHistory } from '../raadsfeed/generate-history.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { startProgram } from '../support/program.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { progressOf, readLines } from './support/progress.ts';

const RECORDS = 6000;
/** Leaves of a proof log, which are read faster. */
const LARGE = 20_000;
const PROOF_LINE = 'proof log raadsfeed';
/** The lock that migrations are made under. */
const MIGRATING = 7241865325823964n;

let database: TestDatabase;
let client: pg.Client;
let state: StateFile;
const servers: TestServer[] = [];
beforeEach(() => {
  state = stateFile();
});
async function open(options: { empty?: boolean } = {}): Promise<void> {
  database = await createDatabase(options);
  client = new pg.Client(database.url);
  await client.connect();
}
afterEach(async () => {
  await client.end();
  for (const server of servers.splice(0)) await server.stop();
  await database.drop();
  state.remove();
});

async function start(env: Record<string, string>): Promise<TestServer> {
  const server = await startServer({ databaseUrl: database.url, env: { AREAS: 'raadsfeed', ...env } });
  servers.push(server);
  return server;
}

async function get(url: string): Promise<{ status: number; text: string; retryAfter: string | null }> {
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get('retry-after') };
}

/** Runs while an index's position is locked. */
async function held<T>(schema: string, work: () => Promise<T>): Promise<T> {
  await client.query(`begin; select from ${schema}.position for update`);
  try {
    return await work();
  } finally {
    await client.query('commit');
  }
}

/** Reads a progress line of readiness until everything is read: the numbers that it showed. */
async function untilRead(server: TestServer, name: string, records = RECORDS): Promise<number[]> {
  const seen: number[] = [];
  for (;;) {
    const { status, lines } = await readLines(server.managementUrl);
    expect(status).toBe(200);
    const progress = progressOf(lines[name]);
    if (progress === undefined) return seen;
    expect(progress.of).toBe(records);
    if (progress.read !== seen.at(-1)) seen.push(progress.read);
    await sleep(10);
  }
}

function expectGrowing(seen: readonly number[], records = RECORDS): void {
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(seen.filter((read) => read > 0 && read < records)).not.toEqual([]);
}

describe.each([
  {
    name: 'search index',
    schema: 'pages',
    env: { RAADSFEED_PAGES: 'true' },
    page: '/raad/zoeken?q=document',
    whenRead: 200,
  },
  {
    name: 'offer to DiWoo',
    schema: 'diwoo',
    env: { RAADSFEED_DIWOO: 'true' },
    page: '/woo/sitemapindex-diwoo-infocat008.xml',
    whenRead: 404,
  },
])('the $name', ({ name, schema, env, page, whenRead }) => {
  it('is rebuilt while the feed answers and readiness stays, shows its progress, and continues where another process stopped', async () => {
    await open();
    await generateHistory(client, 1, RECORDS);
    const first = await held(schema, async () => {
      const server = await start(env);
      const { status, lines } = await readLines(server.managementUrl);
      expect(status).toBe(200);
      expect(lines[name]).toEqual({ ok: true, warning: `0 of ${RECORDS} records read (0 %)` });
      const refused = await get(server.url + page);
      expect(refused).toMatchObject({ status: 503, retryAfter: '60' });
      expect(refused.text).toContain('0 % is klaar');
      expect(await get(`${server.url}/ori/v1/feed?limit=10`)).toMatchObject({ status: 200 });
      return server;
    });
    const readOf = async (server: TestServer) => progressOf((await readLines(server.managementUrl)).lines[name])?.read;
    await expect.poll(() => readOf(first)).toBeGreaterThan(0);
    await first.stop();
    const second = await held(schema, async () => {
      const { rows } = await client.query<{ at: string }>(`select scan_after as at from ${schema}.position`);
      const server = await start(env);
      expect(await readOf(server)).toBe(Number(rows[0]?.at));
      return server;
    });
    const [seen, answered] = await Promise.all([untilRead(second, name), get(`${second.url}/ori/v1/feed?limit=10`)]);
    expectGrowing(seen);
    expect(answered.status).toBe(200);
    expect(await get(second.url + page)).toMatchObject({ status: whenRead });
  });
});

it('answers searches from the old contents while they are being replaced', async () => {
  await open();
  await generateHistory(client, 1, 1200);
  const server = await start({ RAADSFEED_PAGES: 'true' });
  await expect.poll(async () => (await get(`${server.url}/raad/zoeken`)).status).toBe(200);
  await server.stop();
  await client.query('update pages.position set scan_after = 500, scan_to = 1200');
  await held('pages', async () => {
    const again = await start({ RAADSFEED_PAGES: 'true' });
    const { lines } = await readLines(again.managementUrl);
    expect(lines['search index']).toEqual({ ok: true, warning: '500 of 1200 records read (41 %)' });
    expect(await get(`${again.url}/raad/zoeken?q=document`)).toMatchObject({ status: 200 });
  });
});

it('enters records published before its proof log while everything answers, and signs meanwhile', async () => {
  await open();
  await generateHistory(client, 1, LARGE);
  const server = await start(state.env);
  await expect.poll(async () => progressOf((await readLines(server.managementUrl)).lines[PROOF_LINE])?.of).toBe(LARGE);
  expectGrowing(await untilRead(server, PROOF_LINE, LARGE), LARGE);
  await expect.poll(async () => (await get(`${server.url}/proof/v1/raadsfeed/record/1`)).status).toBe(200);
});

it('reports that a proof log has not started while the database has none of it', async () => {
  await open();
  await client.query('begin; lock table proof.logs in exclusive mode');
  const port = await freePort();
  const starting = start({ ...state.env, MANAGEMENT_PORT: String(port) });
  const line = async () =>
    (await readLines(`http://127.0.0.1:${port}`).catch(() => undefined))?.lines[PROOF_LINE]?.warning;
  await expect.poll(line).toBe('not started yet');
  await client.query('commit');
  await starting;
  expect(await line()).toBeUndefined();
});

it('exits at once when stopped while entering a large feed, and continues right after a restart, whatever its checkpoint interval', async () => {
  await open();
  await generateHistory(client, 1, LARGE);
  const env = { ...state.env, 'proof.intervalSeconds': '3600' };
  const first = await start(env);
  const readOf = async (server: TestServer) =>
    progressOf((await readLines(server.managementUrl)).lines[PROOF_LINE])?.read;
  await expect.poll(() => readOf(first)).toBeGreaterThan(0);
  await first.stop();
  const { rows } = await client.query<{ size: string }>(`select size from proof.logs where log = 'raadsfeed'`);
  expect(Number(rows[0]?.size)).toBeLessThan(LARGE);
  const second = await start(env);
  expectGrowing(await untilRead(second, PROOF_LINE, LARGE), LARGE);
});

it('listens for operators while the database is being migrated', async () => {
  await open({ empty: true });
  await client.query('select pg_advisory_lock($1)', [String(MIGRATING)]);
  const port = await freePort();
  const starting = start({ MANAGEMENT_PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(async () => (await get(`${url}/health/live`).catch(() => undefined))?.status).toBe(200);
  expect(await readLines(url)).toEqual({
    status: 503,
    lines: {
      start: { ok: false, detail: 'the database is being opened and migrated; the interfaces listen after that' },
    },
  });
  expect((await get(url)).text).toContain('Not ready');
  await client.query('select pg_advisory_unlock($1)', [String(MIGRATING)]);
  await starting;
  expect(await readLines(url)).toMatchObject({ status: 200, lines: { migrations: { ok: true } } });
});

it('exits with 0 on SIGTERM while the database is being migrated', async () => {
  await open({ empty: true });
  await client.query('select pg_advisory_lock($1)', [String(MIGRATING)]);
  const port = await freePort();
  const program = startProgram(['serve'], {
    AREAS: 'raadsfeed',
    DATABASE_URL: database.url,
    PORT: '0',
    MANAGEMENT_PORT: String(port),
  });
  const live = `http://127.0.0.1:${port}/health/live`;
  await expect.poll(async () => (await get(live).catch(() => undefined))?.status).toBe(200);
  program.child.kill('SIGTERM');
  const { status, stdout } = await program.ended;
  expect(status).toBe(0);
  expect(stdout).toContain('stopped before it had started');
});
