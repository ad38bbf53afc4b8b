/** A host that answers is not mistaken for one that hangs, however long one of its calls takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { it, type TestContext } from 'vitest';
import {
  type CallSlots,
  SupplierClient,
  type SupplierClientOptions,
  SupplierError,
} from '../../../src/raadsfeed/aggregator/supplier/supplier-client.ts';
import { type Imitation, startImitation } from './imitation.ts';

// Longer than a busy machine needs for an answer.
const TIMEOUT = 2000;
const { signal } = new AbortController();

interface Connected {
  readonly host: Imitation;
  readonly client: SupplierClient;
}

/** A separate host for each test, because all of them wait at the same time. */
async function connect(
  { onTestFinished }: TestContext,
  options: Partial<SupplierClientOptions> = {},
): Promise<Connected> {
  const host = await startImitation(() => ({ status: 200 }));
  const retry = { attempts: 1, firstDelay: 1, maxDelay: 30_000 };
  const client = new SupplierClient({ base: host.base, allowPrivate: true, timeout: TIMEOUT, retry, ...options });
  onTestFinished(async () => {
    await client.close();
    await host.close();
  });
  return { host, client };
}

/** True when a call failed because its host hangs; `undefined` when it did not fail. */
async function hangs(call: Promise<unknown>): Promise<boolean | undefined> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof SupplierError ? error.hangs : undefined;
}

it.concurrent.for([
  ['asks for a pause', { status: 429, headers: { 'retry-after': '1' } }],
  ['answers unreadably', { status: 200, body: 'no JSON' }],
  ['reports a failure in its answer', { status: 200, body: { failed: true } }],
] as const)('a host that %s meanwhile does not hang', async ([_what, answer], test) => {
  const { host, client } = await connect(test);
  host.rule = ({ path }) => (path === '/slow' ? 'hang' : answer);
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
  test.expect([await hangs(other), await slow]).toEqual([false, false]);
});

it.concurrent('a host that hangs costs no slots for calls that are not sent', async (test) => {
  let acquired = 0;
  const slots = slotsOf(async () => {
    acquired += 1;
    return { release: async () => undefined };
  });
  const { host, client } = await connect(test, { concurrency: 2, slots });
  host.rule = () => 'hang';
  const calls = Array.from({ length: 10 }, () => hangs(client.get('/', {}, signal)));
  test.expect(new Set(await Promise.all(calls))).toEqual(new Set([true]));
  test.expect([acquired, host.calls.length]).toEqual([2, 2]);
});

it.concurrent('a call that waits for a slot is sent once the host answers again', async (test) => {
  let acquired = 0;
  const slots = slotsOf(async () => {
    acquired += 1;
    // The third call waits until after the second was answered.
    return acquired === 3 ? { waitMs: 2 * TIMEOUT } : { release: async () => undefined };
  });
  const { host, client } = await connect(test, { slots });
  host.rule = ({ path }) => (path === '/slow' ? 'hang' : undefined);
  const slow = hangs(client.get('/slow', {}, signal));
  await sleep(TIMEOUT / 2);
  host.before = () => slow;
  const second = client.get('/second', {}, signal);
  const third = client.get('/third', {}, signal);
  test.expect(await slow).toBe(true);
  await second;
  host.before = undefined;
  await third;
});

function slotsOf(acquire: CallSlots['acquire']): CallSlots {
  return { acquire, pauseFor: async () => undefined, block: async () => undefined };
}
