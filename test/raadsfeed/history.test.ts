/** Pages across the boundary between text partitions (4096 numbers each). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asPage, type FeedServer, removal, startFeed, vergadering } from './support.ts';

const COUNT = 4500;
const REDACTED = 4096;

let feed: FeedServer;
beforeAll(async () => {
  // Nothing is cached: every page is read.
  feed = await startFeed({ 'raadsfeed.cacheMb': '0' });
  for (let from = 1; from <= COUNT; from += 900) {
    await feed.publish(Array.from({ length: 900 }, (_, i) => vergadering(`v-${from + i}`, { locatie: 'Zaal € "1"' })));
  }
  await feed.publish([removal('redact', 'Vergadering', `v-${REDACTED}`)]);
});
afterAll(() => feed?.stop());

it.each([1000, 500, 97])('gives every number once, in pages of %d', async (limit) => {
  const numbers: number[] = [];
  for (let path = `/feed?limit=${limit}`; ; ) {
    const page = asPage((await feed.api.call('GET', path)).json);
    for (const { sequenceNumber, op, resource } of page.records) {
      numbers.push(sequenceNumber);
      if (sequenceNumber > COUNT) continue;
      expect([op, resource.bronidentificatie]).toEqual([
        sequenceNumber === REDACTED ? 'redact' : 'upsert',
        `v-${sequenceNumber}`,
      ]);
    }
    if (!page.hasMore) break;
    path = `/feed?limit=${limit}&cursor=${page.cursor}`;
  }
  expect(numbers).toEqual(Array.from({ length: COUNT + 1 }, (_, i) => i + 1));
});

it('refuses a page with a missing record, on either side of the boundary', async () => {
  let cursor: string | null = null;
  for (let i = 0; i < 4; i += 1) {
    const path = `/feed?limit=1000${cursor === null ? '' : `&cursor=${cursor}`}`;
    ({ cursor } = asPage((await feed.api.call('GET', path)).json));
  }
  const last = `/feed?limit=400&cursor=${cursor}`;
  expect(asPage((await feed.api.call('GET', last)).json).records).toHaveLength(400);
  for (const number of [4100, 4090]) {
    await feed.pool.query('delete from raadsfeed.texts where sequence_number = $1', [number]);
    expect((await feed.api.call('GET', last)).status).toBe(400);
  }
});
