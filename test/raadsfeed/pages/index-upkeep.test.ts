/** What the index of pages costs and keeps: redactions reach all of it, a new version writes its rows again, and nobody makes it read for nothing. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../../src/database/migrate.ts';
import { followFeed } from '../../../src/raadsfeed/follow-index.ts';
import { PAGES_INDEX } from '../../../src/raadsfeed/pages/search/follow-feed.ts';
import { rewriteContentTables } from '../../../src/raadsfeed/store/text-partitions.ts';
import { quiet } from '../../database/support.ts';
import { createDatabase } from '../../support/database.ts';
import { startServer } from '../../support/server.ts';
import { agendapunt, document, publishLines, removal, servicePool, vergadering } from '../support.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../migrations');

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

it('reads no list for the headers alone', async () => {
  await pages.publishAndIndex(Array.from({ length: 1600 }, (_, i) => document(`d-${i}`)));
  const owner = new pg.Client(pages.databaseUrl);
  await owner.connect();
  onTestFinished(() => owner.end());
  // The last statement of each connection: does one read a part after the first?
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
  await ask('GET');
  expect(await readsOn()).toBe(true);
});

it('takes a text in whose letters are several each when they are folded', async () => {
  const letters = ['\u3315', '\u3316', '\u3317', '\u3320', '\u332b', '\u332d', '\u3336', '\u334d'];
  // Words that differ: their numbers in base eight.
  const words = (from: number): string =>
    Array.from({ length: 2000 }, (_, i) =>
      [...(from + i).toString(8).padStart(9, '0')].map((digit) => letters[Number(digit)]).join(''),
    ).join(' ');
  await pages.publishAndIndex([document('letters', { titel: words(0), omschrijving: words(5000) })]);
  expect((await pages.get('/gm9901/informatieobjecten/letters')).status).toBe(200);
});

it('finds the site maps without reading what is in them', async () => {
  const { text } = await pages.get('/sitemap.xml');
  expect(text.match(/<sitemap>/g)).toHaveLength(1);
  const { rows } = await pages.pool.query(`select max(stored_at) as newest from pages.items`);
  expect(text).toContain(`<lastmod>${rows[0]?.newest.toISOString()}</lastmod>`);
});

it('writes the rows of the version before again while it answers from them', async () => {
  const database = await createDatabase({ empty: true });
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-before-'));
  const pool = servicePool(database.url, 3);
  const client = new pg.Client(database.url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await pool.end();
    await database.drop();
    await rm(dir, { recursive: true });
  });
  await cp(MIGRATIONS, dir, { recursive: true });
  for (const name of await readdir(dir))
    if (name >= '1120-pages-search' && name.endsWith('.sql')) await rm(join(dir, name));
  await migrate({ url: database.url, dir, log: quiet });
  // An item and its document before their meeting, as the version before had them.
  await publishLines(pool, [
    agendapunt('punt', { agendapuntnaam: 'Woningen', vergadering: { bronidentificatie: 'v' } }),
    document('stuk', { titel: 'Jeugdhulpverlening', agendapunten: [{ bronidentificatie: 'punt' }] }),
    vergadering('v', {
      locatie: 'Raadzaal',
      georganiseerddoorgremium: { gremiumidentificatie: 'g', gremiumnaam: 'Commissie Bestuur' },
    }),
  ]);
  const insert = `insert into pages.items (nummer, organisatiecode, resource_type, bronidentificatie, stored_at, titel, vergadering, gremium,
         gremiumnaam, kort, first_number, first_stored_at, woorden)
    select r.sequence_number, r.organisatiecode, r.resource_type, r.bronidentificatie, r.stored_at, t.titel,
           case when r.resource_type <> 'Vergadering' then 'v' end, 'g', 'Commissie Bestuur', '{}', r.sequence_number, r.stored_at,
           setweight(to_tsvector('dutch', t.titel), 'A') || setweight(to_tsvector('simple', t.titel), 'A') ||
           setweight(to_tsvector('dutch', t.about), 'B') || setweight(to_tsvector('simple', t.about), 'B')
      from raadsfeed.record r join (values (1, 'Woningen', ''), (2, 'Jeugdhulpverlening', ''), (3, 'Vergadering v', 'Commissie Bestuur Raadzaal'))
        t (number, titel, about) on t.number = r.sequence_number`;
  await pool.query(insert);
  await pool.query(
    `insert into pages.links select 'gm9901', 'Informatieobject', 'stuk', 'gm9901', 'Agendapunt', 'punt', ''`,
  );
  await pool.query(
    `update pages.position set feed_id = (select encode(feed_id, 'hex') from raadsfeed.feed), nummer = 3`,
  );

  expect(await migrate({ url: database.url, dir: MIGRATIONS, log: quiet })).toContain('1120-pages-search');
  // A server of the version before, which still runs, cannot read them again in its way.
  await expect(pool.query(`${insert} on conflict do nothing`)).rejects.toThrow('words_version');

  await client.query('begin; select from pages.position for update');
  const server = await startServer({
    databaseUrl: database.url,
    env: { AREAS: 'raadsfeed', RAADSFEED_RATE_LIMIT: '0', RAADSFEED_PAGES: 'true' },
  });
  onTestFinished(() => server.stop());
  const found = async (q: string): Promise<string[]> => {
    const answer = await fetch(`${server.url}/raad/zoeken.csv?q=${encodeURIComponent(q)}`);
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(';')[1] ?? '')
      .sort();
  };
  expect([await found('jeugdhulp'), await found('hulpverlening')]).toEqual([['Jeugdhulpverlening'], []]);
  // One record at a time, the meeting last: a batch of its own may have each.
  await client.query(`update pages.position set scan_after = 0, scan_to = 2`);
  await client.query('commit');
  const indexed = (): Promise<unknown> =>
    pool.query('select scan_after from pages.position').then(({ rows }) => rows[0]);
  await expect.poll(indexed).toEqual({ scan_after: 2 });
  await pool.query(`update pages.position set scan_to = 3`);
  while ((await followFeed(pool, PAGES_INDEX)) !== 'done') await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await found('hulpverlening')).toEqual(['Jeugdhulpverlening']);
  expect(await found('bestuur')).toEqual(['Jeugdhulpverlening', 'Vergadering v', 'Woningen']);
  expect(await found('raadzaal')).toEqual(['Vergadering v']);
  const { rows } = await pool.query(`select word, rows from pages.words order by word`);
  expect(rows).toEqual(
    ['bestuur', 'commissie', 'jeugdhulpverlening', 'raadzaal', 'vergadering', 'woningen'].map((word) => ({
      word,
      rows: ['bestuur', 'commissie'].includes(word) ? 3 : 1,
    })),
  );
});
