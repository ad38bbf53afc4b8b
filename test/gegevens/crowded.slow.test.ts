/** More concurrent large answers than memory allows. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { TestServer } from '../support/server.ts';
import { messageFile, shvMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

/** Few and large: answer size matters here, and records cost CPU time. */
const RECORDS = 2000;
let supplier: Supplier;
/** Room for one answer of 20 MB at a time; a waiting one is either refused soon, or waits longer than any test. */
let hasty: TestServer;
let patient: TestServer;

beforeAll(async () => {
  supplier = await openSupplier({ env: { 'gegevens.cacheMb': '0', GEGEVENS_ANSWERS_MB: '1' } });
  const records = Array.from({ length: RECORDS }, (_, n) => `${n} ${'é'.repeat(5000)}`);
  await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam: 'Groot', records }] })));
  hasty = await supplier.another({ 'gegevens.answersWaitMs': '200' });
  patient = await supplier.another({ 'gegevens.answersWaitMs': '600000' });
});
afterAll(() => supplier.close());

async function begin(server: TestServer, body: string, subject = 'test'): Promise<ClientRequest> {
  const outgoing = request(`${server.url}/shv/v1/gegevens`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      ...(await supplier.tokens.bearer(['read'], { subject })),
      ...(await supplier.requester.sign(body)),
    },
  });
  outgoing.on('error', () => undefined);
  onTestFinished(() => void outgoing.destroy());
  outgoing.end(body);
  return outgoing;
}

/** An answer whose reader has taken only its headers: more of it is in flight than any buffer holds. */
async function hold(server: TestServer, body = '{}'): Promise<IncomingMessage> {
  const [incoming] = await once(await begin(server, body), 'response');
  return incoming;
}

async function gauge(server: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.managementUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const other = { pageSize: RECORDS - 1 };

it('refuses a second large answer after a while, with Retry-After, and makes it once there is memory', async () => {
  const held = await hold(hasty);
  expect(await gauge(hasty, 'koppelvlak_gegevens_answers_bytes')).toBeGreaterThan(20_000_000);
  const refused = await supplier.ask(other, { server: hasty });
  expect(refused.status, refused.text.slice(0, 300)).toBe(502);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('fsc-error-code')).toBe('ERROR_CODE_SERVICE_UNREACHABLE');
  expect(JSON.parse(refused.text)).toMatchObject({
    code: 'ERROR_CODE_SERVICE_UNREACHABLE',
    domain: 'ERROR_DOMAIN_INWAY',
    status: 502,
    detail: expect.stringContaining('te veel grote leveringen'),
  });
  held.destroy();
  await expect.poll(() => gauge(hasty, 'koppelvlak_gegevens_answers_bytes')).toBe(0);
  await supplier.get(other, { server: hasty });
  await expect.poll(() => gauge(hasty, 'koppelvlak_gegevens_answers_bytes')).toBe(0);
});

it('makes a waiting one as soon as the previous one is released', async () => {
  const held = await hold(patient);
  const waiting = supplier.get(other, { server: patient });
  await expect.poll(() => gauge(patient, 'koppelvlak_gegevens_answers_waiting')).toBe(1);
  held.resume();
  expect((await waiting).paginering).toMatchObject({ totalRecords: RECORDS });
});

it('does not delay small answers', async () => {
  const held = await hold(patient);
  const waiting = await begin(patient, JSON.stringify(other));
  await expect.poll(() => gauge(patient, 'koppelvlak_gegevens_answers_waiting')).toBe(1);
  for (let page = 1; page <= 5; page += 1) await supplier.get({ page, pageSize: 10 }, { server: patient });
  waiting.destroy();
  held.destroy();
});

it('drops a waiting one whose requester disconnects', async () => {
  const held = await hold(patient);
  const waiting = await begin(patient, JSON.stringify(other));
  await expect.poll(() => gauge(patient, 'koppelvlak_gegevens_answers_waiting')).toBe(1);
  waiting.destroy();
  await expect.poll(() => gauge(patient, 'koppelvlak_gegevens_answers_waiting')).toBe(0);
  const next = supplier.get({ pageSize: RECORDS - 2 }, { server: patient });
  await expect.poll(() => gauge(patient, 'koppelvlak_gegevens_answers_waiting')).toBe(1);
  held.destroy();
  await next;
  await expect.poll(() => gauge(patient, 'koppelvlak_gegevens_answers_bytes')).toBe(0);
});

it('gives one client at most half of the memory, and others the rest', async () => {
  const server = await supplier.another({ GEGEVENS_ANSWERS_MB: '64', 'gegevens.answersWaitMs': '600000' });
  const asOther = { server, headers: await supplier.tokens.bearer(['read'], { subject: 'ander' }) };
  const held = await hold(server);
  const waiting = [
    await begin(server, JSON.stringify(other)),
    await begin(server, JSON.stringify({ pageSize: RECORDS - 2 })),
  ];
  await expect.poll(() => gauge(server, 'koppelvlak_gegevens_answers_waiting')).toBe(2);
  await supplier.get({ pageSize: RECORDS - 3 }, asOther);
  expect(await gauge(server, 'koppelvlak_gegevens_answers_waiting')).toBe(2);
  await supplier.get({ pageSize: RECORDS - 2 }, asOther);
  for (const each of [held, ...waiting]) each.destroy();
  await expect.poll(() => gauge(server, 'koppelvlak_gegevens_answers_bytes')).toBe(0);
});

it('closes the connection of a reader so slow that it would hold the memory indefinitely', async () => {
  const server = await supplier.another({
    'server.requestTimeoutMs': '8000',
    'gegevens.answersMinBytesPerSecond': '10000000',
    'gegevens.answersWaitMs': '600000',
  });
  const held = await hold(server);
  const ended = new Promise((resolve) => held.once('error', resolve));
  // Never idle: it reads a little several times a second.
  const reading = setInterval(() => held.read(16_384), 200);
  onTestFinished(() => clearInterval(reading));
  await expect.poll(() => gauge(server, 'koppelvlak_gegevens_answers_bytes')).toBe(0);
  held.resume();
  await ended;
  expect(held.complete).toBe(false);
  expect(server.logged).toContainEqual(expect.objectContaining({ msg: expect.stringContaining('too slowly') }));
  await supplier.get({}, { server });
});

it('releases the connection and the memory when the requester disconnects during generation', async () => {
  const server = await supplier.another({ GEGEVENS_ANSWERS_MB: '1000' });
  for (let n = 0; n < 3; n += 1) {
    const outgoing = await begin(server, JSON.stringify({ pageSize: RECORDS - n }));
    await expect.poll(() => gauge(server, 'koppelvlak_gegevens_answers_bytes')).toBeGreaterThan(0);
    outgoing.destroy();
    await expect.poll(() => gauge(server, 'koppelvlak_gegevens_answers_bytes')).toBe(0);
  }
  // Hangs if a connection was never returned.
  await server.stop();
});

it('releases one that passed its deadline during generation', async () => {
  const server = await supplier.another({ 'server.requestTimeoutMs': '150' });
  for (let n = 0; n < 3; n += 1) await supplier.ask({ pageSize: RECORDS - n }, { server });
  await expect.poll(() => gauge(server, 'koppelvlak_gegevens_answers_bytes')).toBe(0);
  expect(await gauge(server, 'koppelvlak_gegevens_answers_waiting')).toBe(0);
});

it('stops generating one that passed its deadline', async () => {
  const server = await supplier.another({ 'server.requestTimeoutMs': '6000', 'database.statementTimeoutMs': '600000' });
  const { pool, asOwner } = supplier;
  const making = `select 1 from pg_stat_activity where query like '%gegevens.records%' and wait_event_type = 'Lock'`;
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('lock table gegevens.records in access exclusive mode');
    const answer = supplier.ask({}, { server });
    await expect.poll(async () => (await asOwner(making)).length).toBe(1);
    const { status, text } = await answer;
    expect(status, text).toBe(502);
    await expect.poll(async () => (await asOwner(making)).length).toBe(0);
  } finally {
    await client.query('rollback');
    client.release();
  }
});
