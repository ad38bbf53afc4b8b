import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, newPerson, startLog } from './support.ts';

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

it('exits with 2 for a malformed identity, and with 1 for an unknown one', async () => {
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
  const keyless = { VERWERKINGENLOG_KEY: '', NODE_ENV: 'production' };
  expect(await koppelvlak(database.url, ['log', 'rotate-key'], keyless)).toMatchObject({
    code: 1,
    error: expect.stringContaining('VERWERKINGENLOG_KEY is missing'),
  });
});

it("reports each action whose current version's persons are not in the index, and each index row without a version", async () => {
  const log = await startLog({ databaseUrl: database.url });
  const ids: string[] = [];
  for (let i = 0; i < 4; i += 1) {
    const made = await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()));
    ids.push(actieIn(made).actieId);
  }
  await log.stop();
  const [unfound, moved, doubled] = ids;
  const owner = new pg.Client(database.url);
  await owner.connect();
  const stray = '00000000-0000-7000-8000-000000000000';
  await owner.query(
    `delete from verwerkingenlog.locations where actie_id = '${unfound}';
     update verwerkingenlog.locations set category = 2 where actie_id = '${moved}';
     insert into verwerkingenlog.locations (person_hash, tijdstip, actie_id, versie, category, positions)
     select gen_random_uuid(), now(), id, 1, 0, '{0}' from unnest('{${doubled},${stray}}'::uuid[]) as id`,
  );
  await owner.end();
  const { code, json } = await koppelvlak(database.url, ['log', 'verify', '--json']);
  const [missing, left] = [
    'a person is not found, or not as in the version',
    'a location is not that of a current version',
  ];
  const faults = [
    { actieId: unfound, fault: missing },
    { actieId: moved, fault: missing },
    { actieId: moved, fault: left },
    { actieId: doubled, fault: left },
    { actieId: stray, fault: left },
  ];
  expect({ code, json }).toEqual({ code: 1, json: { versions: 4, faults: expect.arrayContaining(faults) } });
  expect(Object(json).faults).toHaveLength(faults.length);
});
