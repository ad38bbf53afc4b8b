/** Lists longer than any page or part: each is complete, or continues until its end. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agendapunt, document, vergadering } from '../support.ts';
import { crawl } from './crawl.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

const [BODIES, DOCUMENTS, ITEMS, REFERENCES] = [1_203, 5_301, 10_103, 640];

const numbered = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages({}, { now: () => new Date('2026-03-10T12:00:00Z') });
  await pages.publish(
    numbered(BODIES, (i) =>
      vergadering(`b-${i}`, {
        aanvang: '2026-03-11T18:00:00Z',
        georganiseerddoorgremium: { gremiumidentificatie: `c-${i}`, gremiumnaam: `Commissie ${i}` },
      }),
    ),
  );
  await pages.publish(numbered(DOCUMENTS, (i) => document(`d-${i}`, { titel: `Stuk ${i}` })));
  const of = { vergadering: { bronidentificatie: 'b-0' } };
  await pages.publish(numbered(ITEMS, (i) => agendapunt(`p-${i}`, { ...of, agendapuntnaam: `Punt ${i}` })));
  await pages.publishAndIndex([
    document('verwijst', {
      titel: 'Verwijst naar veel',
      agendapunten: numbered(REFERENCES, (i) => ({ bronidentificatie: `p-${i}` })),
    }),
  ]);
});
afterAll(() => pages?.stop());

/** The `identificatie` column of a file. */
function identifications(text: string): string[] {
  const [header = '', ...rows] = text
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\r\n');
  const column = header.split(';').indexOf('identificatie');
  return rows.map((row) => row.split(';')[column] ?? '');
}

it.each([
  ['/gm9901/gremia.csv', numbered(BODIES, (i) => `c-${i}`)],
  ['/gm9901/vergaderingen.csv', numbered(BODIES, (i) => `b-${i}`)],
  ['/gm9901/informatieobjecten.csv', [...numbered(DOCUMENTS, (i) => `d-${i}`), 'verwijst']],
  ['/gm9901/vergaderingen/b-0/agenda.csv', numbered(ITEMS, (i) => `p-${i}`)],
])('gives all of %s', async (path, expected) => {
  const { status, headers, text } = await pages.get(path);
  expect([status, headers.get('link'), headers.get('content-encoding')]).toEqual([200, null, 'gzip']);
  const found = identifications(text);
  expect(found).toHaveLength(expected.length);
  expect(new Set(found)).toEqual(new Set(expected));
  const plain = await fetch(`${pages.server.url}/raad${path}`, { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(identifications(await plain.text())).toEqual(found);
  const known = { 'if-none-match': plain.headers.get('etag') ?? '' };
  expect((await fetch(`${pages.server.url}/raad${path}`, { headers: known })).status).toBe(304);
});

it('has another ETag after a publication', async () => {
  const tag = async (): Promise<string | null> => (await pages.get('/gm9901/gremia.csv')).headers.get('etag');
  const before = await tag();
  expect(await tag()).toBe(before);
  await pages.publishAndIndex([document('later')]);
  expect(await tag()).not.toBe(before);
});

it('links from an agenda that exceeds its page to every item', async () => {
  const { text } = await pages.get('/gm9901/vergaderingen/b-0');
  expect(text).toMatch(/href="\/raad\/gm9901\/vergaderingen\/b-0\/agendapunten">Alle agendapunten</);
  const ids = new Set<string>();
  for (let next: string | undefined = '/gm9901/vergaderingen/b-0/agendapunten'; next !== undefined; ) {
    const { text: part } = await pages.get(next);
    for (const [, id = ''] of part.matchAll(/agendapunten\/(p-\d+)"/g)) ids.add(id);
    next = /href="\/raad([^"]*)">Volgende</.exec(part)?.[1];
  }
  expect(ids.size).toBe(ITEMS);
  expect((await pages.get(`/gm9901/agendapunten/p-${ITEMS - 1}`)).text).toContain(`Punt ${ITEMS - 1}`);
});

it('has every reference of a document', async () => {
  const address = '/gm9901/informatieobjecten/verwijst';
  const found = await crawl(pages, address, /informatieobjecten\/verwijst/);
  const ids = new Set([...[...found.values()].join().matchAll(/agendapunten\/(p-\d+)"/g)].map(([, id]) => id));
  expect(ids.size).toBe(REFERENCES);
  expect((await pages.get(`/gm9901/agendapunten/p-${REFERENCES - 1}`)).text).toContain('Verwijst naar veel');
});

it('has every item in the sitemaps, because each has a page', async () => {
  const index = (await pages.get('/sitemap.xml')).text;
  const maps = [...index.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address = '']) => address);
  const texts = await Promise.all(maps.map(async (map) => (await fetch(map)).text()));
  expect(new Set(texts.join().match(/agendapunten\/p-\d+</g)).size).toBe(ITEMS);
  for (const text of texts) expect(text.match(/<loc>/g)?.length).toBeLessThanOrEqual(50_000);
});
