/** Maintenance of the page index: redactions reach all of it, and no request makes it read unnecessarily. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { rewriteContentTables } from '../../../src/raadsfeed/store/text-partitions.ts';
import { document, removal } from '../support.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages?.stop());

it('replaces the files of every table after a redaction, and suggests spellings as before', async () => {
  const lines = [document('geheim', { titel: 'Geheimnaam' }), document('open', { titel: 'Begrotingswijziging' })];
  await pages.publishAndIndex(lines);
  const suggested = async (q: string): Promise<string | undefined> =>
    /Bedoelde u <a[^>]*>([^<]*)</.exec((await pages.get(`/zoeken?q=${q}`)).text)?.[1];
  const before = await suggested('begrotingswijzigung');
  await pages.publishAndIndex([removal('redact', 'Informatieobject', 'geheim')]);
  await expect.poll(() => rewriteContentTables(pages.pool)).toEqual([]);
  const { rows } = await pages.pool.query(
    `select schema_name, table_name from raadsfeed.content_tables where rewritten_to < redacted_at`,
  );
  expect(rows).toEqual([]);
  expect((await pages.pool.query('select word from pages.words')).rows).toEqual([{ word: 'begrotingswijziging' }]);
  expect([await suggested('begrotingswijzigung'), await suggested('geheimnaan')]).toEqual([before, undefined]);
});

it('reads no list for a HEAD request', async () => {
  await pages.publishAndIndex(Array.from({ length: 1600 }, (_, i) => document(`d-${i}`)));
  const owner = new pg.Client(pages.databaseUrl);
  await owner.connect();
  onTestFinished(() => owner.end());
  // Looks at the last statement of each connection for reads of further parts.
  const readsOn = async (): Promise<boolean> => {
    const of = `datname = current_database() and pid <> pg_backend_pid() and query like '%s.first_number <%'`;
    return (await owner.query(`select from pg_stat_activity where ${of}`)).rowCount !== 0;
  };
  const ask = async (method: string): Promise<void> => {
    const answer = await fetch(`${pages.server.url}/raad/gm9901/informatieobjecten.csv`, { method });
    await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  };
  await ask('HEAD');
  for (let i = 0; i < 20; i += 1) {
    expect(await readsOn()).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // The connection may have had another statement since.
  await expect.poll(() => ask('GET').then(readsOn)).toBe(true);
});

it('accepts a text with letters that expand when case-folded', async () => {
  const letters = ['\u3315', '\u3316', '\u3317', '\u3320', '\u332b', '\u332d', '\u3336', '\u334d'];
  // Distinct words: their numbers in base eight.
  const words = (from: number): string =>
    Array.from({ length: 2000 }, (_, i) =>
      [...(from + i).toString(8).padStart(9, '0')].map((digit) => letters[Number(digit)]).join(''),
    ).join(' ');
  await pages.publishAndIndex([document('letters', { titel: words(0), omschrijving: words(5000) })]);
  expect((await pages.get('/gm9901/informatieobjecten/letters')).status).toBe(200);
});

it('finds the sitemaps without reading their contents', async () => {
  const { text } = await pages.get('/sitemap.xml');
  expect(text.match(/<sitemap>/g)).toHaveLength(1);
  const { rows } = await pages.pool.query(`select max(stored_at) as newest from pages.items`);
  expect(text).toContain(`<lastmod>${rows[0]?.newest.toISOString()}</lastmod>`);
});
