import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { readTestConfig } from '../support/overrides.ts';

let home: TestDatabase;
beforeAll(async () => {
  home = await createDatabase();
});
afterAll(() => home.drop());

it.each([
  ['bronhouder', 43],
  ['aggregator', 49],
])('a service with the role %s opens at most as many connections as docs/operations.md says: %i', async (rol, most) => {
  const env = {
    DATABASE_URL: home.url,
    AREAS: 'verwerkingenlog,raadsfeed',
    RAADSFEED_ROL: rol,
    DATABASE_MIGRATE: 'false',
  };
  const config = readTestConfig({ NODE_ENV: 'test', ...env }, 'tool');
  const opened = await openDatabase({ config, log: createLogger('silent'), purpose: 'service' });
  const { pool, appendPool, logPool, exchangePool, publicPool, retentionPool } = opened;
  const sizes = [pool, appendPool, logPool, exchangePool, publicPool, retentionPool].map(({ options }) => options.max);
  await opened.close();
  const listener = 1;
  expect(sizes.reduce((sum, size) => sum + size, listener)).toBe(most);
  expect(readFileSync('docs/operations.md', 'utf8')).toMatch(
    /at most 43 connections:[^.]*\. An aggregator may open six more\./,
  );
});
