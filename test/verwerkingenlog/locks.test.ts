/** Locks of other transactions: a locked table, an idempotency key. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIdentityKeys } from '../../src/verwerkingenlog/domain/encryption.ts';
import type { Answer } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type LdvServer, line, type Sent, startLdv } from './ldv/support.ts';
import { actie, actieIn, KEY, newPerson, ofPerson } from './support.ts';

const STATEMENT_MS = 2500;
/** Two statement timeouts, and a busy machine's delay: less than three. */
const LONGEST_MS = 2.9 * STATEMENT_MS;

let database: TestDatabase;
let log: LdvServer;
/** With the statement timeout of every installation. */
let patient: LdvServer;
/** The second connection, whose locks are released after each test. */
let holder: pg.Client;
const keys = createIdentityKeys(KEY);

beforeAll(async () => {
  database = await createDatabase();
  log = await startLdv({
    databaseUrl: database.url,
    env: { 'database.statementTimeoutMs': String(STATEMENT_MS) },
  });
  patient = await startLdv({ databaseUrl: database.url, tokens: log.tokens });
  holder = new pg.Client(database.url);
  await holder.connect();
  await post();
  await log.send([line()]);
});
afterEach(() => holder.query('rollback'));
afterAll(async () => {
  await holder?.end();
  await patient?.stop();
  await log?.stop();
  await database?.drop();
});

interface Timed<T> {
  readonly answer: T;
  readonly ms: number;
}

async function timed<T>(work: Promise<T>): Promise<Timed<T>> {
  const began = performance.now();
  const answer = await work;
  return { answer, ms: performance.now() - began };
}

async function post(key?: string, body: object = actie(newPerson()), server = log): Promise<Answer> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return await server.call(['create:normal'], 'POST', '/verwerkingsacties', body, headers);
}

async function count(): Promise<number> {
  return (await holder.query('select count(*)::integer as n from verwerkingenlog.versies')).rows[0].n;
}

async function hold(sql: string, values: unknown[] = []): Promise<void> {
  await holder.query('begin');
  await holder.query(sql, values);
}

const hashOf = (key: string): string => keys.hashIdempotency(keys.current, `sleutel\ntest\n${key}`);

/** Another transaction stores a caller's idempotency key, and does not end. */
async function holdKey(key: string): Promise<void> {
  await hold(
    `insert into verwerkingenlog.idempotency_keys (key_hash, actie_id, used_at) values ($1, gen_random_uuid(), now())`,
    [hashOf(key)],
  );
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function expectUnavailable({ answer, ms }: Timed<Answer | Sent>): void {
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(ms).toBeLessThan(LONGEST_MS);
}

describe('a locked table', () => {
  it.each(['versies', 'idempotency_keys'])(
    'fails each group once, within two statement timeouts, and stores nothing of it: %s',
    async (table) => {
      const before = await count();
      await hold(`lock table verwerkingenlog.${table} in access exclusive mode`);
      const first = Array.from({ length: 32 }, (_, i) => timed(post(i % 2 === 0 ? undefined : `${table}-${i}`)));
      await sleep(STATEMENT_MS / 2);
      const later = timed(post());
      for (const one of await Promise.all([...first, later])) {
        expectUnavailable(one);
        expect(one.answer.text).not.toContain('toch');
      }
      await holder.query('rollback');
      expect((await timed(post())).answer.status).toBe(201);
      expect(await count()).toBe(before + 1);
    },
  );

  it('fails LDV lines once, within two statement timeouts, and stores nothing of them', async () => {
    const before = await count();
    await hold('lock table verwerkingenlog.versies in access exclusive mode');
    const sent = Array.from({ length: 8 }, () => timed(log.send([line(), line()])));
    for (const one of await Promise.all(sent)) expectUnavailable(one);
    await holder.query('rollback');
    expect(await log.send([line()])).toMatchObject({ status: 200, answer: { rejectedSpans: 0 } });
    expect(await count()).toBe(before + 1);
  });

  it('makes a change 503, without any effect', async () => {
    const { actieId } = actieIn(await post());
    await hold('lock table verwerkingenlog.locations in access exclusive mode');
    const path = `/verwerkingsacties/${actieId}`;
    expectUnavailable(await timed(log.call(['delete:normal'], 'DELETE', path)));
    await holder.query('rollback');
    expect((await log.call(['delete:normal'], 'DELETE', path)).status).toBe(204);
  });

  it('makes a read 503', async () => {
    await hold('lock table verwerkingenlog.locations in access exclusive mode');
    const path = `/verwerkingsacties?${ofPerson(newPerson())}`;
    expectUnavailable(await timed(log.call(['read:confidential'], 'GET', path)));
  });
});

describe('an idempotency key that another transaction holds', () => {
  it('makes its request 503 eventually, and stores nothing of it', async () => {
    const before = await count();
    await holdKey('never');
    expectUnavailable(await timed(post('never')));
    await holder.query('rollback');
    expect(await count()).toBe(before);
    expect((await post('never')).status).toBe(201);
  });

  it('fails nobody when it expires while it is reused, and the database ends one of the two', async () => {
    const [first = '', last = ''] = ['one', 'other'].toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
    await holder.query(
      `insert into verwerkingenlog.idempotency_keys (key_hash, actie_id, used_at)
       select k, gen_random_uuid(), now() - interval '25 hours' from unnest($1::uuid[]) as k`,
      [[first, last, 'before'].map(hashOf)],
    );
    const forget = 'delete from verwerkingenlog.idempotency_keys where key_hash = $1';
    const waiting = async () => {
      await holder.query('select pg_stat_clear_snapshot()');
      const { rows } = await holder.query(
        `select count(*)::integer as n from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%with input as%'`,
      );
      return rows[0].n;
    };
    await hold(forget, [hashOf(last)]);
    await holder.query('savepoint before');
    await holder.query(forget, [hashOf('before')]);
    const alone = post('before', actie(newPerson()), patient);
    await expect.poll(waiting, { interval: 20 }).toBe(1);
    // They wait for the end of the first, and then form one group.
    const group = [first, last, undefined].map((key) => post(key, actie(newPerson()), patient));
    await sleep(300);
    await holder.query('rollback to savepoint before');
    expect((await alone).status).toBe(201);
    await expect.poll(waiting, { interval: 20 }).toBe(1);
    // On a busy machine this one may be the one that the database ends.
    await holder.query(forget, [hashOf(first)]).catch(({ code }) => expect(code).toBe('40P01'));
    await holder.query('rollback');
    expect((await Promise.all(group)).map(({ status }) => status)).toEqual([201, 201, 201]);
  });
});

it('a connection lost before its answer causes a 503 that says that the action may be stored', async () => {
  await hold('lock table verwerkingenlog.versies in access exclusive mode');
  const posted = post(undefined, actie(newPerson()), patient);
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%with input as%'`;
  const ended = async () => {
    await holder.query('select pg_stat_clear_snapshot()');
    return (await holder.query(end)).rowCount;
  };
  await expect.poll(ended, { interval: 20 }).toBe(1);
  expect(await posted).toMatchObject({ status: 503, json: { detail: expect.stringContaining('toch is uitgevoerd') } });
});

describe('a late answer', () => {
  let late: LdvServer;
  beforeAll(async () => {
    late = await startLdv({
      databaseUrl: database.url,
      tokens: log.tokens,
      env: { 'database.statementTimeoutMs': '20000', 'server.requestTimeoutMs': '500' },
    });
    await post(undefined, actie(newPerson()), late);
  });
  afterAll(() => late?.stop());

  it('says that the action may be stored, and that an Idempotency-Key makes a repeat safe', async () => {
    const before = await count();
    const body = actie(newPerson());
    await hold('lock table verwerkingenlog.versies in access exclusive mode');
    const answer = await post('late', body, late);
    expect(answer).toMatchObject({
      status: 503,
      json: { detail: expect.stringMatching(/kan zijn dat het verzoek toch is uitgevoerd.*`Idempotency-Key`/) },
    });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    await holder.query('rollback');
    expect((await post('late', body, late)).status).toBe(201);
    expect(await count()).toBe(before + 1);
  });

  it('says so about LDV lines too', async () => {
    await hold('lock table verwerkingenlog.versies in access exclusive mode');
    const { status, error } = await late.send([line()]);
    expect([status, error?.message]).toEqual([503, expect.stringContaining('kunnen toch zijn vastgelegd')]);
  });

  it('does not say so after a read', async () => {
    await hold('lock table verwerkingenlog.locations in access exclusive mode');
    const path = `/verwerkingsacties?${ofPerson(newPerson())}`;
    const answer = await late.call(['read:confidential'], 'GET', path);
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain('toch');
  });
});
