/** The rate limit for iBabs applies to all instances, and to commands beside them: each has its own client here. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { IbabsClient } from '../../../../src/raadsfeed/aggregator/ibabs/calls.ts';
import { createCallSlots, resumeSupplier } from '../../../../src/raadsfeed/aggregator/store/call-slots.ts';
import { readConfig } from '../../../../src/settings/read-config.ts';
import { pool, serviceDatabase } from '../../service-database.ts';
import { quiet } from '../../support.ts';
import { BLOCKED, type IbabsServer, siteOf, startIbabs } from './server.ts';

let supplier: IbabsServer;
const clients: IbabsClient[] = [];
const never = new AbortController().signal;

serviceDatabase();

beforeEach(async () => {
  supplier = await startIbabs();
  supplier.sites.set('voorbeeldstad', siteOf());
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await supplier.close();
  await pool.query('delete from aggregator.supplier_blocks');
});

function instance(perMinute: number): IbabsClient {
  const slots = createCallSlots(pool, 'ibabs', { atOnce: 2, slotSeconds: 120, perMinute }, quiet);
  const client = new IbabsClient({ base: supplier.base, allowPrivate: true, slots });
  clients.push(client);
  return client;
}

it('spaces calls as the budget requires, two at a time, over two instances', async () => {
  supplier.delay = 220;
  const { rows } = await pool.query<{ now: Date }>('select now()');
  const two = [instance(300), instance(300)];
  await Promise.all(two.flatMap((client) => [1, 2, 3, 4, 5].map(() => client.meetingTypes('voorbeeldstad', never))));
  const began = supplier.calls.map(({ at }) => at);
  expect(began).toHaveLength(10);
  // Ten calls, each starting a fifth of a second after the previous one; the first may arrive late.
  expect((began.at(-1) ?? 0) - (began[0] ?? 0)).toBeGreaterThan(1300);
  const paced = `select extract(epoch from next_at - $1)::float8 as seconds from aggregator.supplier_pace where supplier = 'ibabs'`;
  expect((await pool.query(paced, [rows[0]?.now])).rows[0]?.seconds).toBeGreaterThanOrEqual(2);
  expect(supplier.mostAtOnce()).toBe(2);
});

it('stops every instance at a block, and lets them call again when it is resumed', async () => {
  const [one, other] = [instance(60_000), instance(60_000)];
  supplier.rule = () => BLOCKED;
  await expect(one.meetingTypes('voorbeeldstad', never)).rejects.toMatchObject({ code: 'blocked' });
  supplier.rule = undefined;
  await expect(other.meetingTypes('voorbeeldstad', never)).rejects.toMatchObject({ code: 'blocked' });
  expect(supplier.calls).toHaveLength(1);
  expect(await resumeSupplier(pool, 'ibabs')).toBe(true);
  expect(await resumeSupplier(pool, 'ibabs')).toBe(false);
  expect(await other.meetingTypes('voorbeeldstad', never)).toHaveLength(2);
});

it('is called without encryption only if inner addresses may be called', async () => {
  const client = new IbabsClient({ base: supplier.base });
  clients.push(client);
  await expect(client.meetingTypes('voorbeeldstad', never)).rejects.toThrow('begins with https:');
  expect(supplier.calls).toEqual([]);
  const env = { IBABS_URL: 'http://ibabs.example/Public.svc' };
  expect(() => readConfig(env, 'serve')).toThrow(/IBABS_URL is an address with `http:`/);
  const config = readConfig({ ...env, AGGREGATOR_ALLOW_PRIVATE: 'true', IBABS_CALLS_PER_MINUTE: '60' }, 'tool');
  expect(config.aggregator).toMatchObject({ ibabsUrl: env.IBABS_URL, ibabsCallsPerMinute: 60 });
});
