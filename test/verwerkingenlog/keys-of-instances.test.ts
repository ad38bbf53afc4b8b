/** Instances with different keys: nothing is stored with a forgotten key, and nobody gets a partial answer. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, HEADERS, KEY, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
const SECOND = `tweede:${Buffer.alloc(32, 9).toString('base64')}`;
const BOTH = { VERWERKINGENLOG_KEY: `${SECOND},${KEY}` };

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

function post(log: LogServer, body: unknown, headers: Record<string, string> = {}) {
  return log.call(ALL, 'POST', '/verwerkingsacties', body, headers);
}

function list(log: LogServer, person: string) {
  return log.call(ALL, 'GET', `/verwerkingsacties?${ofPerson(person)}`, undefined, HEADERS);
}

/** Number of returned actions other than entries about reading the log. */
function found(answer: Awaited<ReturnType<typeof list>>): number {
  return listIn(answer).results.filter(({ actieNaam }) => actieNaam === 'Zoeken persoon').length;
}

async function ready(log: LogServer): Promise<string> {
  return await (await fetch(`${log.server.managementUrl}/health/ready`)).text();
}

async function known(): Promise<unknown> {
  const { rows } = await client.query('select name, used from verwerkingenlog.keys order by name');
  return rows;
}

/** As if the instances had not been seen for over a minute: their heartbeats do not arrive. */
async function unseen(): Promise<void> {
  await client.query(`
    create function zwijg() returns trigger language plpgsql as 'begin return null; end';
    create trigger zwijg before insert on verwerkingenlog.instances for each row execute function zwijg();
    delete from verwerkingenlog.instances`);
}

describe('a key', () => {
  it('is not forgotten while an instance without another one runs', async () => {
    const old = await start(KEY);
    const person = newPerson();
    await post(old, actie(person));
    const kept = await koppelvlak(database.url, ['log', 'rotate-key', '--json'], BOTH);
    expect(kept).toMatchObject({ code: 1, json: { rewritten: 1, forgotten: [], inUse: ['eerste'] } });
    expect(kept.error).toContain('still needed: eerste');
    const fresh = await start(`${SECOND},${KEY}`);
    expect(found(await list(fresh, person))).toBe(1);
    await running.shift()?.stop();
    const rotated = await koppelvlak(database.url, ['log', 'rotate-key', '--json'], BOTH);
    expect(rotated).toMatchObject({ code: 0, json: { forgotten: ['eerste'], inUse: [] } });
  });

  it('that was forgotten is never used again: the instance answers 503, and readiness names the key', async () => {
    const old = await start(KEY);
    const person = newPerson();
    const { actieId } = actieIn(await post(old, actie(person)));
    await unseen();
    const rotated = await koppelvlak(database.url, ['log', 'rotate-key', '--json'], BOTH);
    expect(rotated).toMatchObject({ code: 0, json: { forgotten: ['eerste'] } });
    for (const headers of [{}, { 'idempotency-key': 'een' }]) {
      const refused = await post(old, actie(newPerson()), headers);
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).not.toBeNull();
    }
    expect((await list(old, person)).status).toBe(503);
    expect((await old.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, actie(person))).status).toBe(503);
    expect((await old.call(ALL, 'DELETE', `/verwerkingsacties/${actieId}`)).status).toBe(503);
    const { rows } = await client.query(`select from verwerkingenlog.versies where key_name = 'eerste'`);
    expect(rows).toEqual([]);
    await expect.poll(() => ready(old)).toContain('eerste');
    expect((await fetch(`${old.server.managementUrl}/health/ready`)).status).toBe(503);
  });

  it('of versions being stored is not forgotten before they are committed', async () => {
    const old = await start(KEY);
    const { actieId } = actieIn(await post(old, actie(newPerson())));
    await unseen();
    await client.query('begin');
    await client.query(
      `insert into verwerkingenlog.versies select (json_populate_record(v, '{"versie": 2}')).*
       from verwerkingenlog.versies v where actie_id = $1`,
      [actieId],
    );
    const rotation = koppelvlak(database.url, ['log', 'rotate-key', '--json'], BOTH);
    const waits = async () => {
      // Inside a transaction the view keeps its first result.
      await client.query('select pg_stat_clear_snapshot()');
      const { rows } = await client.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].n;
    };
    await expect.poll(waits).toBe(1);
    await client.query('commit');
    expect(await rotation).toMatchObject({ code: 0, json: { rewritten: 2, forgotten: ['eerste'] } });
    const { rows } = await client.query('select distinct key_name from verwerkingenlog.versies');
    expect(rows).toEqual([{ key_name: 'tweede' }]);
  });

  it('counts as used only once something was written with it', async () => {
    await start(KEY);
    expect(await known()).toEqual([{ name: 'eerste', used: false }]);
    const log = await start(SECOND);
    await post(log, actie(newPerson()));
    expect(await known()).toEqual([
      { name: 'eerste', used: false },
      { name: 'tweede', used: true },
    ]);
  });
});

describe('an instance without a key that another one writes with', () => {
  it('answers 503 instead of a partial answer: lists, objects, one action, and requests with an idempotency key', async () => {
    const old = await start(KEY);
    const [person, other] = [newPerson(), newPerson()];
    await post(old, actie(person));
    const fresh = await start(`${SECOND},${KEY}`);
    expect(found(await list(old, person))).toBe(1);
    const { actieId } = actieIn(await post(fresh, actie(other), { 'idempotency-key': 'twee' }));
    for (const one of [person, other]) expect((await list(old, one)).status).toBe(503);
    for (const path of [
      `/verwerkte-objecten?${ofPerson(other)}`,
      `/verwerkingsacties/${actieId}`,
      `/verwerkingsacties/${actieId}?${ofPerson(other)}`,
    ]) {
      expect((await old.call(ALL, 'GET', path, undefined, HEADERS)).status, path).toBe(503);
    }
    expect((await post(old, actie(other), { 'idempotency-key': 'twee' })).status).toBe(503);
    await expect.poll(() => ready(old)).toContain('tweede');
    expect(found(await list(fresh, person))).toBe(1);
  });
});
