/** Search over the council information: what is found, how it is shown, and that the index has nothing that the feed has not. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Db, transaction } from '../../../src/database/transaction.ts';
import { search } from '../../../src/extensions/pages/search/find.ts';
import { fold, readQuery } from '../../../src/extensions/pages/search/fold.ts';
import { followStep } from '../../../src/extensions/pages/search/follow-feed.ts';
import { readSearchAddress } from '../../../src/extensions/pages/search.ts';
import { agendapunt, document, PATIENT, removal, vergadering } from '../../raadsfeed/support.ts';
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
  ['what is excluded', 'q=riolering+-begrotingswijziging+-kade'],
  ['a word that nobody wrote', 'q=zzzzonbekend'],
  ['a beginning that goes on otherwise', 'q=begrotingx'],
  ['a beginning of five letters that goes on otherwise', 'q=riolx'],
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

it('filters the rest out', async () => {
  expect(await titles('organisatie=gm0363&q=riolering+kade')).toEqual([]);
  expect(await titles('soort=vergaderingen&q=riolering')).toEqual([]);
  expect(await titles('van=2026-03-05&q=kade')).toEqual([]);
  expect(await titles('gremium=anders&q=riolering')).toEqual([]);
  expect((await titles('gremium=ruimte&q=riolering')).toSorted()).toEqual([
    'Begrotingswijziging riolering',
    'Riolering aan de Kade',
  ]);
});

it('counts facets, marks the words, and sorts by date', async () => {
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
])('refuses %s with a page that says why', async (query) => {
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
])('takes %j for words', async (q) => {
  const { status } = await pages.get(`/zoeken?q=${encodeURIComponent(q)}`);
  expect(status).toBe(200);
});

it('reads a query as people type it', () => {
  expect(readQuery('  De "open  Begroting" -Oud niéuw or ')).toEqual({
    web: 'de "open begroting" -oud nieuw or',
    beginnings: null,
  });
  expect(readQuery('weg en wegen onderwijs')).toEqual({
    web: 'weg en wegen onderwijs',
    beginnings: 'weg & en & wegen:* & onderwijs:*',
  });
  expect(readQuery('-weg')).toBeUndefined();
  expect(readQuery(' .. ')).toBeUndefined();
  expect(readSearchAddress({ q: ['een', 'twee'], sorteer: 'x' })).toMatchObject({
    q: 'een',
    sorteer: undefined,
    pagina: 1,
  });
});

it('folds to the same length, so that highlights are where the words are', () => {
  for (const text of ['Financiën', 'ﬁjn ß İstanbul', '😀 a\u0301', 'BD2024-001/<b>'])
    expect(fold(text)).toHaveLength(text.length);
  expect(fold('Financiën, <b>')).toBe('financien   b ');
});

it('finds words by the index of words, in two statements', async () => {
  const plans: string[] = [];
  await transaction(pages.pool, async (client) => {
    await client.query('set local enable_seqscan = off; set local enable_indexscan = off');
    const db: Db = {
      async query(query, values) {
        const { text, values: parameters } = Object(query);
        const { rows } = await client.query(`explain ${text}`, parameters);
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return await client.query(query, values);
      },
    };
    const query = readQuery('begrotingswijziging riolering');
    await search(db, { query, sort: 'relevantie', offset: 0, limit: 20 });
  });
  const byWords = expect.stringContaining('Bitmap Index Scan on items_woorden');
  expect(plans).toEqual([byWords, byWords]);
});

it('says on the page that only the newest two thousand are counted, and how to find the others', async () => {
  await pages.pool.query(`insert into pages.items select -i, 'gm9901', 'Vergadering', 'vele-' || i, now(), 'Veelvoud', now(), null, null, null, null, '{}',
    to_tsvector('dutch', 'veelvoud'), i, now() from generate_series(1, 2001) i`);
  const { text } = await pages.get('/zoeken?q=veelvoud');
  expect(text).toContain('Meer dan 2.000 resultaten');
  expect(text).toContain('U ziet de 2.000 nieuwste');
  await pages.pool.query(`delete from pages.items where nummer < 0`);
});

it('forgets what is withdrawn or redacted within a second, also before the index has heard', async () => {
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

it('serves no cached page with content that was redacted since, on any instance', async () => {
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
      await followStep(pages.pool);
      return (await titles('q=kade')).length;
    }, PATIENT)
    .toBe(1);
});
