/** Records so large that a page of the requested size would be more than a service can hold. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/time.ts';
import { verifyFeed } from '../../src/raadsfeed/verify/verify-feed.ts';
import { openStream } from './stream-client.ts';
import { asPage, document, type FeedServer, startFeed, vergadering } from './support.ts';

const COUNT = 21;
const LARGE = 'x'.repeat(2_000_000);
/** One record may make a page too large: 16 MiB and one of 4 MiB. */
const LARGEST_PAGE = 20 * 1024 * 1024;

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
  for (let i = 1; i <= COUNT; i += 3) {
    const ids = [i, i + 1, i + 2].map((n) => `d-${String(n).padStart(2, '0')}`);
    await feed.publish(ids.map((id) => document(id, { omschrijving: `${id} ${LARGE}` })));
  }
  await feed.publish([vergadering('klein')]);
});
afterAll(() => feed.stop());

it.each([
  ['/feed?limit=1000', COUNT + 1],
  ['/feed?limit=1000&resourceType=Informatieobject', COUNT],
  ['/feed?limit=1000&organisatiecode=gm9901', COUNT + 1],
  ['/snapshot?limit=1000', COUNT + 1],
  ['/snapshot?limit=1000&organisatiecode=gm9901', COUNT + 1],
  ['/organisaties/gm9901/informatieobjecten?limit=1000', COUNT],
])('gives pages of limited size, and everything once: %s', async (path, count) => {
  const seen: string[] = [];
  let pages = 0;
  for (let next: string | null = path; next !== null; pages += 1) {
    const answer = await feed.api.call('GET', next);
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeLessThan(LARGEST_PAGE);
    const page = asPage(answer.json);
    expect(page.hasMore).toBe(page.next !== null);
    // A page of history may be cached long, unless it belongs to a list of current resources.
    const seconds = path.startsWith('/feed') && page.hasMore ? 60 : 5;
    expect(answer.headers.get('cache-control')).toBe(`public, max-age=${seconds}`);
    for (const { resource } of page.records) seen.push(resource.bronidentificatie);
    for (const { bronidentificatie } of page.results) seen.push(String(bronidentificatie));
    next = page.next === null ? null : page.next.slice(feed.mount.length);
  }
  expect(pages).toBeGreaterThan(2);
  expect(seen).toHaveLength(count);
  expect(seen.slice(0, COUNT)).toEqual(Array.from({ length: COUNT }, (_, i) => `d-${String(i + 1).padStart(2, '0')}`));
});

it('gives the same page again', async () => {
  const [one, two] = [await feed.api.call('GET', '/feed?limit=1000'), await feed.api.call('GET', '/feed?limit=1000')];
  expect(one.text === two.text).toBe(true);
  expect(one.headers.get('cache-control')).toBe('public, max-age=60');
});

it.each(['', '?resourceType=Informatieobject'])(
  'gives all of them to a stream that catches up, in order: %s',
  async (query) => {
    const stream = await openStream(`${feed.mount}/feed/stream${query}`, { 'last-event-id': '0' });
    const events = await stream.waitFor(COUNT);
    expect(events.slice(0, COUNT).map(({ id }) => id)).toEqual(Array.from({ length: COUNT }, (_, i) => i + 1));
    stream.close();
  },
);

it('is verified in pieces of limited size', async () => {
  const ends: number[] = [];
  const { records, faults } = await verifyFeed(feed.pool, {
    clock: systemClock,
    signal: new AbortController().signal,
    progress: (end) => ends.push(end),
  });
  expect(faults).toEqual([]);
  expect(records).toBe(COUNT + 1);
  expect(ends.at(-1)).toBe(COUNT + 1);
  const sizes = ends.map((end, i) => (end - (ends[i - 1] ?? 0)) * LARGE.length);
  expect(Math.max(...sizes)).toBeLessThan(LARGEST_PAGE);
});
