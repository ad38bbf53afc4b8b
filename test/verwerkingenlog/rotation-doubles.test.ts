/** One entry per request while the keys of the log are rotated: whichever instance gets it, and whatever the order of its keys. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { koppelvlak } from './cli.ts';
import { type LdvServer, line, startLdv } from './ldv/support.ts';
import { actie, actieIn, KEY, newPerson } from './support.ts';

const OLD = KEY;
const NEW = `tweede:${Buffer.alloc(32, 9).toString('base64')}`;
const DOUBLES = 150;

let database: TestDatabase;
let client: pg.Client;
let tokens: TestTokens;
const running: LdvServer[] = [];

beforeEach(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  tokens = await startTokens();
});
afterEach(async () => {
  for (const log of running.splice(0)) await log.stop();
  await tokens.close();
  await client.end();
  await database.drop();
});

async function start(...keys: string[]): Promise<LdvServer> {
  const log = await startLdv({ databaseUrl: database.url, tokens, env: { VERWERKINGENLOG_KEY: keys.join(',') } });
  running.push(log);
  return log;
}

async function rotate(...keys: string[]) {
  return await koppelvlak(database.url, ['log', 'rotate-key', '--json'], { VERWERKINGENLOG_KEY: keys.join(',') });
}

function post(log: LdvServer, key: string, body: object) {
  return log.call(['create:normal'], 'POST', '/verwerkingsacties', body, { 'idempotency-key': key });
}

async function count(what: string): Promise<number> {
  return (await client.query(`select count(*)::int as n from verwerkingenlog.${what}`)).rows[0].n;
}

describe.each([
  ['the old key first and the new key first', [OLD, NEW], [NEW, OLD]],
  ['the new key first and the old key first', [NEW, OLD], [OLD, NEW]],
  ['only the old key, and the new key first', [OLD], [NEW, OLD]],
])('two instances with %s', (_title, ones, others) => {
  it('store one entry for an idempotency key that both get at once', async () => {
    const logs = [await start(...ones), await start(...others)];
    const bodies = Array.from({ length: DOUBLES }, () => actie(newPerson()));
    const pairs = await Promise.all(
      bodies.map((body, i) => Promise.all(logs.map((log) => post(log, `double-${i}`, body)))),
    );
    expect(await count('versies')).toBe(DOUBLES);
    for (const pair of pairs) {
      const stored = pair.filter(({ status }) => status === 201);
      // Without the key that others write with, an instance cannot tell whether a request is a duplicate.
      for (const { status } of pair) expect(ones.length === 1 ? [201, 503] : [201]).toContain(status);
      expect(new Set(stored.map((answer) => actieIn(answer).actieId)).size).toBe(1);
    }
  });

  it('store an LDV line once that both get at once', async () => {
    const logs = [await start(...ones), await start(...others)];
    const spans = Array.from({ length: DOUBLES }, () => line());
    const answers = await Promise.all(spans.flatMap((span) => logs.map((log) => log.send([span]))));
    expect(await count('versies')).toBe(DOUBLES);
    for (const { status, answer } of answers) {
      expect(ones.length === 1 ? [200, 503] : [200]).toContain(status);
      if (status === 200) expect(answer?.rejectedSpans).toBe(0);
    }
  });
});

it('stores one entry per request while the key is rotated, and recognises it afterwards', async () => {
  const logs = [await start(OLD, NEW), await start(NEW, OLD)];
  const bodies: object[] = [];
  const spans: ReturnType<typeof line>[] = [];
  const doubles = async () => {
    const [body, span] = [actie(newPerson()), line()];
    const key = `during-${bodies.push(body) - 1}`;
    spans.push(span);
    for (const sent of await Promise.all(logs.map((log) => post(log, key, body)))) expect(sent.status).toBe(201);
    for (const sent of await Promise.all(logs.map((log) => log.send([span])))) expect(sent.status).toBe(200);
  };
  for (let i = 0; i < 20; i += 1) await doubles();
  let done = false;
  const rotation = rotate(NEW, OLD).finally(() => {
    done = true;
  });
  while (!done) await doubles();
  expect((await rotation).json).toMatchObject({ inUse: ['eerste'] });
  for (let i = 0; i < 20; i += 1) await doubles();
  expect(await count('versies')).toBe(2 * bodies.length);

  // The new key first everywhere, as `rotate-key` requires.
  await running.shift()?.stop();
  const log = await start(NEW, OLD);
  const rotated = await rotate(NEW, OLD);
  expect(rotated, rotated.error).toMatchObject({ code: 0, json: { unreadable: [], inUse: [] } });
  for (const [i, body] of bodies.entries()) expect((await post(log, `during-${i}`, body)).status).toBe(201);
  expect((await log.send(spans)).answer?.rejectedSpans).toBe(0);
  expect(await count('versies')).toBe(2 * bodies.length);
  expect(await count('ldv_keys where hashed_with is not null')).toBe(0);
});

it('waits for an append with the old key: the same request at another instance finds its entry', async () => {
  const logs = [await start(OLD, NEW), await start(NEW, OLD)];
  // Every append stops before its commit, until the lock is released.
  await client.query(`create function hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
    create trigger hold before insert on verwerkingenlog.versies for each statement execute function hold()`);
  await client.query('select pg_advisory_lock(4711)');
  const waiting = async (): Promise<number> => {
    const query = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return (await client.query<{ n: number }>(query)).rows[0]?.n ?? 0;
  };
  const body = actie(newPerson());
  const sent = [post(logs[0] ?? expect.fail(), 'held', body)];
  await expect.poll(waiting).toBe(1);
  let done = false;
  const rotation = rotate(NEW, OLD).finally(() => {
    done = true;
  });
  await expect.poll(async () => done || (await waiting()) === 2).toBe(true);
  sent.push(post(logs[1] ?? expect.fail(), 'held', body));
  await expect.poll(waiting).toBe(done ? 2 : 3);
  expect(done).toBe(false);
  await client.query('select pg_advisory_unlock(4711)');
  const answers = await Promise.all(sent);
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(new Set(answers.map((answer) => actieIn(answer).actieId)).size).toBe(1);
  expect((await rotation).json).toMatchObject({ inUse: ['eerste'] });
  expect(await count('versies')).toBe(1);
});

it('hashes LDV lines with the key of their rotation, including those stored with it before', async () => {
  await start(OLD);
  const log = await start(NEW, OLD);
  const span = line();
  await log.send([span]);
  await running.shift()?.stop();
  expect(await count(`ldv_keys where hashed_with = 'eerste'`)).toBe(1);
  expect(await rotate(NEW, OLD)).toMatchObject({ code: 0, json: { forgotten: ['eerste'], keptUntil: [] } });
  const alone = await start(NEW);
  expect((await alone.send([span])).answer?.rejectedSpans).toBe(0);
  expect(await count('versies')).toBe(1);
});

it('keeps the key of an unreadable LDV line', async () => {
  await start(OLD);
  const log = await start(NEW, OLD);
  await log.send([line()]);
  await running.shift()?.stop();
  await client.query(`update verwerkingenlog.versies set ldv = 'AAAA' || ldv`);
  expect(await rotate(NEW, OLD)).toMatchObject({ code: 1, json: { unreadable: [{ versie: 1 }], forgotten: [] } });
  await expect(start(NEW)).rejects.toThrow('VERWERKINGENLOG_KEY has no key named eerste');
});

describe('an old key that hashed idempotency keys', () => {
  it('stays for a day: the command says until when, and without it nothing starts', async () => {
    const old = await start(OLD);
    const body = actie(newPerson());
    const first = actieIn(await post(old, 'kept', body));
    await running.shift()?.stop();
    const before = Date.now();
    const rotated = await rotate(NEW, OLD);
    expect(rotated).toMatchObject({ code: 0, json: { forgotten: [], keptUntil: [{ key: 'eerste' }] } });
    const until = Date.parse(Object(rotated.json).keptUntil[0].until);
    expect(until - before).toBeGreaterThan(24 * 3_600_000);
    expect(until - Date.now()).toBeLessThan(24 * 3_600_000 + 60_000);
    const again = await koppelvlak(database.url, ['log', 'rotate-key'], { VERWERKINGENLOG_KEY: `${NEW},${OLD}` });
    expect(again.out).toContain(`Keep eerste until ${new Date(until).toISOString()}`);

    await expect(start(NEW)).rejects.toThrow(
      `VERWERKINGENLOG_KEY has no key named eerste, which idempotency keys of the last 24 hours are hashed with`,
    );
    const wrong = `eerste:${Buffer.alloc(32, 1).toString('base64')}`;
    await client.query(`delete from verwerkingenlog.keys where name = 'eerste'`);
    await expect(start(NEW, wrong)).rejects.toThrow('VERWERKINGENLOG_KEY has another key under the name eerste');
    const both = await start(NEW, OLD);
    expect(actieIn(await post(both, 'kept', body)).actieId).toBe(first.actieId);

    const day = `- interval '24 hours'`;
    await client.query(`update verwerkingenlog.idempotency_keys set used_at = used_at ${day}`);
    await client.query(
      `update verwerkingenlog.idempotency_hashing set needed_until = needed_until ${day} - interval '1 minute'`,
    );
    const alone = await start(NEW);
    const fresh = actieIn(await post(alone, 'kept', body));
    expect(fresh.actieId).not.toBe(first.actieId);
  });

  it('is required by readiness, and no idempotency key is accepted without it', async () => {
    await start(OLD);
    const log = await start(NEW);
    await post(log, 'known', actie(newPerson()));
    // As if another process had rotated the key.
    await client.query(
      `insert into verwerkingenlog.idempotency_hashing values ('derde', 'x', now() + interval '1 hour')`,
    );
    expect((await post(log, 'unknown', actie(newPerson()))).status).toBe(503);
    const ready = async () => await (await fetch(`${log.server.managementUrl}/health/ready`)).text();
    await expect.poll(ready).toContain('derde');
    expect((await fetch(`${log.server.managementUrl}/health/ready`)).status).toBe(503);
  });
});
