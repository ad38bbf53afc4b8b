import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/time.ts';
import { createPublisher, findMissing, publishRemovals } from '../../../src/raadsfeed/writer/publisher.ts';
import { type FeedServer, readRecords, startFeed, vergadering } from '../support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed.stop());

it('removes resources missing from a full state, except those that others published during the import', async () => {
  await feed.publish(['v-1', 'v-2', 'v-3'].map((id) => vergadering(id)));
  const keys = new Set(['gm9901/Vergadering/v-1']);
  const missing = await findMissing(feed.pool, 'gm9901', keys);
  expect(missing).toMatchObject({ present: 3, isMassDelete: true });
  // Newer than the compared state.
  await feed.publish([vergadering('v-2', { locatie: 'Raadzaal' }), vergadering('v-4')]);
  const { signal } = new AbortController();
  const publisher = createPublisher({ pool: feed.pool, clock: systemClock });
  expect(await publishRemovals(publisher, missing, signal)).toBe(1);
  const left = (await readRecords(feed.api, '/snapshot')).map(({ resource }) => resource.bronidentificatie);
  expect(left).toEqual(['v-1', 'v-2', 'v-4']);
});
