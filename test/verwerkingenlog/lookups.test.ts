/** What a person is looked for by: only hashes with a key, as soon as nothing is kept without one. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openIdentityKeys } from '../../src/verwerkingenlog/store/keys.ts';
import { openPool } from '../database/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, HEADERS, KEY, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'read:confidential'];

let database: TestDatabase;
let client: pg.Client;
const running: LogServer[] = [];

beforeEach(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
});
afterEach(async () => {
  for (const log of running.splice(0)) await log.stop();
  await client?.end();
  await database?.drop();
});

async function start(key: string): Promise<LogServer> {
  const log = await startLog({ databaseUrl: database.url, env: { VERWERKINGENLOG_KEY: key } });
  running.push(log);
  return log;
}

async function found(log: LogServer, person: string): Promise<number> {
  const { results } = listIn(await log.call(ALL, 'GET', `/verwerkingsacties?${ofPerson(person)}`, undefined, HEADERS));
  return results.filter(({ actieNaam }) => actieNaam === 'Zoeken persoon').length;
}

describe('a lookup', () => {
  const names = async (key: string) => {
    const pool = openPool(database.url, { role: 'koppelvlak_dienst' });
    try {
      return (await openIdentityKeys(pool, key, 'write')).names;
    } finally {
      await pool.end();
    }
  };

  it('sends no guessable hash without a key as long as nothing was stored without one', async () => {
    expect(await names(KEY)).toEqual(['eerste']);
    const log = await start(KEY);
    const person = newPerson();
    expect((await log.call(ALL, 'POST', '/verwerkingsacties', actie(person))).status).toBe(201);
    expect(await names(KEY)).toEqual(['eerste']);
    expect(await found(log, person)).toBe(1);
    await expect(client.query('select verwerkingenlog.allow_without_key()')).rejects.toMatchObject({
      code: 'KV001',
    });
  });

  it('has the database refuse a version without a key, whoever adds it', async () => {
    const log = await start(KEY);
    const { actieId } = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson())));
    const copy = `insert into verwerkingenlog.versies select (json_populate_record(v, '{"versie": 2, "key_name": null}')).*
      from verwerkingenlog.versies v where actie_id = '${actieId}'`;
    await expect(client.query(copy)).rejects.toMatchObject({ code: 'KV001' });
  });

  it('finds what an instance without a key stores, until all is encrypted; from then on none can store anything', async () => {
    const plain = await start('');
    const log = await start(KEY);
    const person = newPerson();
    expect((await plain.call(ALL, 'POST', '/verwerkingsacties', actie(person))).status).toBe(201);
    expect(await found(log, person)).toBe(1);
    expect(await names(KEY)).toEqual(['eerste', null]);
    expect(await koppelvlak(database.url, ['log', 'rotate-key'])).toMatchObject({ code: 0 });
    expect(await names(KEY)).toEqual(['eerste']);
    expect((await plain.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson()))).status).toBe(503);
    expect(await found(log, person)).toBe(1);
  });
});
