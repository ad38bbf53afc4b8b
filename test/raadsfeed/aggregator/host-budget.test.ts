/** The limit of a host applies to all its organisations, in all instances. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createGo } from '../../../src/raadsfeed/aggregator/go/api.ts';
import { createCallSlots } from '../../../src/raadsfeed/aggregator/store/call-slots.ts';
import { createAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { pool, serviceDatabase } from '../service-database.ts';
import { quiet } from '../support.ts';
import { type GoServer, itemOf, meetingOf, startGo } from './go/server.ts';
import { MemoryFeed, SOURCE } from './notubiz/supplier/memory-feed.ts';

let supplier: GoServer;
const feeds: MemoryFeed[] = [];

serviceDatabase();
beforeEach(async () => {
  supplier = await startGo('v2');
});
afterEach(async () => {
  await Promise.all(feeds.splice(0).map(({ adapter }) => adapter.close()));
  await supplier.close();
  await pool.query('delete from aggregator.supplier_pauses');
});

/** An instance that reads the organisation at this address. */
function instance(organisationId: string): MemoryFeed {
  const slots = (host: string) => createCallSlots(pool, `go ${host}`, { atOnce: 4, slotSeconds: 120 }, quiet);
  const retry = { attempts: 2, firstDelay: 1, maxDelay: 5000 };
  const feed = new MemoryFeed(
    (clock) => createAdapter(createGo({ clock, allowPrivate: true, retry, slots }), clock),
    {},
    { ...SOURCE, organisationId, options: { version: 'v2' } },
  );
  feeds.push(feed);
  return feed;
}

it('has at most four concurrent calls in total, and each reader reads everything', async () => {
  for (let id = 10; id < 22; id += 1) supplier.meetings.set(id, meetingOf(id, { items: [itemOf(id * 10)] }));
  supplier.delay = 5;
  supplier.perPage = 100;
  const all = [1, 2, 3].map(() => instance(supplier.address));
  const rounds = await Promise.all(all.map((feed) => feed.round()));
  for (const { reading } of rounds) expect(reading).toMatchObject({ complete: true, issues: [] });
  for (const feed of all) expect(feed.keys()).toHaveLength(24);
  expect(supplier.mostAtOnce()).toBeLessThanOrEqual(4);
  expect(supplier.mostAtOnce()).toBeGreaterThan(1);
});

it('makes all of them wait when the host asked one to', async () => {
  supplier.rule = () => ({ status: 503, headers: { 'retry-after': '3600' } });
  const [first, second] = [instance(supplier.address), instance(supplier.address)];
  expect((await first.round()).reading.complete).toBe(false);
  const before = supplier.calls.length;
  expect((await second.round()).reading.complete).toBe(false);
  expect(supplier.calls).toHaveLength(before);
});
