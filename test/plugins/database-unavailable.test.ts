import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { databaseHome } from '../support/database-home.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ask } from './support/ask.ts';
import { createProbe, OPEN } from './support/probe-area.ts';

let dir: string;
let postgres: EmbeddedPostgres;
let server: TestServer;

const startPostgres = () => startEmbedded({ dir, log: createLogger('silent'), settings: { fsync: 'off' } });

beforeAll(async () => {
  dir = await databaseHome();
  postgres = await startPostgres();
  server = await startServer({
    env: { 'database.connectTimeoutMs': '3000' },
    databaseUrl: postgres.url,
    register: createProbe().open,
  });
});
afterAll(async () => {
  await server.stop();
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
});

it('answers 503 with Retry-After while the database is unavailable, stays alive, and recovers when it is back', async () => {
  const query = () => ask(`${server.url}${OPEN}/databank`);
  const health = (what: string) => ask(`${server.managementUrl}/health/${what}`);
  expect((await query()).status).toBe(200);
  expect((await health('ready')).status).toBe(200);

  await postgres.stop();
  const away = await query();
  expect(away.status).toBe(503);
  expect(away.headers.get('retry-after')).toBe('5');
  expect(away.text).not.toMatch(/postgres|socket|ECONN|ENOENT/i);
  const ready = await health('ready');
  expect(ready.status).toBe(503);
  expect(ready.body).toMatchObject({ status: 'not ready' });
  expect(ready.body.checks).toContainEqual(expect.objectContaining({ name: 'database', ok: false }));
  expect((await health('live')).status).toBe(200);
  expect((await ask(`${server.url}${OPEN}/dingen/1`)).status).toBe(200);

  postgres = await startPostgres();
  expect((await query()).status).toBe(200);
  expect((await health('ready')).status).toBe(200);
});
