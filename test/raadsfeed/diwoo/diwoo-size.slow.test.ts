/**
 * Many documents: positions are stable while everything changes, and a large organisation is offered in sitemaps of limited size. For more
 * of them: `DIWOO_DOCUMENTS=120000 npm run test:slow -- test/raadsfeed/diwoo/diwoo-size.slow.test.ts`.
 */
import process from 'node:process';
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/lib/time.ts';
import { SITEMAP_PLACES } from '../../../src/raadsfeed/diwoo/sitemaps.ts';
import { DIWOO_INDEX } from '../../../src/raadsfeed/diwoo/write-index.ts';
import { prepareChange } from '../../../src/raadsfeed/domain/change.ts';
import { followFeed } from '../../../src/raadsfeed/follow-index.ts';
import { createPublisher } from '../../../src/raadsfeed/writer/publisher.ts';
import { generateHistory } from '../generate-history.ts';
import { type FeedServer, removal, startFeed } from '../support.ts';
import { faultsOf, file, listed, readerOf, withFile } from './support.ts';

const SOON = { timeout: 60_000, interval: 500 };
const BATCH = 2000;
const ORGANISATIONS = 20;
/** Across all organisations. */
const DOCUMENTS = Number(process.env.DIWOO_DOCUMENTS ?? 5_000);

let feed: FeedServer | undefined;
afterEach(() => feed?.stop());

async function publishMany({ pool }: FeedServer, lines: readonly object[]): Promise<void> {
  const publisher = createPublisher({ pool, clock: systemClock });
  for (let at = 0; at < lines.length; at += BATCH) {
    // Validating lines would take most of the time; the writer's own tests do that.
    const changes = lines
      .slice(at, at + BATCH)
      .map((line) => prepareChange(line as Parameters<typeof prepareChange>[0]));
    await publisher.publish(changes);
  }
}

async function allLocs(started: FeedServer): Promise<{ pages: string[][]; index: ReturnType<typeof listed> }> {
  const reader = readerOf(started);
  const index = listed(await reader.text('sitemapindex-diwoo-infocat008.xml'));
  const pages: string[][] = [];
  for (const { loc } of index) pages.push(listed(await reader.text(loc.split('/').at(-1) ?? '')).map((one) => one.loc));
  return { pages, index };
}

it('positions of 10 000 documents are stable while they change, disappear and appear', async () => {
  const started = await startFeed({ RAADSFEED_DIWOO: 'true' });
  feed = started;
  const ids = Array.from({ length: 10_000 }, (_, i) => `d-${i}`);
  await publishMany(
    started,
    ids.map((id) => withFile(id)),
  );
  const complete = (count: number) =>
    vi.waitFor(async () => expect((await allLocs(started)).pages.flat()).toHaveLength(count), SOON);
  await complete(10_000);
  const before = await allLocs(started);
  expect(before.pages.map((page) => page.length)).toEqual([SITEMAP_PLACES, SITEMAP_PLACES]);
  expect(before.pages.flat()).toEqual(ids.map(file));
  // A third changes, every tenth disappears, and some appear, in the first sitemap only.
  const firsts = ids.slice(0, SITEMAP_PLACES);
  await publishMany(started, [
    ...firsts.filter((_, i) => i % 3 === 0 && i % 10 !== 0).map((id) => withFile(id, { titel: `Nieuwe titel ${id}` })),
    ...firsts.filter((_, i) => i % 10 === 0).map((id) => removal('delete', 'Informatieobject', id)),
    ...Array.from({ length: 700 }, (_, i) => withFile(`n-${i}`)),
  ]);
  await complete(10_000 - 500 + 700);
  const after = await allLocs(started);
  expect(after.pages[0]).toEqual(before.pages[0]?.filter((_, i) => i % 10 !== 0));
  expect(after.pages[1]).toEqual(before.pages[1]);
  expect(after.pages[2]).toEqual(Array.from({ length: 700 }, (_, i) => file(`n-${i}`)));
  // Unchanged sitemaps need not be read.
  expect(after.index[1]).toEqual(before.index[1]);
  expect(after.index[0]?.lastmod).not.toBe(before.index[0]?.lastmod);
});

it(`${DOCUMENTS} documents of twenty organisations, from an existing feed`, async () => {
  const started = await startFeed();
  feed = started;
  await generateHistory(started.pool, 1, DOCUMENTS);
  await started.pool.query(
    `update raadsfeed.texts set record_suffix = split_part(record_suffix, ',"data":', 1) || ',"data":{"titel":"Raadsvoorstel ' || sequence_number ||
       '","bestandsurl":"https://bestanden.example/' || sequence_number || '.pdf","formaat":"application/pdf",' ||
       '"wooinformatiecategorie":"c_db4862c3","datumingediend":"2026-01-08"}}'`,
  );
  for (let outcome = ''; outcome !== 'done'; ) outcome = await followFeed(started.pool, DIWOO_INDEX);
  const { server } = await started.another({ RAADSFEED_DIWOO: 'true' });
  const index = listed(await (await fetch(`${server.url}/woo/sitemapindex-diwoo-infocat008.xml`)).text());
  expect(index).toHaveLength(ORGANISATIONS * Math.ceil(DOCUMENTS / ORGANISATIONS / SITEMAP_PLACES));
  let count = 0;
  let last = '';
  for (const { loc } of index) {
    const xml = await (await fetch(`${server.url}/woo/${loc.split('/').at(-1)}`)).text();
    expect(Buffer.byteLength(xml)).toBeLessThan(52_428_800);
    count += listed(xml).length;
    last = xml;
  }
  expect(count).toBe(DOCUMENTS);
  expect(await faultsOf(last)).toEqual([]);
});
