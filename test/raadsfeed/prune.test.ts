/** Reading while history is pruned: never an unreported gap. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pruneHistory } from '../../src/raadsfeed/store/prune.ts';
import { pruneTo, withLock } from './locks.ts';
import { asPage, type FeedServer, PATIENT, readRecords, removal, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
let snapshotCursor = '';
let oldSnapshotCursor = '';
beforeAll(async () => {
  feed = await startFeed();
  for (const locatie of ['eerst', 'daarna']) {
    await feed.publish(Array.from({ length: 10 }, (_, i) => vergadering(`v-${i}`, { locatie })));
    snapshotCursor = asPage((await feed.api.call('GET', '/snapshot?limit=2')).json).cursor ?? '';
    if (locatie === 'eerst') oldSnapshotCursor = snapshotCursor;
  }
  await feed.publish([removal('delete', 'Vergadering', 'v-9')]);
});
afterAll(() => feed.stop());

it('refuses a filtered page whose records are removed while it is read, and never omits them', async () => {
  const { cursor } = asPage((await feed.api.call('GET', '/feed?limit=2')).json);
  const answer = await withLock(feed.databaseUrl, 'raadsfeed.records', async (client) => {
    const asked = feed.api.call('GET', `/feed?resourceType=Vergadering&cursor=${cursor}`);
    await expect.poll(() => client.waiting(), PATIENT).toBe(1);
    await client.query(pruneTo(12));
    // Not awaited: it is answered when the lock is released.
    return { asked };
  });
  const { status, json } = await answer.asked;
  expect([status, json]).toMatchObject([400, { type: expect.stringMatching(/\/problems\/ongeldige-cursor$/) }]);
});

it('keeps current resources in the snapshot, even from before the history', async () => {
  const numbers = (await readRecords(feed.api)).map(({ sequenceNumber }) => sequenceNumber);
  expect(numbers).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21]);
  const current = (await readRecords(feed.api, '/snapshot')).map(({ sequenceNumber }) => sequenceNumber);
  expect(current).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19]);
});

it('refuses to continue with a snapshot from which the feed can no longer be read', async () => {
  const call = async (cursor: string) => (await feed.api.call('GET', `/snapshot?cursor=${cursor}`)).json;
  expect(await call(oldSnapshotCursor)).toMatchObject({
    type: expect.stringMatching(/\/problems\/ongeldige-cursor$/),
    detail: expect.stringContaining('/snapshot'),
  });
  // The other one began at number 20, and number 12 was the last to be removed.
  expect(asPage(await call(snapshotCursor)).records.map(({ sequenceNumber }) => sequenceNumber)).toEqual([
    ...[13, 14, 15, 16, 17, 18, 19],
  ]);
});

it('redacts current state from before the history, and names its number', async () => {
  expect(await feed.publish([removal('redact', 'Vergadering', 'v-0')])).toEqual([{ recorded: 22, redacted: [11] }]);
  expect((await readRecords(feed.api)).at(-1)).toMatchObject({ op: 'redact', geredigeerdeSequenceNumbers: [11] });
  expect((await feed.api.call('GET', '/snapshot')).text).not.toContain('"v-0"');
});

it("removes nothing when the given time is in the future by the database's clock", async () => {
  const before = new Date(Date.now() + 3_600_000);
  const options = { before, graceMs: 0, signal: new AbortController().signal, progress: () => undefined };
  await expect(pruneHistory(feed.pool, options)).rejects.toThrow(/future by the database's clock/);
  expect((await readRecords(feed.api))[0]).toMatchObject({ sequenceNumber: 13 });
});
