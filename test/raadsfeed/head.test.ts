/** The head in an answer is current when the answer is sent, whichever instance sends it and however many clients there are. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asPage, type FeedServer, removal, startFeed, vergadering } from './support.ts';

const ROUNDS = 20;
const POLLERS = 8;
const ADDRESSES = ['/feed', '/feed?limit=1', '/feed?organisatiecode=gm9901', '/snapshot'];

let feed: FeedServer;
let mounts: string[];
let polling = true;
let pollers: Promise<void>[];

beforeAll(async () => {
  feed = await startFeed();
  await feed.publish([vergadering('v-0')]);
  mounts = [feed.mount, (await feed.another()).mount];
  // One for each address of each instance: a database query is nearly always in flight, and all answers are cached ones.
  pollers = Array.from({ length: POLLERS }, async (_, i) => {
    while (polling) await (await fetch(`${mounts[i % 2]}${ADDRESSES[i % ADDRESSES.length]}`)).arrayBuffer();
  });
});
afterAll(async () => {
  polling = false;
  await Promise.all(pollers);
  await feed.stop();
});

it('is never behind a commit that preceded the request, on any instance', async () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    await feed.publish([vergadering(`v-${round}`)]);
    const asked = mounts.flatMap((mount) =>
      ADDRESSES.map(async (path) => asPage(await (await fetch(`${mount}${path}`)).json())),
    );
    for (const { head, hasMore, feedCursor, cursor } of await Promise.all(asked)) {
      // A full page of history keeps its original head.
      if (feedCursor === undefined && hasMore) expect(head).toBeGreaterThan(1);
      else if (feedCursor === undefined) expect(head).toBe(round + 1);
      else
        expect(asPage(await (await fetch(`${feed.mount}/feed?cursor=${feedCursor}`)).json())).toMatchObject({
          records: [],
          hasMore: false,
        });
      expect(cursor).not.toBe(undefined);
    }
  }
});

it('never brings back content redacted before the request, on any instance', async () => {
  for (let round = 1; round <= ROUNDS; round += 5) {
    await feed.publish([removal('redact', 'Vergadering', `v-${round}`)]);
    for (const mount of mounts) {
      for (const path of ADDRESSES) {
        expect(await (await fetch(`${mount}${path}`)).text()).not.toContain(`"naam":"Vergadering v-${round}"`);
      }
    }
  }
});
