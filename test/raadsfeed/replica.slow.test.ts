/** Pages read from a replica: never with what is redacted, and from the primary when the replica has stalled or is away. */
import { createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Pool } from '../../src/database/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { withDatabase } from '../support/with-database.ts';
import { asPage, document, PATIENT, publishLines, removal, servicePool, vergadering } from './support.ts';

const SECRET = 'Persoonsgegeven-Van-Jansen';
const PATHS = [
  '/feed',
  '/feed?limit=1',
  '/feed?organisatiecode=gm9901',
  '/snapshot',
  '/organisaties/gm9901/informatieobjecten',
  '/organisaties/gm9901/informatieobjecten/d-1',
];

let primary: TestDatabase;
let replicaUrl: string;
let pool: Pool;
const servers: TestServer[] = [];

/** What a replica is whose replay was paused: a copy from before. */
beforeAll(async () => {
  primary = await createDatabase();
  pool = servicePool(primary.url);
  await publishLines(pool, [document('d-1', { omschrijving: SECRET }), document('d-2'), vergadering('v-1')]);
  await pool.end();
  const name = `${new URL(primary.url).pathname.slice(1)}_replica`;
  const admin = new pg.Client({ connectionString: inject('databaseServer') });
  await admin.connect();
  await admin.query(`create database ${name} template ${new URL(primary.url).pathname.slice(1)}`);
  await admin.end();
  replicaUrl = withDatabase(inject('databaseServer'), name);
  pool = servicePool(primary.url);
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  await pool.end();
  await primary.drop();
  const admin = new pg.Client({ connectionString: inject('databaseServer') });
  await admin.connect();
  await admin.query(`drop database ${new URL(replicaUrl).pathname.slice(1)} with (force)`);
  await admin.end();
});

async function start(readUrl: string): Promise<TestServer> {
  const env = { AREAS: 'raadsfeed', RAADSFEED_RATE_LIMIT: '0', DATABASE_READ_URL: readUrl };
  const server = await startServer({ databaseUrl: primary.url, env: { ...env, 'database.connectTimeoutMs': '1000' } });
  servers.push(server);
  return server;
}

const text = async (server: TestServer, path: string): Promise<string> =>
  (await fetch(`${server.url}/ori/v1${path}`)).text();
/** Of a page at the head: a full page of history may keep its head for its `max-age`. */
const headOf = async (server: TestServer): Promise<number> => asPage(JSON.parse(await text(server, '/feed'))).head;

describe('a replica that receives nothing', () => {
  it('is read as long as it has what was heard', async () => {
    const server = await start(replicaUrl);
    for (const path of PATHS) expect(await text(server, path)).toContain('d-1');
    // On the copy alone: so it is the copy that is read.
    const copy = servicePool(replicaUrl, 1);
    await copy.query(`update raadsfeed.organisatie set naam = 'Van de kopie'`);
    await copy.end();
    expect(await text(server, '/')).toContain('Van de kopie');
  });

  it('is not read for more than a moment once the head has moved on, and never for a cursor that is ahead of it', async () => {
    const [server] = servers;
    if (server === undefined) throw new Error('no server');
    await publishLines(pool, [vergadering('v-2')]);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await headOf(server)).toBe(4);
    const { cursor } = asPage(JSON.parse(await text(server, '/feed')));
    await publishLines(pool, [vergadering('v-3')]);
    const after = await fetch(`${server.url}/ori/v1/feed?cursor=${cursor}`);
    expect(after.status).toBe(200);
    await expect
      .poll(async () => asPage(JSON.parse(await text(server, `/feed?cursor=${cursor}`))).head, PATIENT)
      .toBe(5);
  });

  it('serves no redacted text a second later, and the readiness says that it has stalled', async () => {
    const server = await start(replicaUrl);
    await publishLines(pool, [removal('redact', 'Informatieobject', 'd-1')]);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (let round = 0; round < 3; round += 1)
      for (const path of PATHS) expect(await text(server, path)).not.toContain(SECRET);
    await expect
      .poll(async () => {
        await text(server, '/feed');
        return (await fetch(`${server.managementUrl}/health/ready`)).text();
      }, PATIENT)
      .toMatch(/replica is (\d+ s behind|away) and the primary is read/);
  });
});

describe('a replica that is unavailable', () => {
  it('is replaced by the primary when nothing listens', async () => {
    const server = await start('postgres://nobody@127.0.0.1:1/nothing');
    for (const path of PATHS.slice(0, 5)) expect((await fetch(`${server.url}/ori/v1${path}`)).status).toBe(200);
  });

  it('is replaced by the primary when it accepts and says nothing', async () => {
    const sockets: Socket[] = [];
    const silent: Server = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const server = await start(`postgres://nobody@127.0.0.1:${port}/nothing`);
    const startedAt = performance.now();
    const paths = Array.from({ length: 30 }, (_, n) => `/feed?limit=${n + 1}`);
    for (const path of paths) expect((await fetch(`${server.url}/ori/v1${path}`)).status).toBe(200);
    // Waited for once, and not a second for each.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
