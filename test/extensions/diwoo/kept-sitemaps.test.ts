/** What is kept of a sitemap that was made: it is neither made again nor does it wait for others that are being made. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { transaction } from '../../../src/database/transaction.ts';
import { type FeedServer, PATIENT, startFeed } from '../../raadsfeed/support.ts';
import { file, type Reader, readerOf, withFile } from './support.ts';

const INDEX = 'sitemapindex-diwoo-infocat008.xml';
const sitemap = (code: string): string => `sitemap-diwoo-infocat008-${code}-1.xml`;

let feed: FeedServer;
let reader: Reader;

beforeAll(async () => {
  feed = await startFeed({ RAADSFEED_DIWOO: 'true' });
  reader = readerOf(feed);
});
afterAll(() => feed.stop());

const organisatie = (code: string): object => ({ gemeente: code, naam: `Gemeente ${code}` });
const offers = (code: string, names: readonly string[]): Promise<void> =>
  vi.waitFor(async () => expect(await reader.locs(code)).toEqual(names.map(file)), PATIENT);

it('a sitemap that was made is not made again for another query', async () => {
  const code = 'gm0100';
  await feed.publish([withFile('q-1', {}, organisatie(code))]);
  await offers(code, ['q-1']);
  const seen = vi.spyOn(pg.Client.prototype, 'query');
  for (const query of ['', '?a=1', '?a=2']) expect((await reader.get(`${sitemap(code)}${query}`)).status).toBe(200);
  const names = seen.mock.calls.map(([query]) => String(Object(query).name));
  seen.mockRestore();
  expect(names.filter((name) => name === 'raadsfeed-diwoo-sitemap')).toHaveLength(3);
  expect(names.filter((name) => name === 'raadsfeed-diwoo-stukken')).toHaveLength(0);
});

it('a sitemap that was made does not wait for the memory of those that are being made', async () => {
  const [kept, ...others] = ['gm0200', 'gm0201', 'gm0202', 'gm0203', 'gm0204', 'gm0205'] as const;
  await feed.publish([kept, ...others].map((code, i) => withFile(`w-${i}`, {}, organisatie(code))));
  await offers(kept, ['w-0']);
  await transaction(feed.pool, async (client) => {
    await client.query('lock table diwoo.documents in access exclusive mode');
    const making = others.map((code) => reader.text(sitemap(code)));
    const waiting = async () =>
      (await client.query(`select from pg_locks where not granted and relation = 'diwoo.documents'::regclass`))
        .rowCount;
    await expect.poll(waiting, PATIENT).toBe(4);
    const statuses = [sitemap(kept), INDEX, sitemap('gm9999')].map(async (name) => (await reader.get(name)).status);
    const late = sleep(2000).then(() => 'late');
    expect(await Promise.race([Promise.all(statuses), late])).toEqual([200, 200, 404]);
    // Not waited for: they are answered when the lock is released.
    return { making };
  }).then(({ making }) => Promise.all(making));
});
