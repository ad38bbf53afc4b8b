/** Lists and feeds are complete, with the newest first; and no link is a dead end. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { document, vergadering } from '../support.ts';
import { readXml } from '../xml-reader.ts';
import { crawl, missing, readPage } from './crawl.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

const RAAD = { georganiseerddoorgremium: { gremiumidentificatie: 'raad', gremiumnaam: 'Gemeenteraad' } };

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages({}, { now: () => new Date('2026-03-10T12:00:00Z') });
});
afterAll(() => pages.stop());
const read = (path: string): Promise<string> => readPage(pages, path);

it('shows the documents received last first, whatever their own date, in every list and feed', async () => {
  await pages.publishAndIndex([
    vergadering('nieuw-v', { aanvang: '2026-03-09T18:00:00Z', ...RAAD }),
    ...Array.from({ length: 60 }, (_, i) =>
      document(`recent-${i}`, {
        titel: `Recent dossier ${i}`,
        datumingediend: '2026-03-09',
        vergaderingen: [{ bronidentificatie: 'nieuw-v' }],
      }),
    ),
  ]);
  await pages.publishAndIndex([
    document('laat', {
      titel: 'Laat ingediend dossier',
      datumingediend: '2026-01-09',
      vergaderingen: [{ bronidentificatie: 'nieuw-v' }],
    }),
  ]);
  // A changed document is not new.
  await pages.publishAndIndex([
    document('recent-3', {
      titel: 'Recent dossier, gewijzigd',
      datumingediend: '2026-03-09',
      vergaderingen: [{ bronidentificatie: 'nieuw-v' }],
    }),
  ]);
  for (const path of [
    '',
    '/gm9901',
    '/gm9901?gremium=raad',
    '/gm9901/documenten.atom',
    '/gm9901/documenten.atom?gremium=raad',
    '/gm9901/informatieobjecten.csv',
    '/zoeken?organisatie=gm9901&soort=informatieobjecten',
    '/zoeken?q=dossier&sorteer=nieuwste',
    '/zoeken.atom?organisatie=gm9901',
  ]) {
    const { text } = await pages.get(path);
    const plain = text.replaceAll(/<\/?mark[^>]*>/g, '');
    const [late, changed] = ['Laat ingediend dossier', 'Recent dossier, gewijzigd'].map((title) =>
      plain.indexOf(title),
    );
    expect(late, path).toBeGreaterThan(0);
    expect(changed === -1 || (changed ?? 0) > (late ?? 0), path).toBe(true);
  }
  const { text } = await pages.get('/gm9901');
  expect(text).toMatch(/Laat ingediend dossier<\/a>[\s\S]{0,300}9 januari 2026/);
  expect(await read('/gm9901/informatieobjecten/laat')).toMatch(
    /Gepubliceerd<\/dt><dd[^>]*>10 maart 2026 om 13:00 uur/,
  );
});

it('gives a follower every new document once, by the links of the Atom feed', async () => {
  await pages.publishAndIndex([
    vergadering('volg', {
      aanvang: '2026-03-09T18:00:00Z',
      georganiseerddoorgremium: { gremiumidentificatie: 'volg', gremiumnaam: 'Volgers' },
    }),
  ]);
  const ids = Array.from({ length: 120 }, (_, i) => `volg-${i}`);
  await pages.publishAndIndex(
    ids.map((id) => document(id, { titel: `Volgdossier ${id}`, vergaderingen: [{ bronidentificatie: 'volg' }] })),
  );
  for (const start of ['/gm9901/documenten.atom?gremium=volg', '/zoeken.atom?q=volgdossier']) {
    const found: string[] = [];
    for (let path: string | undefined = start; path !== undefined; ) {
      const feed = readXml((await pages.get(path)).text);
      const entries = feed.children.filter(({ name }) => name === 'entry');
      found.push(
        ...entries.map(
          ({ children }) =>
            children
              .find(({ name }) => name === 'id')
              ?.text.split(':')
              .at(-1) ?? '',
        ),
      );
      const next = feed.children.find(({ name, attributes }) => name === 'link' && attributes.rel === 'next');
      path = next?.attributes.href?.replace(/^.*\/raad/, '');
    }
    expect(found, start).toEqual(ids.toReversed());
  }
});

it('leads a follower on while the index still has withdrawn documents', async () => {
  await pages.publishAndIndex(
    Array.from({ length: 51 }, (_, i) => document(`rest-${i}`, { titel: `Restdossier ${i}` })),
  );
  await pages.pool.query(`insert into pages.items select -1, 'gm9901', 'Informatieobject', 'rest-weg', now(), 'Restdossier', now(), null, null, null, null, '{}',
    'restdossier:2A', 9000000000000000, now()`);
  const { text } = await pages.get('/zoeken.atom?q=restdossier');
  expect(text.match(/<entry>/g)).toHaveLength(50);
  expect(text).toContain('rel="next"');
  await pages.pool.query('delete from pages.items where number < 0');
});

it('keeps coming meetings in a calendar that holds fewer meetings than there were', async () => {
  const organisation = { gemeente: 'gm9907', naam: 'Gemeente Vol' };
  await pages.publishAndIndex([
    ...Array.from({ length: 2000 }, (_, i) =>
      vergadering(`vol-${i}`, { aanvang: `2026-02-${String(1 + (i % 28)).padStart(2, '0')}T18:00:00Z` }, organisation),
    ),
    vergadering('komt', { naam: 'De komende', aanvang: '2026-04-01T18:00:00Z' }, organisation),
  ]);
  const { text } = await pages.get('/gm9907/agenda.ics');
  expect(text.match(/BEGIN:VEVENT/g)).toHaveLength(2000);
  expect(text).toContain('SUMMARY:De komende');
});

it('reaches every version of the history, and every organisation and body', async () => {
  for (let i = 0; i < 50; i += 1)
    await pages.publish([document('vaak', { titel: 'Vaak gewijzigd', auteur: `Versie ${i}` })]);
  await pages.publishAndIndex([]);
  const history = await crawl(pages, '/gm9901/informatieobjecten/vaak', /informatieobjecten\/vaak\/geschiedenis/);
  const changes = [...history.values()].join().match(/: gewijzigd: auteur|: gepubliceerd</g) ?? [];
  expect([changes.length, changes.filter((one) => one.includes('gepubliceerd')).length]).toEqual([50, 1]);

  await pages.publishAndIndex(
    Array.from({ length: 60 }, (_, i) => [
      vergadering(`c-${i}`, {
        aanvang: '2026-03-11T18:00:00Z',
        georganiseerddoorgremium: { gremiumidentificatie: `c-${i}`, gremiumnaam: `Commissie ${i}` },
      }),
      vergadering('v', {}, { gemeente: `gm${1000 + i}`, naam: `Gemeente ${String.fromCharCode(90 - (i % 26))}${i}` }),
    ]).flat(),
  );
  const bodies = await crawl(pages, '/gm9901', /^\/gm9901\/gremia/);
  for (let i = 0; i < 60; i += 1) expect([...bodies.values()].join()).toContain(`>Commissie ${i}<`);
  const front = await read('');
  const names = [
    ...(/id="organisaties"[\s\S]*<ul class="kv-cards">([\s\S]*?)<\/ul>/.exec(front)?.[1] ?? '').matchAll(
      /">(Gemeente [^<]*)<\/a>/g,
    ),
  ].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(names).toEqual(names.toSorted(new Intl.Collator('nl', { numeric: true }).compare));
  const all = await read('/organisaties');
  for (let i = 0; i < 60; i += 1) expect(all).toContain(`href="/raad/gm${1000 + i}"`);
});

it('shows every meeting of a month, the parts of a meeting in order, and no future meeting as the last one', async () => {
  await pages.publishAndIndex([
    ...Array.from({ length: 230 }, (_, i) =>
      vergadering(`m-${i}`, {
        naam: `Maandvergadering ${i}`,
        aanvang: `2026-05-${String(1 + (i % 28)).padStart(2, '0')}T18:00:00Z`,
      }),
    ),
    vergadering('geheel', { aanvang: '2026-06-01T09:00:00Z' }),
    ...[3, 1, 2].map((i) =>
      vergadering(`dag-${i}`, {
        naam: `Dag ${i}`,
        aanvang: `2026-06-0${i}T09:00:00Z`,
        hoofdvergadering: { bronidentificatie: 'geheel' },
      }),
    ),
    vergadering('ooit', {
      aanvang: '2026-02-03T18:00:00Z',
      georganiseerddoorgremium: { gremiumidentificatie: 'komt', gremiumnaam: 'Aaa komt nog' },
    }),
    vergadering('later', {
      aanvang: '2026-09-03T18:00:00Z',
      georganiseerddoorgremium: { gremiumidentificatie: 'komt', gremiumnaam: 'Aaa komt nog' },
    }),
    vergadering('voorbij', {
      aanvang: '2026-02-04T18:00:00Z',
      georganiseerddoorgremium: { gremiumidentificatie: 'was', gremiumnaam: 'Aab was er' },
    }),
  ]);
  const month = [...(await crawl(pages, '/gm9901?maand=2026-05', /maand=2026-05&vanaf/)).values()];
  expect(
    missing(
      month,
      Array.from({ length: 230 }, (_, i) => `m-${i}`),
    ),
  ).toEqual([]);
  const parts = [...(await read('/gm9901/vergaderingen/geheel')).matchAll(/>(Dag \d)</g)].map(([, name]) => name);
  expect(parts).toEqual(['Dag 1', 'Dag 2', 'Dag 3']);
  const text = await read('/gm9901');
  expect(text).toMatch(/Aaa komt nog<\/a>\s*<p[^>]*>2 vergaderingen, volgende op 3 september 2026<\/p>/);
  expect(text).toMatch(/Aab was er<\/a>\s*<p[^>]*>1 vergadering, laatste op 4 februari 2026<\/p>/);
});

it('links to a body whose identification does not fit in a path', async () => {
  const gremiumidentificatie = 'g'.repeat(10_000);
  await pages.publishAndIndex([
    vergadering('lange-id', {
      naam: 'Van de lange',
      aanvang: '2026-03-20T18:00:00Z',
      georganiseerddoorgremium: { gremiumidentificatie, gremiumnaam: 'De lange' },
    }),
  ]);
  const [, path = ''] =
    /href="\/raad(\/gm9901\?gremium=g[^"]*)"/.exec(await read('/gm9901/vergaderingen/lange-id')) ?? [];
  expect(path.length).toBeLessThan(1000);
  const text = await read(path.replaceAll('&amp;', '&'));
  expect(text).toContain('De lange, Gemeente Voorbeeldstad');
  expect(text).toContain('Van de lange');
  expect(text).not.toContain('/vergaderingen/geheel"');
});

it('answers 304 for known content: pages, calendars, Atom and CSV', async () => {
  for (const path of [
    '',
    '/gm9901',
    '/gm9901/vergaderingen/geheel',

    '/gm9901/informatieobjecten/laat',
    '/zoeken?q=dossier',
    '/gm9901/agenda.ics',
    '/gm9901/documenten.atom',
    '/gm9901/informatieobjecten.csv',
    '/organisaties.csv',
  ]) {
    const { headers } = await pages.get(path);
    const etag = headers.get('etag') ?? '';
    expect(etag, path).toMatch(/^W\/"[^"]+"$/);
    const again = await fetch(`${pages.server.url}/raad${path}`, { headers: { 'if-none-match': etag } });
    expect([path, again.status]).toEqual([path, 304]);
  }
});

it('makes no link of an address with credentials', async () => {
  await pages.publishAndIndex([
    document('verborgen', {
      titel: 'Verborgen',
      bestandsurl: 'https://www.overheid.nl@elders.example/',
      webpaginalink: 'https://jan:geheim@elders.example/',
    }),
  ]);
  for (const path of ['/gm9901/informatieobjecten/verborgen', '/zoeken?q=verborgen', '/gm9901/documenten.atom'])
    expect((await pages.get(path)).text).not.toMatch(/href="[^"]*@/);
});

it('says that it is too busy without technical terms', async () => {
  const limited = await pages.another({ RAADSFEED_RATE_LIMIT: '1' });
  const answers = await Promise.all(
    Array.from({ length: 5 }, async (_, i) => {
      const answer = await fetch(`${limited.server.url}/raad/zoeken?q=${i}`);
      return { status: answer.status, text: await answer.text() };
    }),
  );
  const refused = answers.find(({ status }) => status === 429)?.text ?? '';
  expect(refused).toContain('Wacht een minuut en probeer het dan opnieuw.');
  expect(refused).not.toMatch(/`|[Kk]op |Retry-After/);
});
