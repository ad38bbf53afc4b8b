import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFeedPublisher, RefusedLineError } from '../../src/client/raadsfeed.ts';
import { type FeedServer, PATIENT, quiet, readRecords, removal, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed.stop());

it('publishes from another application, and refuses a call with a faulty line whole', async () => {
  const publisher = createFeedPublisher({ databaseUrl: feed.databaseUrl, log: quiet });
  const lines = Array.from({ length: 300 }, (_, i) => vergadering(`v-${i}`));
  expect(await publisher.publish(lines)).toEqual(lines.map((_, i) => ({ recorded: i + 1 })));
  expect(await publisher.publish(lines.slice(0, 2))).toEqual(['no-op', 'no-op']);
  const faulty = publisher.publish([vergadering('v-goed'), { op: 'upsert' }]);
  await expect(faulty).rejects.toThrow(RefusedLineError);
  await expect(faulty).rejects.toMatchObject({ index: 1 });
  expect(await publisher.publish([removal('redact', 'Vergadering', 'v-7')])).toEqual([
    { recorded: 301, redacted: [8] },
  ]);
  await publisher.close();
  await expect.poll(async () => (await readRecords(feed.api)).length, PATIENT).toBe(301);
});
