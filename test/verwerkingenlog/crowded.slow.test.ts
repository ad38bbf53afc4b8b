/** Many concurrent changes to one action: they wait for each other outside the database, without delaying other requests. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACTIVITY } from '../support/citus.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { actie, actieIn, HEADERS, type LogServer, newPerson, ofPerson, startLog } from './support.ts';

const ALL = [
  'create:confidential',
  'update:confidential',
  'delete:confidential',
  'read:confidential',
  'register:write',
];
const WAITING = 30;

let database: TestDatabase;
let log: LogServer;
/** Another instance, which holds a lock for as long as the test wants. */
let holder: pg.Client;
/** Observes the connections; the holder is in a transaction, which sees that only once. */
let watcher: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  holder = new pg.Client(database.url);
  await holder.connect();
  watcher = new pg.Client(database.url);
  await watcher.connect();
  log = await startLog({
    databaseUrl: database.url,
    env: { DATABASE_POOL_SIZE: '4', 'verwerkingenlog.changesWaiting': String(WAITING) },
  });
});
afterAll(async () => {
  await log?.stop();
  await holder?.end();
  await watcher?.end();
  await database?.drop();
});
beforeEach(() => holder.query('begin'));
afterEach(() => holder.query('rollback'));

function hold(lock: string) {
  return holder.query(`select pg_advisory_xact_lock(hashtextextended('verwerkingenlog ' || $1::text, 0))`, [lock]);
}

async function posted(verwerkingId: string) {
  const body = actie(newPerson(), { verwerkingId });
  return { body, ...actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body)) };
}

/** Connections of the service that wait for a lock, or are idle in a transaction. */
async function heldConnections(): Promise<number> {
  const { rows } = await watcher.query(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> all($1::integer[])
       and (wait_event_type = 'Lock' or state like 'idle in transaction%' and state_change < clock_timestamp() - interval '2 s')`,
    [[holder.processID, watcher.processID]],
  );
  return rows[0].n;
}

async function othersGoOn(): Promise<void> {
  for (let i = 0; i < 10; i += 1) {
    const person = newPerson();
    expect((await log.call(ALL, 'POST', '/verwerkingsacties', actie(person))).status).toBe(201);
    const list = await log.call(ALL, 'GET', `/verwerkingsacties?${ofPerson(person)}`, undefined, HEADERS);
    expect(list.status).toBe(200);
    expect(await heldConnections()).toBe(0);
  }
}

const KINDS = {
  PATCH: (_actieId: string, verwerkingId: string) =>
    log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${verwerkingId}`, { bewaartermijn: 'P7Y' }),
  PUT: (actieId: string, verwerkingId: string) =>
    log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, actie(newPerson(), { verwerkingId })),
  DELETE: (actieId: string) => log.call(ALL, 'DELETE', `/verwerkingsacties/${actieId}`),
} as const;

describe.each(['PATCH', 'PUT', 'DELETE'] as const)('many concurrent %s requests for one processing', (method) => {
  it('hold no connection while they wait, neither for each other nor for another instance', async () => {
    const verwerkingId = randomUUID();
    const actions = await Promise.all(Array.from({ length: 25 }, () => posted(verwerkingId)));
    await hold(`verwerking ${verwerkingId}`);
    const changes = actions.map(({ actieId }) => KINDS[method](actieId, verwerkingId));
    await othersGoOn();
    await holder.query('rollback');
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([method === 'PUT' ? 200 : 204]));
  });
});

it('are refused with 503 and `Retry-After` when too many wait; the change of a disconnected client waits no longer', async () => {
  const verwerkingId = randomUUID();
  const { actieId } = await posted(verwerkingId);
  await hold(`verwerking ${verwerkingId}`);
  const token = await log.tokens.bearer(ALL);
  const leaving = new AbortController();
  const brokenOff = (): number => log.server.logged.filter(({ msg }) => msg === 'broken off').length;
  const before = brokenOff();
  // One has this process's lock, the others wait, and one is too many.
  const gone = Array.from({ length: WAITING + 2 }, () =>
    fetch(`${log.server.url}/verwerkingenlog/v1/verwerkingsacties?verwerkingId=${verwerkingId}`, {
      method: 'PATCH',
      headers: { ...token, 'content-type': 'application/json' },
      body: '{"bewaartermijn":"P7Y"}',
      signal: leaving.signal,
    }).catch(() => undefined),
  );
  expect((await Promise.race(gone))?.status).toBe(503);
  const refused = await KINDS.PUT(actieId, verwerkingId);
  expect(refused.json).toMatchObject({ status: 503, code: 'processing-busy' });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  leaving.abort();
  await expect.poll(() => brokenOff() - before).toBe(WAITING + 1);
  const after = [KINDS.PATCH(actieId, verwerkingId), KINDS.PUT(actieId, verwerkingId)];
  await new Promise((resolve) => setTimeout(resolve, 100));
  await holder.query('rollback');
  expect((await Promise.all(after)).map(({ status }) => status)).toEqual([204, 200]);
  const { rows } = await holder.query(
    'select count(*)::int as n from verwerkingenlog.versies where verwerking_id = $1 and versie > 1',
    [verwerkingId],
  );
  expect(rows).toEqual([{ n: 2 }]);
});

it('give up after ten seconds when another instance holds the lock', async () => {
  const verwerkingId = randomUUID();
  const { actieId } = await posted(verwerkingId);
  await hold(`actie ${actieId}`);
  expect((await KINDS.DELETE(actieId)).json).toMatchObject({ status: 503, code: 'processing-busy' });
});

it('leave other clients their connections when one makes many slow changes', async () => {
  const actions = await Promise.all(Array.from({ length: 12 }, () => posted(randomUUID())));
  const [others, ...slow] = actions;
  // Another instance is about to add the same version, so one of these changes waits for it, with a connection.
  await holder.query(
    `insert into verwerkingenlog.versies select (json_populate_record(v, '{"versie": 2}')).*
     from verwerkingenlog.versies v where actie_id = any($1)`,
    [slow.map(({ actieId }) => actieId)],
  );
  const token = async (subject: string) => log.tokens.bearer(ALL, { subject });
  const put = async (subject: string, { actieId, body }: (typeof actions)[number]) =>
    log.api.call('PUT', `/verwerkingsacties/${actieId}`, { headers: await token(subject), body });
  const changes = slow.map((one) => put('druk', one));
  await expect.poll(waitingConnections).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (let i = 0; i < 3; i += 1) {
    if (others === undefined) throw new Error('nothing was posted');
    expect((await put('ander', others)).status).toBe(200);
  }
  await holder.query('rollback');
  expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(Array(11).fill(200));
});

/** Connections that wait for another transaction. */
async function waitingConnections(): Promise<number> {
  const { rows } = await watcher.query(
    `select count(*)::int as n from ${ACTIVITY} where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0].n;
}

it('ends the read of a disconnected client: it no longer uses a connection, and leaves no entry', async () => {
  await holder.query('lock table verwerkingenlog.locations in access exclusive mode');
  const person = newPerson();
  const headers = await log.tokens.bearer(ALL);
  const leaving = new AbortController();
  const gone = Array.from({ length: 3 }, () =>
    fetch(`${log.server.url}/verwerkingenlog/v1/verwerkingsacties?${ofPerson(person)}`, {
      headers,
      signal: leaving.signal,
    }).catch(() => undefined),
  );
  await expect.poll(waitingConnections).toBeGreaterThan(0);
  leaving.abort();
  await Promise.all(gone);
  // Well before the statement timeout, which would end them as well.
  await expect.poll(waitingConnections, { timeout: 10_000 }).toBe(0);
  await holder.query('rollback');
  const list = await log.call(ALL, 'GET', `/verwerkingsacties?${ofPerson(person)}`, undefined, HEADERS);
  expect(list).toMatchObject({ status: 200, json: { count: 0 } });
});

it('applies to an activity of the register too', async () => {
  const id = randomUUID();
  await hold(`verwerkingsactiviteit ${id}`);
  const activity = {
    naam: 'A',
    verantwoordelijkeOrganisatie: '00000099000000001000',
    doel: 'B',
    grondslag: 'Publieke taak',
  };
  const puts = Array.from({ length: 20 }, () => log.call(ALL, 'PUT', `/verwerkingsactiviteiten/${id}`, activity));
  await othersGoOn();
  await holder.query('rollback');
  expect((await Promise.all(puts)).map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
});

it('leaves other requests their connections during many different changes', async () => {
  const ids = Array.from({ length: 20 }, () => randomUUID());
  await Promise.all(ids.map(posted));
  await holder.query('lock table verwerkingenlog.versies in share mode');
  const changes = ids.map((id) => KINDS.PATCH('', id));
  for (let i = 0; i < 5; i += 1) {
    const register = await log.call(ALL, 'GET', '/verwerkingsactiviteiten?limit=1');
    expect(register.status).toBe(200);
  }
  await holder.query('rollback');
  expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(Array(20).fill(204));
});
