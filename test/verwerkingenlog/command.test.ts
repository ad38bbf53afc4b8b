import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from './cli.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

it.each(['history', 'export', 'prune', 'verify', 'rotate-key', 'forward-issues'])(
  '`log %s --help` shows an example',
  async (word) => {
    const { code, out } = await koppelvlak(database.url, ['log', word, '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/Example:\n {2}\$ .*koppelvlak log/);
  },
);

it('ends with 2 for a malformed identity, and with 1 for one that the log does not have', async () => {
  expect(await koppelvlak(database.url, ['log', 'history', 'x'])).toMatchObject({ code: 2, out: '' });
  const unknown = await koppelvlak(database.url, ['log', 'history', '0198c0de-7c1e-7aa0-9b1c-3d5e7f900000']);
  expect(unknown).toMatchObject({ code: 1, out: '' });
  expect(unknown.error).toContain('the log has no action');
});

it('finds an empty log in order, with nothing to remove and nothing to rewrite', async () => {
  expect(await koppelvlak(database.url, ['log', 'verify', '--json'])).toMatchObject({
    code: 0,
    json: { versions: 0, faults: [] },
  });
  expect(await koppelvlak(database.url, ['log', 'prune', '--json'])).toMatchObject({ code: 0, json: { removed: 0 } });
  expect(await koppelvlak(database.url, ['log', 'rotate-key'])).toMatchObject({
    code: 0,
    out: '0 versions rewritten with key eerste.\n',
  });
  const keyless = await koppelvlak(database.url, ['log', 'rotate-key'], { VERWERKINGENLOG_KEY: '' });
  expect(keyless).toMatchObject({ code: 1 });
  expect(keyless.error).toContain('VERWERKINGENLOG_KEY is not set');
});
