/** All connections of one area wait for locks; the others still answer. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSupplier, type Supplier } from '../gegevens/support/supplier.ts';
import { type Answer, type Api, createApi } from '../support/api.ts';
import { actie, KEY, newPerson, ofPerson } from '../verwerkingenlog/support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];

let supplier: Supplier;
let log: Api;
let feed: Api;
beforeAll(async () => {
  supplier = await openSupplier({
    env: {
      AREAS: 'shv,vs,verwerkingenlog,raadsfeed',
      VERWERKINGENLOG_KEY: KEY,
      DATABASE_POOL_SIZE: '4',
      'database.connectTimeoutMs': '4000',
      'database.statementTimeoutMs': '60000',
      RAADSFEED_RATE_LIMIT: '0',
    },
  });
  log = createApi(`${supplier.server.url}/verwerkingenlog/v1`, 'verwerkingenlog.yaml');
  feed = createApi(`${supplier.server.url}/ori/v1`, 'raadsfeed.yaml');
});
afterAll(() => supplier?.close());

async function call(method: string, path: string, body?: unknown, subject = 'test'): Promise<Answer> {
  const headers = await supplier.tokens.bearer(ALL, { subject });
  return log.call(method, path, { headers, body });
}

/** Holds a lock that a statement needs while `work` runs. */
async function holding(statement: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client(supplier.databaseUrl);
  await client.connect();
  try {
    await client.query('begin');
    await client.query(statement);
    await work();
  } finally {
    await client.end();
  }
}

/** Number of statements that wait for a lock. */
async function waitingForLocks(): Promise<number> {
  const rows = await supplier.asOwner(
    `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  );
  return Number(rows[0]?.n);
}

const asked = async (): Promise<number> => (await supplier.ask({})).status;
const appended = async (): Promise<number> => (await call('POST', '/verwerkingsacties', actie(newPerson()))).status;
const looked = async (): Promise<number> => (await call('GET', `/verwerkingsacties?${ofPerson(newPerson())}`)).status;
const followed = async (): Promise<number> => (await feed.call('GET', '/feed')).status;

it('locked changes of processings do not affect appends, readings, the exchange and the feed', async () => {
  const verwerkingen = Array.from({ length: 12 }, () => randomUUID());
  for (const verwerkingId of verwerkingen) {
    expect((await call('POST', '/verwerkingsacties', actie(newPerson(), { verwerkingId }))).status).toBe(201);
  }
  const locks = verwerkingen.map(
    (id) => `pg_advisory_xact_lock(hashtextextended('verwerkingenlog verwerking ${id}', 0))`,
  );
  let changes: Promise<Answer[]> = Promise.resolve([]);
  await holding(`select ${locks.join(', ')}`, async () => {
    changes = Promise.all(
      verwerkingen.flatMap((id, n) =>
        [1, 2].map((time) =>
          call('PATCH', `/verwerkingsacties?verwerkingId=${id}`, { bewaartermijn: `P${10 + time}Y` }, `client ${n}`),
        ),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect([await appended(), await looked(), await asked(), await followed()]).toEqual([201, 200, 200, 200]);
    // They wait without a connection.
    expect(await waitingForLocks()).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 10_500));
  });
  const answers = await changes;
  // The first of each processing gave up, and the next had its turn.
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 503]));
  for (const { status, headers } of answers) if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/);
});

it('one client whose changes wait for locks leaves another a connection', async () => {
  const verwerkingen = Array.from({ length: 6 }, () => randomUUID());
  for (const verwerkingId of verwerkingen) {
    expect((await call('POST', '/verwerkingsacties', actie(newPerson(), { verwerkingId }))).status).toBe(201);
  }
  const change = (id: string | undefined, subject: string): Promise<Answer> =>
    call('PATCH', `/verwerkingsacties?verwerkingId=${id}`, { bewaartermijn: 'P11Y' }, subject);
  const [free, ...locked] = verwerkingen;
  const locks = locked.map((id) => `pg_advisory_xact_lock(hashtextextended('verwerkingenlog verwerking ${id}', 0))`);
  let greedy: Promise<Answer[]> = Promise.resolve([]);
  await holding(`select ${locks.join(', ')}`, async () => {
    greedy = Promise.all(locked.map((id) => change(id, 'greedy')));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await change(free, 'modest')).status).toBe(204);
    expect((await change(free, 'greedy')).status).toBe(204);
    expect(await waitingForLocks()).toBe(0);
  });
  expect((await greedy).map(({ status }) => status)).toEqual(locked.map(() => 204));
});

it('a locked exchange does not affect the log and the feed, and answers 502 when too many wait', async () => {
  let exchange: Promise<number[]> = Promise.resolve([]);
  await holding('lock table gegevens.leveringen in access exclusive mode', async () => {
    exchange = Promise.all(Array.from({ length: 12 }, asked));
    await expect.poll(waitingForLocks).toBeGreaterThanOrEqual(3);
    expect([await appended(), await looked(), await followed()]).toEqual([201, 200, 200]);
    await new Promise((resolve) => setTimeout(resolve, 4500));
  });
  const statuses = await exchange;
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status === 502).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200 && status !== 502)).toEqual([]);
});

it('a locked feed does not affect the exchange and the log', async () => {
  let pages: Promise<Answer[]> = Promise.resolve([]);
  await holding('lock table raadsfeed.current_records, raadsfeed.records in access exclusive mode', async () => {
    pages = Promise.all(Array.from({ length: 12 }, (_, n) => feed.call('GET', `/snapshot?limit=${n + 1}`)));
    await expect.poll(waitingForLocks).toBeGreaterThanOrEqual(3);
    expect([await appended(), await looked(), await asked()]).toEqual([201, 200, 200]);
  });
  for (const { status } of await pages) expect([200, 503]).toContain(status);
});

it('answers with personal data are not spooled by a proxy', async () => {
  const exchange = await supplier.ask({});
  expect(exchange.headers.get('x-accel-buffering')).toBe('no');
  for (const path of [`/verwerkingsacties?${ofPerson(newPerson())}`, '/verwerkingsacties', '/nergens']) {
    expect((await call('GET', path)).headers.get('x-accel-buffering'), path).toBe('no');
  }
  // Refused: without a token, with another method, with an invalid body.
  for (const [method, path] of [
    ['GET', '/verwerkingenlog/v1/verwerkingsacties'],
    ['PUT', '/verwerkingenlog/v1/verwerkingsacties'],
    ['POST', '/ldv/v1/traces'],
    ['POST', '/shv/v1/gegevens'],
    ['GET', '/shv/v1/gegevens'],
  ] as const) {
    const answer = await fetch(`${supplier.server.url}${path}`, { method, ...(method === 'GET' ? {} : { body: '{' }) });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.headers.get('x-accel-buffering'), `${method} ${path}`).toBe('no');
    await answer.arrayBuffer();
  }
  expect((await feed.call('GET', '/feed')).headers.get('x-accel-buffering')).toBeNull();
});
