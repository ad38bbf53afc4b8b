import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createListener, type Listener, type ListenerOptions } from '../../src/database/listen.ts';
import type { Pool } from '../../src/database/pool.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { keepingLog, openPool, quiet, until } from './support.ts';

let database: TestDatabase;
let pool: Pool;
let listener: Listener;

beforeAll(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
});
afterEach(() => listener.close());
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** Without an interval unless requested, so that every call comes from a notification. */
function listen(options: Partial<ListenerOptions> = {}): void {
  listener = createListener({ url: database.url, log: quiet, pollIntervalMs: 3_600_000, ...options });
}

function subscribe(channel: string): { heard: (string | undefined)[]; unsubscribe: () => void } {
  const heard: (string | undefined)[] = [];
  return { heard, unsubscribe: listener.subscribe(channel, (payload) => heard.push(payload)) };
}

const notify = (channel: string, payload: string) =>
  pool.query('select pg_notify($1::text, $2::text)', [channel, payload]);
const terminate = () =>
  pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'koppelvlak listen' and datname = current_database()`,
  );

it('calls once when listening has begun, and then on every notification of the channel', async () => {
  listen();
  const { heard } = subscribe('feed');
  await until(() => heard.length === 1);
  await notify('other', 'x');
  await notify('feed', '1');
  await notify('feed', '2');
  await until(() => heard.length === 3);
  expect(heard).toEqual([undefined, '1', '2']);
});

it('reconnects after a lost connection, and tells every subscriber that it may have missed something', async () => {
  listen();
  const one = subscribe('one');
  const two = subscribe('two');
  await until(() => one.heard.length === 1 && two.heard.length === 1);
  await terminate();
  await until(() => one.heard.length === 2 && two.heard.length === 2);
  await notify('one', 'after');
  await until(() => one.heard.length === 3);
  expect(one.heard).toEqual([undefined, undefined, 'after']);
});

it('continues for the others when one unsubscribes or fails', async () => {
  listen();
  const first = subscribe('feed');
  listener.subscribe('feed', () => {
    throw new Error('subscriber');
  });
  const second = subscribe('feed');
  await until(() => first.heard.length === 1);
  first.unsubscribe();
  first.unsubscribe();
  await notify('feed', '1');
  await until(() => second.heard.includes('1'));
  expect(first.heard).toEqual([undefined]);
});

it('listens to a channel again after everyone left it', async () => {
  listen();
  const before = subscribe('feed');
  await until(() => before.heard.length === 1);
  before.unsubscribe();
  const after = subscribe('feed');
  await until(() => after.heard.length === 1);
  await notify('feed', '1');
  await until(() => after.heard.length === 2);
  expect(after.heard).toEqual([undefined, '1']);
});

it('calls at an interval without an address', async () => {
  listen({ url: undefined, pollIntervalMs: 10 });
  const { heard } = subscribe('feed');
  await until(() => heard.length >= 2);
  expect(new Set(heard)).toEqual(new Set([undefined]));
  expect(listener.state()).not.toBe('live');
});

it('calls at an interval while the database is unreachable', async () => {
  const { log, lines } = keepingLog();
  listen({ url: 'postgres://koppelvlak@127.0.0.1:1/x', pollIntervalMs: 10, log });
  const { heard } = subscribe('feed');
  await until(() => heard.length >= 2 && lines.length >= 1);
  expect(lines.join()).toContain('cannot be made');
});

it('closes while connecting, listening or waiting, and makes no further calls', async () => {
  for (const url of [database.url, 'postgres://koppelvlak@127.0.0.1:1/x']) {
    listen({ url, pollIntervalMs: 10 });
    subscribe('feed');
    await listener.close();
    listen({ url, pollIntervalMs: 10 });
    const { heard } = subscribe('feed');
    await until(() => heard.length > 0);
    await listener.close();
    const count = heard.length;
    await notify('feed', '1');
    expect(heard).toHaveLength(count);
  }
  expect(() => listener.subscribe('feed', () => undefined)).toThrow('closed');
});

it('refuses an invalid channel name', () => {
  listen();
  expect(() => listener.subscribe('feed"; drop table t', () => undefined)).toThrow(TypeError);
});

it('closes while its connection is being opened', async () => {
  for (const delayMs of [0, 1, 2, 4, 8, 16]) {
    listen();
    subscribe('feed');
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await listener.close();
  }
});
