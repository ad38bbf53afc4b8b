/** Whatever a meeting, an item or a text contains: a reader can reach all of it by the links of the pages. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agendapunt, document, vergadering } from '../support.ts';
import { crawl, missing, readPage, readPageLike } from './crawl.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

const RAAD = { georganiseerddoorgremium: { gremiumidentificatie: 'raad', gremiumnaam: 'Gemeenteraad' } };
const TEXT = Array.from({ length: 1000 }, (_, i) => `woord${i}`)
  .join(' ')
  .padEnd(10_000, ' eindtekst')
  .slice(0, 10_000);
let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages({}, { now: () => new Date('2026-03-10T12:00:00Z') });
});
afterAll(() => pages.stop());
const read = (path: string): Promise<string> => readPage(pages, path);

const of = (id: string) => ({ vergadering: { bronidentificatie: id } });
const under = (id: string) => ({ agendapunten: [{ bronidentificatie: id }] });

it('reaches every item and document of a meeting with 40 items and 12 documents each', async () => {
  const items = Array.from({ length: 40 }, (_, i) => `veel-${i}`);
  const documents = items.flatMap((item) => Array.from({ length: 12 }, (_, i) => `${item}-stuk-${i}`));
  await pages.publishAndIndex([
    vergadering('veel', { aanvang: '2026-03-12T18:00:00Z', ...RAAD }),
    ...items.map((id, i) =>
      agendapunt(id, {
        ...of('veel'),
        volgnummer: String(i + 1),
        omschrijving: 'Toelichting bij het punt. '.repeat(9),
      }),
    ),
    ...documents.map((id) =>
      document(id, {
        titel: `Raadsvoorstel over het bestemmingsplan ${id}`,
        ...under(id.replace(/-stuk.*/, '')),
        bestandsurl: `https://raad.example/stukken/${id}.pdf`,
      }),
    ),
  ]);
  const agenda = await crawl(pages, '/gm9901/vergaderingen/veel', /^\/gm9901\/vergaderingen\/veel(\?|$)/);
  expect(missing(agenda.values(), [...items, ...documents])).toEqual([]);
  for (const [i, item] of items.entries()) {
    const page = await (i === 0 ? readPage : readPageLike)(pages, `/gm9901/agendapunten/${item}`);
    expect(page, 'a fact without a value').not.toMatch(/<dd[^>]*><\/dd>/);
    expect(
      missing(
        [page],
        documents.filter((id) => id.startsWith(`${item}-`)),
      ),
    ).toEqual([]);
    const [, path = '', anchor = ''] = /href="\/raad([^"#]*)#([^"]*)">Toon dit punt in de agenda/.exec(page) ?? [];
    expect(agenda.get(path.replaceAll('&amp;', '&'))).toContain(`<li id="${anchor}">`);
    // The index of each part leads to every item.
    for (const text of agenda.values()) expect(text).toContain(`#${anchor}"><span>${i + 1}</span>`);
  }
});

it('reaches 200 documents of one item, and 480 of a meeting itself', async () => {
  const [ofItem, loose] = [
    Array.from({ length: 200 }, (_, i) => `bij-punt-${i}`),
    Array.from({ length: 480 }, (_, i) => `los-${i}`),
  ];
  await pages.publishAndIndex([
    vergadering('vol', { aanvang: '2026-03-13T18:00:00Z', ...RAAD }),
    agendapunt('vol-1', { ...of('vol'), agendapuntnaam: 'Begroting' }),
    ...ofItem.map((id) => document(id, { ...under('vol-1'), vergaderingen: [{ bronidentificatie: 'vol' }] })),
    ...loose.map((id) => document(id, { vergaderingen: [{ bronidentificatie: 'vol' }] })),
  ]);
  const item = await crawl(pages, '/gm9901/agendapunten/vol-1', /^\/gm9901\/agendapunten\/vol-1(\?|$)/);
  expect(missing(item.values(), ofItem)).toEqual([]);
  const meeting = await crawl(pages, '/gm9901/vergaderingen/vol', /^\/gm9901\/vergaderingen\/vol/);
  expect(missing(meeting.values(), loose)).toEqual([]);
  expect([...meeting.values()].join()).toContain('Alle 200 documenten');
  // Backwards too.
  const last = [...meeting.keys()].filter((path) => path.includes('vanaf')).at(-1) ?? '';
  expect(missing((await crawl(pages, last, /informatieobjecten\?|informatieobjecten$/)).values(), loose)).toEqual([]);
});

it('answers a position far past the end', async () => {
  const paths = ['agendapunten/vol-1', 'vergaderingen/vol', 'informatieobjecten', 'gremia', 'vergaderingen'];
  for (const path of paths) {
    const { status } = await pages.get(`/gm9901/${path}?vanaf=999999999999999`);
    expect(status, path).toBeLessThan(500);
  }
});

it('shows a text of 10 000 characters in full, and search leads to the page with the match', async () => {
  const texts = {
    naam: `${'Lange naam '.repeat(60)}naameinde`,
    aanvang: '2026-03-14T18:00:00Z',
    vergadertoelichting: `${TEXT} toelichtingeinde`,
  };
  await pages.publishAndIndex([
    vergadering('lang', texts),
    agendapunt('lang-1', {
      ...of('lang'),
      agendapuntnaam: `${'Lang punt '.repeat(60)}punteinde`,
      omschrijving: `${TEXT} omschrijvingeinde`,
      overig: `${TEXT} overigeinde`,
    }),
    document('lang-d', { titel: `${'Lange titel '.repeat(60)}titeleinde`, omschrijving: `${TEXT} documenteinde` }),
  ]);
  for (const [path, ends] of [
    ['/gm9901/vergaderingen/lang', ['naameinde', 'toelichtingeinde']],
    ['/gm9901/agendapunten/lang-1', ['punteinde', 'omschrijvingeinde', 'overigeinde']],
    ['/gm9901/informatieobjecten/lang-d', ['titeleinde', 'documenteinde']],
  ] as const) {
    const found = [...(await crawl(pages, path, new RegExp(`^${path}`))).values()].join();
    for (const end of [...ends, 'woord999', 'eindtekst']) expect(found, `${path} ${end}`).toContain(end);
  }
  const item = await read('/gm9901/agendapunten/lang-1/tekst');
  expect(item).toContain(TEXT);
  const { text: results } = await pages.get('/zoeken?q=omschrijvingeinde');
  const [, address = ''] = /kv-list__title"><a [^>]*href="\/raad([^"]*)"/.exec(results) ?? [];
  expect([...(await crawl(pages, address, new RegExp(`^${address}`))).values()].join()).toContain('omschrijvingeinde');
  // The description in the agenda leads on.
  expect(await read('/gm9901/vergaderingen/lang')).toMatch(/href="\/raad\/gm9901\/agendapunten\/lang-1">Lees verder/);
});

it('cuts no character in two, wherever a text is shortened', async () => {
  const emoji = (offset: number): string => `${'x'.repeat(offset)}${'👩‍👩‍👧'.repeat(400)}`;
  await pages.publishAndIndex(
    Array.from({ length: 9 }, (_, i) => [
      vergadering(`e-${i}`, {
        naam: emoji(i),
        aanvang: '2026-03-10T18:00:00Z',
        locatie: emoji(i),
        georganiseerddoorgremium: { gremiumidentificatie: `e-${i}`, gremiumnaam: emoji(i) },
      }),
      agendapunt(`ep-${i}`, {
        ...of(`e-${i}`),
        agendapuntnaam: emoji(i),
        omschrijving: emoji(i),
        tussenkop: emoji(i),
        volgnummer: emoji(i),
      }),
      document(`ed-${i}`, {
        ...under(`ep-${i}`),
        titel: emoji(i),
        omschrijving: emoji(i),
        auteur: emoji(i),
        informatieobjecttype: emoji(i),
      }),
    ]).flat(),
  );
  const paths = [
    '',
    '/gm9901',
    '/gm9901/gremia',
    '/zoeken',
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((i) => [
      `/gm9901/vergaderingen/e-${i}`,
      `/gm9901/agendapunten/ep-${i}`,
      `/gm9901/informatieobjecten/ed-${i}`,
    ]),
  ];
  for (const path of paths) {
    const text = await (/[2-8]$/.test(path) ? readPageLike : readPage)(pages, path);
    // A truncated family emoji ends with a joiner.
    expect(text, path).not.toMatch(/\u200d…/);
  }
  for (const path of ['/gm9901/agenda.ics', '/gm9901/documenten.atom', '/zoeken.csv'])
    expect((await pages.get(path)).text.replaceAll('\r\n ', ''), path).not.toMatch(/\ufffd|\u200d…/);
});
