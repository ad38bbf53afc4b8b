/** A host that answers is not taken for one that hangs, however long one of its calls takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type CallSlots,
  SupplierClient,
  type SupplierClientOptions,
  SupplierError,
} from '../../../src/extensions/aggregator/supplier/supplier-client.ts';
import { type Imitation, startImitation } from './imitation.ts';

const TIMEOUT = 400;
const { signal } = new AbortController();
const clients: SupplierClient[] = [];
let host: Imitation;

beforeEach(async () => {
  host = await startImitation(() => ({ status: 200 }));
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await host.close();
});

function connect(options: Partial<SupplierClientOptions> = {}): SupplierClient {
  const retry = { attempts: 1, firstDelay: 1, maxDelay: 5000 };
  const client = new SupplierClient({ base: host.base, allowPrivate: true, timeout: TIMEOUT, retry, ...options });
  clients.push(client);
  return client;
}

/** Whether a call failed because its host hangs; `undefined` when it did not fail. */
async function hangs(call: Promise<unknown>): Promise<boolean | undefined> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof SupplierError ? error.hangs : undefined;
}

it.each([
  ['asks for a pause', { status: 429, headers: { 'retry-after': '1' } }],
  ['answers with what cannot be read', { status: 200, body: 'no JSON' }],
  ['says in its answer that it failed', { status: 200, body: { failed: true } }],
])('a host that %s meanwhile does not hang', async (_what, answer) => {
  host.rule = ({ path }) => (path === '/slow' ? 'hang' : answer);
  const client = connect();
  const slow = hangs(client.get('/slow', {}, signal));
  await sleep(50);
  const read = (): never => {
    throw new SupplierError('unavailable', 'ERR');
  };
  const request = { body: '', headers: {}, accepts: /json/, read };
  const other =
    'body' in answer && typeof answer.body === 'object'
      ? client.post(request, signal)
      : client.get('/other', {}, signal);
  expect(await hangs(other)).toBe(false);
  expect(await slow).toBe(false);
});

it('a host that hangs costs no slots for calls that are not sent', async () => {
  host.rule = () => 'hang';
  let acquired = 0;
  const slots = slotsOf(async () => {
    acquired += 1;
    return { release: async () => undefined };
  });
  const client = connect({ concurrency: 2, slots });
  const calls = Array.from({ length: 10 }, () => hangs(client.get('/', {}, signal)));
  expect(new Set(await Promise.all(calls))).toEqual(new Set([true]));
  expect([acquired, host.calls.length]).toEqual([2, 2]);
});

it('a call that waits for a slot is sent once the host answers again', async () => {
  host.rule = ({ path }) => (path === '/slow' ? 'hang' : undefined);
  let acquired = 0;
  const slots = slotsOf(async () => {
    acquired += 1;
    // The third call is told to wait, until after the second was answered.
    return acquired === 3 ? { waitMs: 3 * TIMEOUT } : { release: async () => undefined };
  });
  const client = connect({ slots });
  const slow = hangs(client.get('/slow', {}, signal));
  await sleep(TIMEOUT / 2);
  host.before = () => sleep(TIMEOUT * 0.8);
  const second = client.get('/second', {}, signal);
  const third = client.get('/third', {}, signal);
  expect(await slow).toBe(true);
  await second;
  host.before = undefined;
  await third;
});

function slotsOf(acquire: CallSlots['acquire']): CallSlots {
  return { acquire, pauseFor: async () => undefined, block: async () => undefined };
}
