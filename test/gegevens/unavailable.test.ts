import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { databaseHome } from '../support/database-home.ts';
import { messageFile, shvMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

const dir = await databaseHome();
const startPostgres = () => startEmbedded({ dir, log: createLogger('silent'), settings: { fsync: 'off' } });
let postgres: EmbeddedPostgres;
let supplier: Supplier;

beforeAll(async () => {
  postgres = await startPostgres();
  supplier = await openSupplier({ databaseUrl: postgres.url, env: { 'database.connectTimeoutMs': '3000' } });
  await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam: 'Noord', records: 3 }] })));
});
afterAll(async () => {
  await supplier.close();
  await postgres.stop();
  rmSync(dir, { recursive: true });
});

it('is an unreachable service while the database is unavailable, and recovers with it', async () => {
  await supplier.get({});
  await postgres.stop();
  const answer = await supplier.ask({});
  expect(answer.status).toBe(502);
  expect(answer.headers.get('fsc-error-code')).toBe('ERROR_CODE_SERVICE_UNREACHABLE');
  expect(JSON.parse(answer.text)).toMatchObject({
    code: 'ERROR_CODE_SERVICE_UNREACHABLE',
    domain: 'ERROR_DOMAIN_INWAY',
    status: 502,
  });
  expect(answer.text).not.toMatch(/postgres|socket|ECONN|ENOENT/i);
  postgres = await startPostgres();
  await supplier.get({});
});
