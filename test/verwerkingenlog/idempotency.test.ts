import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgetIdempotency } from '../../src/verwerkingenlog/store/idempotency.ts';
import { actie, actieIn, type LogServer, newPerson, startTwoLogs, type TwoLogs } from './support.ts';

const day = 24 * 3_600_000;
let now = Date.parse('2026-06-01T12:00:00Z');
let logs: TwoLogs;
let log: LogServer;
let other: LogServer;
let client: pg.Client;

beforeAll(async () => {
  // Tokens use the machine's clock, from which the servers' clock continues.
  now = Date.now();
  logs = await startTwoLogs({ clock: { now: () => new Date(now) } });
  ({ log, other, client } = logs);
});
afterAll(() => logs?.stop());

function post(server: LogServer, key: string, body: object, subject = 'test') {
  return server.tokens
    .bearer(['create:normal'], { subject, seconds: 400_000 })
    .then((token) =>
      server.api.call('POST', '/verwerkingsacties', { headers: { ...token, 'idempotency-key': key }, body }),
    );
}

async function count(): Promise<number> {
  const { rows } = await client.query('select count(*)::int as count from verwerkingenlog.versies');
  return rows[0].count;
}

it('gives the same answer to the same key and body, and stores one action', async () => {
  const before = await count();
  const body = actie(newPerson());
  const first = await post(log, 'a', body);
  const again = await post(log, 'a', body);
  expect(again.status).toBe(201);
  expect(again.text).toBe(first.text);
  for (const name of ['location', 'etag']) expect(again.headers.get(name)).toBe(first.headers.get(name));
  expect(actieIn(await post(other, 'a', body)).actieId).toBe(actieIn(first).actieId);
  expect(await count()).toBe(before + 1);
});

it('gives the same answer even after the action was changed', async () => {
  const body = actie(newPerson());
  const first = await post(log, 'changed', body);
  const put = { ...body, actieNaam: 'later' };
  await log.call(['update:normal'], 'PUT', `/verwerkingsacties/${actieIn(first).actieId}`, put);
  expect((await post(log, 'changed', body)).text).toBe(first.text);
});

it('refuses the same key with another body', async () => {
  await post(log, 'b', actie(newPerson()));
  expect(await post(log, 'b', actie(newPerson()))).toMatchObject({
    status: 409,
    json: { code: 'idempotency-key-used' },
  });
});

it('counts a key per caller', async () => {
  const body = actie(newPerson());
  const one = actieIn(await post(log, 'c', body, 'one'));
  const two = actieIn(await post(log, 'c', body, 'two'));
  expect(one.actieId).not.toBe(two.actieId);
});

it('stores one action for many concurrent requests, on two instances', async () => {
  const before = await count();
  const body = actie(newPerson());
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => post(i % 2 ? log : other, 'd', body)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map((answer) => actieIn(answer).actieId)).size).toBe(1);
  expect(await count()).toBe(before + 1);
});

it('stores one action per key when two instances get the same keys at once, in opposite orders', async () => {
  const before = await count();
  const body = actie(newPerson());
  const keys = Array.from({ length: 40 }, (_, i) => `both-${i}`);
  const [ones, twos] = await Promise.all([
    Promise.all(keys.map((key) => post(log, key, body))),
    Promise.all(keys.toReversed().map((key) => post(other, key, body))),
  ]);
  expect(ones.map((answer) => actieIn(answer).actieId)).toEqual(
    twos.toReversed().map((answer) => actieIn(answer).actieId),
  );
  expect(await count()).toBe(before + keys.length);
});

it('gives a key to one of several bodies that use it at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => post(i % 2 ? log : other, 'e', actie(newPerson()))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
});

it('frees a key after 24 hours', async () => {
  const body = actie(newPerson());
  const first = actieIn(await post(log, 'f', body));
  await age('23:59');
  expect(actieIn(await post(log, 'f', body)).actieId).toBe(first.actieId);
  await age('0:01');
  expect(actieIn(await post(log, 'f', actie(newPerson()))).actieId).not.toBe(first.actieId);
});

it('frees no key early for an instance whose clock is ahead of the database’s', async () => {
  const body = actie(newPerson());
  const first = actieIn(await post(other, 'g', body));
  now += day;
  try {
    expect(actieIn(await post(log, 'g', body)).actieId).toBe(first.actieId);
    await expect(forgetIdempotency(client, new Date(now))).rejects.toThrow('ahead of the database');
    expect(actieIn(await post(log, 'g', body)).actieId).toBe(first.actieId);
  } finally {
    now -= day;
  }
  await age('24:00');
  expect(await forgetIdempotency(client, new Date(now))).toBeGreaterThan(0);
});

/** Ages all keys by this much. */
async function age(interval: string): Promise<void> {
  // Row by row: Citus refuses to compute with a column and an interval.
  const { rows } = await client.query(
    'select key_hash, (used_at - $1::interval)::text as ouder from verwerkingenlog.idempotency_keys',
    [interval],
  );
  for (const { key_hash: hash, ouder } of rows) {
    await client.query('update verwerkingenlog.idempotency_keys set used_at = $2 where key_hash = $1', [hash, ouder]);
  }
}

it.each(['', 'x'.repeat(65), 'with space'])('refuses a malformed key: %j', async (key) => {
  const answer = await post(log, key, actie(newPerson()));
  expect(answer.status).toBe(400);
  expect(Object(answer.json).invalidParams[0].name).toBe('Idempotency-Key');
});
