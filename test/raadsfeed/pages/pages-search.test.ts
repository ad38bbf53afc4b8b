/** Search over the council information: what is found, how it is shown, and that the index contains only what the feed contains. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Db, transaction } from '../../../src/database/transaction.ts';
import { followFeed } from '../../../src/raadsfeed/follow-index.ts';
import { search } from '../../../src/raadsfeed/pages/search/find.ts';
import { datesIn, fold } from '../../../src/raadsfeed/pages/search/fold.ts';
import { PAGES_INDEX } from '../../../src/raadsfeed/pages/search/follow-feed.ts';
import { readQuery } from '../../../src/raadsfeed/pages/search/query.ts';
import { readWords } from '../../../src/raadsfeed/pages/search/words.ts';
import { readSearchAddress } from '../../../src/raadsfeed/pages/search.ts';
import { agendapunt, document, PATIENT, removal, vergadering } from '../support.ts';
import { type PagesServer, realMeeting, startPages } from './pages-fixture.ts';

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages();
  await pages.publishAndIndex([
    ...realMeeting(),
    // A document before its item, and the item before its meeting.
    document('voor', {
      titel: 'Begrotingswijziging riolering',
      auteur: 'Mw. J. de Vries-Müller',
      agendapunten: [{ bronidentificatie: 'punt' }],
    }),
    agendapunt('punt', {
      agendapuntnaam: 'Riolering aan de Kade',
      vergadering: { bronidentificatie: 'v-9' },
      omschrijving: 'De raad bespreekt de vervanging van riolen.',
    }),
    vergadering('v-9', {
      naam: 'Commissie Ruimte',
      aanvang: '2026-03-04T19:30:00Z',
      georganiseerddoorgremium: { gremiumidentificatie: 'ruimte', gremiumnaam: 'Commissie Ruimte' },
    }),
  ]);
});
afterAll(() => pages.stop());

async function titles(query: string): Promise<string[]> {
  const { status, text } = await pages.get(`/zoeken.csv?${query}`);
  expect(status).toBe(200);
  return text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.split(';')[1] ?? '');
}

it.each([
  ['a word in another form', 'q=begrotingswijzigingen', 'Begrotingswijziging riolering'],
  ['the beginning of a word', 'q=begroting', 'Begrotingswijziging riolering'],
  ['four letters of a beginning', 'q=begr', 'Begrotingswijziging riolering'],
  ['five letters of a beginning', 'q=riole', 'Begrotingswijziging riolering'],
  ['the beginning of one word and another whole', 'q=begrotings+vries', 'Begrotingswijziging riolering'],
  ['the beginning of a title and a word of the text', 'q=riolerin+vervanging', 'Riolering aan de Kade'],
  ['a name, without its accents', 'q=vries+muller', 'Begrotingswijziging riolering'],
  ['a name with accents', 'q=M%C3%BCller', 'Begrotingswijziging riolering'],
  ['a description', 'q=vervanging', 'Riolering aan de Kade'],
  ['one word or another', 'q=zzzzonbekend+OR+vervanging', 'Riolering aan de Kade'],
  ['a phrase', 'q=%22aan+de+kade%22', 'Riolering aan de Kade'],
  [
    'a real document',
    'q=assurance+deloitte',
    '01 Assurance rapport Deloitte inzake proces uitgifte exploitatievergunning segment Bemand groot',
  ],
])('finds %s', async (_what, query, title) => {
  expect(await titles(query)).toContain(title);
});

it.each([
  ['words in another order than the phrase', 'q=%22kade+riolering%22'],
  ['excluded words', 'q=riolering+-begrotingswijziging+-kade'],
  ['a word that does not occur', 'q=zzzzonbekend'],
  ['a beginning that continues differently', 'q=begrotingx'],
  ['a beginning of five letters that continues differently', 'q=riolx'],
  ['anything by exclusions alone', 'q=-kade'],
])('does not find %s', async (_what, query) => {
  expect(await titles(query)).toEqual([]);
});

it.each([
  'organisatie=gm9901&q=riolering',
  'gremium=ruimte&organisatie=gm9901&q=riolering',
  'soort=agendapunten&q=riolering',
  'van=2026-03-01&tot=2026-03-31&q=riolering',
])('filters by %s', async (query) => {
  expect(await titles(query)).toContain('Riolering aan de Kade');
});

it('excludes the rest', async () => {
  expect(await titles('organisatie=gm0363&q=riolering+kade')).toEqual([]);
  expect(await titles('soort=vergaderingen&q=riolering')).toEqual([]);
  expect(await titles('van=2026-03-05&q=kade')).toEqual([]);
  expect(await titles('gremium=anders&q=riolering')).toEqual([]);
  expect((await titles('gremium=ruimte&q=riolering')).toSorted()).toEqual([
    'Begrotingswijziging riolering',
    'Riolering aan de Kade',
  ]);
});

it('counts facets, highlights the words, and sorts by date', async () => {
  const { text } = await pages.get('/zoeken?q=riolering&organisatie=gm9901');
  expect(text).toContain('<mark class="utrecht-mark">Riolering</mark> aan de Kade');
  expect(text).toContain('2 resultaten');
  expect(text).toMatch(/soort=agendapunten[^>]*>Agendapunten<\/a> <span class="kv-quiet">1</);
  expect(text).toMatch(/gremium=ruimte[^>]*>Commissie Ruimte<\/a> <span class="kv-quiet">2</);
  const { text: marked } = await pages.get('/zoeken?q=riolen');
  expect(marked).toContain('vervanging van <mark class="utrecht-mark">riolen</mark>.');
  expect(await titles('q=riolering&sorteer=datum')).toEqual(['Riolering aan de Kade', 'Begrotingswijziging riolering']);
});

it.each([
  `q=${'a'.repeat(201)}`,
  'soort=iets',
  'van=2026-02-30',
  'organisatie=x',
  'pagina=0',
  'pagina=101',
  'pagina=1.5',
])('refuses %s with a page that explains it', async (query) => {
  const { status, text, headers } = await pages.get(`/zoeken?${query}`);
  expect(status).toBe(400);
  expect(headers.get('content-type')).toContain('text/html');
  expect(text).toContain('<h1');
});

it.each([
  '"',
  "'",
  '-',
  '&',
  '!:*',
  '((',
  'a:*b',
  '\\',
  '%',
  '--',
  'or',
  '<->',
  '"a" "',
  "'; drop table pages.items; --",
  '\u0001x\u0002',
  '😀',
  '\0',
])('treats %j as words', async (q) => {
  const { status } = await pages.get(`/zoeken?q=${encodeURIComponent(q)}`);
  expect(status).toBe(200);
});

it('parses a query as people type it', () => {
  const terms = (typed: string) =>
    readQuery(typed)?.groups.map((group) =>
      group.map(({ text, kind, isExcluded }) => `${isExcluded ? '-' : ''}${kind} ${text}`),
    );
  expect(terms('  De "open  Begroting" -Oud niéuw or ')).toEqual([
    ['word De', 'phrase open  Begroting', '-word Oud', 'word niéuw'],
  ]);
  expect(terms('12 maart 2026 OR 1-4-2026')).toEqual([['date 12 maart 2026'], ['date 1-4-2026']]);
  expect(terms('vergadering dinsdag 3 mrt. 2026')).toEqual([['word vergadering', 'date dinsdag 3 mrt. 2026']]);
  expect(terms('31-02-2026')).toEqual([['word 31-02-2026']]);
  expect(readQuery('-weg')).toBeUndefined();
  expect(readQuery(' .. ')).toBeUndefined();
  expect(readQuery('een '.repeat(13))?.isCut).toBe(true);
  expect(readSearchAddress({ q: ['een', 'twee'], sorteer: 'x' })).toMatchObject({
    q: 'een',
    sorteer: undefined,
    pagina: 1,
  });
});

it.each([
  ['Financiën, <b>', 'financien b'],
  ['Yılmaz Sørensen Łódź Straße Ærø', 'yilmaz sorensen lodz strasse aero'],
  ['ﬁjn İstanbul a\u0301 ŒUVRE Þór ẞ', 'fijn istanbul a oeuvre thor ss'],
  ["😀 BD2024-001/<b> wethouder's \\", 'bd2024 001 b wethouders'],
  ['x'.repeat(100), 'x'.repeat(60)],
])('folds %j to what people type', (text, folded) => {
  expect(fold(text)).toBe(folded);
});

it.each([
  ['op 12 maart 2026, om 12:00', ['20260312', '0312', '202603']],
  ['3 mrt. 2026 en 03-03-2026', ['20260303', '0303', '202603']],
  ['2026-12-01 | 1/12/2026 | 1.12.2026 | 1-12-2026', ['20261201', '1201', '202612']],
  ['in september 2025 of sept 2025', ['202509']],
  ['dinsdag 29 februari', ['0229']],
  ['30 februari 2026, 1-2-3, 112-3-2026', []],
])('recognises the days in %j', (text, found) => {
  expect(datesIn(text)).toEqual(found);
});

async function asOwner(query: string): Promise<void> {
  const client = new pg.Client(pages.databaseUrl);
  await client.connect();
  await client.query(query);
  await client.end();
}

/** Rows without feed records, above those that are checked one by one. */
async function withRows(count: number, words: string, work: () => Promise<void>): Promise<void> {
  await pages.pool.query(
    `insert into pages.items
     select -i, 'gm9901', 'Vergadering', 'vele-' || i, now(), 'Veelvoud', now(), null, null, null, null, '{}', $2::tsvector, -i, now()
       from generate_series(1, $1::integer) i`,
    [count, words],
  );
  try {
    await work();
  } finally {
    await pages.pool.query('delete from pages.items where number < 0');
  }
}

it('finds rare words by the word index among many rows', async () => {
  const plans: string[] = [];
  await withRows(2500, "'veelvoud':2A", async () => {
    await transaction(pages.pool, async (client) => {
      await client.query('set local enable_seqscan = off');
      const db: Db = {
        async query(query, values) {
          const { text, values: parameters } = typeof query === 'string' ? { text: query, values } : query;
          const { rows } = await client.query(`explain ${text}`, parameters);
          plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
          return await client.query(query, values);
        },
      };
      const query = readQuery('begrotingswijziging riolering');
      const words = query && (await readWords(client, query, []));
      const { total, isMore } = await search(db, { words, sort: 'relevantie', offset: 0, limit: 20 });
      expect({ total, isMore }).toEqual({ total: 1, isMore: false });
    });
  });
  expect(plans).toEqual([
    expect.stringContaining('items_newest'),
    expect.stringContaining('Bitmap Index Scan on items_words'),
  ]);
});

it('shows the best of common words first, however old, and says that not all were counted', async () => {
  await pages.publishAndIndex([
    document('oud', { titel: 'Veelvoud in de titel', datumingediend: '2001-01-01' }),
    document('ouder', { titel: 'Meer veelvoud in een titel', datumingediend: '2000-01-01' }),
  ]);
  await withRows(25_000, "'veelvoud':2A", async () => {
    await asOwner('analyze pages.items');
    const { text } = await pages.get('/zoeken?q=veelvoud');
    expect(text).toContain('Minstens 2.002 resultaten');
    const next = (await pages.get('/zoeken.csv?q=veelvoud')).headers.get('link');
    expect(next).toMatch(/^<http[^>]*\/raad\/zoeken\.csv\?q=veelvoud&pagina=2>; rel="next"$/);
    expect((await pages.get('/zoeken.csv?q=veelvoud&pagina=6')).headers.get('link')).toBeNull();
    expect((await titles('q=veelvoud')).slice(0, 2)).toEqual(['Veelvoud in de titel', 'Meer veelvoud in een titel']);
    expect(await titles('q=veelvoud&sorteer=oudste')).toEqual(['Meer veelvoud in een titel', 'Veelvoud in de titel']);
  });
  await asOwner('analyze pages.items');
});

it('finds a phrase of common words once, if few of the rows with the words have it', async () => {
  const documents = Array.from({ length: 30 }, (_, i) => document(`molen-${i}`, { titel: `De grote molen ${i}` }));
  await pages.publishAndIndex(documents);
  await withRows(5000, "'grote':2A 'molen':5A", async () => {
    const { text } = await pages.get('/zoeken?q=%22grote+molen%22');
    // By relevance titles are enough.
    expect(text).toContain('>Minstens 30 resultaten</h2>');
    expect((await pages.get('/zoeken?q=%22grote+molen%22&sorteer=datum')).text).toContain('>30 resultaten</h2>');
  });
});

it('answers each of eight hostile searches at once, or says that it is too expensive', async () => {
  const queries = [
    'woord '.repeat(1000),
    'de van en het in een op te voor met is aan',
    'a b c d e f g h i j k l',
    Array.from({ length: 12 }, () => 'veelvoud').join(' OR '),
    '"veelvoud veelvoud veelvoud"',
    'veelvoud -veelvoud',
    '-de veel veelv veelvo veelvou -"van een"',
    `${'"'.repeat(99)} ${'-'.repeat(99)}`,
  ];
  await withRows(25_000, "'veelvoud':2A,3A 'de':4A", async () => {
    await asOwner('analyze pages.items');
    const answers = await Promise.all(
      queries.map(async (q) => {
        const since = performance.now();
        const { status, text } = await pages.get(`/zoeken?q=${encodeURIComponent(q)}`);
        expect(text, q).toContain('<h1');
        return { status, ms: performance.now() - since };
      }),
    );
    expect(answers[0]?.status).toBe(400);
    for (const { status, ms } of answers.slice(1)) {
      expect([200, 503]).toContain(status);
      expect(ms).toBeLessThan(15_000);
    }
  });
  await asOwner('analyze pages.items');
});

it('forgets withdrawn and redacted items within a second, even before the index has heard', async () => {
  const secret = 'Geheimnaam Pietersen';
  await pages.publishAndIndex([document('geheim', { titel: secret }), document('weg', { titel: 'Weggehaald stuk' })]);
  expect(await titles('q=geheimnaam')).toEqual([secret]);
  const started = performance.now();
  await pages.publish([removal('redact', 'Informatieobject', 'geheim'), removal('delete', 'Informatieobject', 'weg')]);
  expect(await titles('q=geheimnaam')).toEqual([]);
  expect((await pages.get('/zoeken?q=weggehaald')).text).not.toContain('Weggehaald stuk');
  const held = async (): Promise<number> =>
    (await pages.pool.query(`select 1 from pages.items where titel ~ 'Geheimnaam|Weggehaald'`)).rows.length;
  await expect.poll(held, PATIENT).toBe(0);
  expect(performance.now() - started).toBeLessThan(5000);
});

it('serves no cached page with since redacted content, on any instance', async () => {
  const other = await pages.another();
  await pages.publishAndIndex([document('onthouden', { titel: 'Naam van Onthouden' })]);
  const read = async (path: string): Promise<string[]> =>
    await Promise.all(
      [pages.server.url, other.server.url].map(async (url) => await (await fetch(`${url}/raad${path}`)).text()),
    );
  const paths = ['/gm9901/informatieobjecten/onthouden', '/zoeken?q=onthouden'];
  for (const path of paths) await read(path);
  for (const text of (await Promise.all(paths.map(read))).flat()) expect(text).toMatch(/van (<mark[^>]*>)?Onthouden/);
  await pages.publish([removal('redact', 'Informatieobject', 'onthouden')]);
  for (const text of (await Promise.all(paths.map(read))).flat())
    expect(text).not.toMatch(/van (<mark[^>]*>)?Onthouden/);
});

it('starts from the current state when the feed is another one', async () => {
  await pages.pool.query(`update pages.position set feed_id = 'anders'`);
  await expect
    .poll(async () => {
      await followFeed(pages.pool, PAGES_INDEX);
      return (await titles('q=kade')).length;
    }, PATIENT)
    .toBe(1);
});
