import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NotubizClient } from '../../../../src/raadsfeed/aggregator/notubiz/api.ts';
import { SupplierError } from '../../../../src/raadsfeed/aggregator/supplier/supplier-client.ts';
import { type NotubizServer, startNotubiz } from './supplier/server.ts';

let supplier: NotubizServer;
const clients: NotubizClient[] = [];
const never = new AbortController().signal;

beforeEach(async () => {
  supplier = await startNotubiz();
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await supplier.close();
});

function createClient(options: ConstructorParameters<typeof NotubizClient>[0] = {}): NotubizClient {
  const retry = { attempts: 3, firstDelay: 1, maxDelay: 50 };
  const client = new NotubizClient({ base: supplier.base, retry, ...options });
  clients.push(client);
  return client;
}

async function failure(promise: Promise<unknown>): Promise<SupplierError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SupplierError)) throw new Error(`not a failed call: ${String(error)}`);
  return error;
}

it('requests JSON of version 1.17.0 in every call', async () => {
  await createClient().get('/organisations', { page: '2' }, never);
  expect(supplier.calls).toEqual([{ path: '/organisations', query: { format: 'json', version: '1.17.0', page: '2' } }]);
});

it('never has more than four calls running', async () => {
  supplier.delay = 20;
  const client = createClient();
  await Promise.all(Array.from({ length: 20 }, () => client.get('/organisations', {}, never)));
  expect(supplier.mostAtOnce()).toBe(4);
});

it.each([429, 500, 502, 503, 504])('retries after status %i, until it succeeds', async (status) => {
  supplier.rule = (_call, times) => (times < 3 ? { status } : undefined);
  await createClient().get('/organisations', {}, never);
  expect(supplier.count('/organisations')).toBe(3);
});

it.each(['reset', 'half'] as const)('retries after a broken connection (%s)', async (odd) => {
  supplier.rule = (_call, times) => (times < 3 ? odd : undefined);
  await createClient().get('/organisations', {}, never);
  expect(supplier.count('/organisations')).toBe(3);
});

it("gives up after its attempts, with the supplier's message", async () => {
  supplier.rule = () => ({ status: 503, body: { message: 'maintenance' } });
  const error = await failure(createClient().get('/organisations', {}, never));
  expect(error).toMatchObject({ kind: 'status', status: 503, message: 'status 503: maintenance', passing: true });
  expect(supplier.count('/organisations')).toBe(3);
});

it('does not retry a permanent error: 404', async () => {
  supplier.rule = () => ({ status: 404, body: { message: 'An uncaught error has occurred' } });
  const error = await failure(createClient().get('/events', {}, never));
  expect(error).toMatchObject({ status: 404, message: 'status 404: An uncaught error has occurred', passing: false });
  expect(supplier.count('/events')).toBe(1);
});

it.each([
  ['seconds', () => '1'],
  ['a date', () => new Date(Date.now() + 2000).toUTCString()],
])('waits as long as Retry-After says, in %s, with all its calls', async (_form, retryAfter) => {
  const times: number[] = [];
  supplier.rule = () => {
    times.push(performance.now());
    return times.length === 1 ? { status: 429, headers: { 'retry-after': retryAfter() } } : undefined;
  };
  const client = createClient({ concurrency: 1, retry: { attempts: 3, firstDelay: 1, maxDelay: 5000 } });
  await Promise.all([client.get('/organisations', {}, never), client.get('/organisations', {}, never)]);
  const [first = 0, ...later] = times;
  expect(later).toHaveLength(2);
  expect(Math.min(...later) - first).toBeGreaterThan(900);
});

it('does not wait for an overlong Retry-After: the window is read another time', async () => {
  supplier.rule = () => ({ status: 503, headers: { 'retry-after': '3600' } });
  const client = createClient();
  const error = await failure(client.get('/organisations', {}, never));
  expect(error.retryAfter).toBe(3_600_000);
  // Nor does any other call reach it before that time.
  expect(await failure(client.get('/events', {}, never))).toMatchObject({ message: 'asked to wait', passing: true });
  expect(supplier.calls).toHaveLength(1);
});

it('gives up on a host that does not answer', async () => {
  supplier.rule = () => 'hang';
  const error = await failure(createClient({ timeout: 300 }).get('/organisations', {}, never));
  const message = `${new URL(supplier.base).host} does not answer: no complete answer within 300 ms`;
  expect(error).toMatchObject({ kind: 'unavailable', message, hangs: true });
  expect(supplier.count('/organisations')).toBe(1);
});

it('stops at once when aborted, even while waiting', async () => {
  supplier.rule = () => ({ status: 503 });
  const stop = new AbortController();
  const client = createClient({ retry: { attempts: 9, firstDelay: 60_000, maxDelay: 60_000 } });
  const calls = Promise.allSettled(Array.from({ length: 6 }, () => client.get('/organisations', {}, stop.signal)));
  while (supplier.calls.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  for (const { status } of await calls) expect(status).toBe('rejected');
});

it('reads a compressed answer', async () => {
  supplier.gzip = true;
  expect(await createClient().get('/organisations', {}, never)).toHaveProperty('organisations');
});

it('refuses an answer that is larger than the limit', async () => {
  supplier.rule = () => ({ status: 200, body: { text: 'x'.repeat(2000) } });
  const error = await failure(createClient({ maxBytes: 1000 }).get('/organisations', {}, never));
  expect(error).toMatchObject({ kind: 'unreadable', message: 'the answer is larger than 1000 bytes' });
});

it('refuses a compressed answer that exceeds the limit when decompressed', async () => {
  supplier.gzip = true;
  supplier.rule = () => ({ status: 200, body: { text: 'x'.repeat(1_000_000) } });
  expect(gzipSync('x'.repeat(1_000_000)).byteLength).toBeLessThan(10_000);
  const error = await failure(createClient({ maxBytes: 10_000 }).get('/organisations', {}, never));
  expect(error).toMatchObject({ kind: 'unreadable', message: 'the answer is larger than 10000 bytes' });
});

it.each([
  ['a page of a proxy', { status: 200, body: '<html>busy</html>' }, 'not JSON'],
  [
    'an encoding it did not ask for',
    { status: 200, headers: { 'content-encoding': 'compress' } },
    /content-encoding compress/,
  ],
  ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 'status 302'],
] as const)('refuses %s', async (_what, odd, message) => {
  supplier.rule = () => odd;
  const error = await failure(createClient().get('/organisations', {}, never));
  expect(error.message).toMatch(message);
  expect(supplier.calls).toHaveLength(1);
});

it('reports that there is no connection', async () => {
  const client = createClient({ base: 'http://127.0.0.1:1' });
  const error = await failure(client.get('/organisations', {}, never));
  expect(error).toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/^no connection \(.*ECONNREFUSED/),
  });
});
