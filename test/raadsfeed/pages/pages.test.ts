/** The pages of the council information in every state, over HTTP: their contents, their cost, and that they are valid HTML. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { transaction } from '../../../src/database/transaction.ts';
import { publishBatch } from '../../../src/raadsfeed/store/publish.ts';
import { htmlFaults } from '../../support/html.ts';
import { agendapunt, changeOf, document, PATIENT, removal, vergadering } from '../support.ts';
import { behindItsSource, type PagesServer, realMeeting, startPages } from './pages-fixture.ts';

const HOSTILE = `<img src=x onerror=alert(1)>"'&</title></script><script>alert(1)</script>\u202e`;

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages({ RAADSFEED_ROL: 'aggregator' });
});
afterAll(() => pages.stop());

/** Gets a page and validates it. */
async function read(path: string, status = 200): Promise<string> {
  const answer = await pages.get(path);
  expect(answer.status, path).toBe(status);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(answer.headers.get('content-security-policy')).not.toContain('unsafe');
  expect(await htmlFaults(answer.text), path).toEqual([]);
  expect(Buffer.byteLength(answer.text)).toBeLessThan(150_000);
  expect(answer.text).toContain('<html lang="nl">');
  expect(answer.text).toMatch(/<meta name="description" content="[^"]+">/);
  return answer.text;
}

it('says that there is nothing yet', async () => {
  expect(await read('')).toContain('Er is nog niets gepubliceerd.');
  expect(await read('/zoeken')).toContain('Er is nog niets gepubliceerd');
  expect((await pages.get('/sitemap.xml')).text).toContain('</sitemapindex>');
});

it('answers an error with a page that helps the reader on', async () => {
  for (const path of [
    '/gm9901',
    '/x',
    '/gm9901/vergaderingen/v-1',
    '/gm9901/iets/v-1',
    '/a/b/c/d',
    '/gm9901/agenda.ics',
  ]) {
    expect(await read(path, 404)).toContain('Naar het begin');
  }
  const posted = await fetch(`${pages.server.url}/raad`, { method: 'POST' });
  expect(posted.status).toBe(405);
  const text = await posted.text();
  expect(text).toContain('Deze pagina kunt u alleen bekijken.');
  // Details of an error for programs are not on the page.
  expect(text).not.toMatch(/`|[Kk]op |Allow/);
});

it('shows a real meeting with its agenda, documents, history, and the machine-readable version', async () => {
  await pages.publishAndIndex(realMeeting());
  const text = await read('/gm0363/vergaderingen/meeting-458902');
  expect(text).toContain('raadscommissie Financiën');
  expect(text).toContain('donderdag 8 februari 2018, 13:30 uur');
  expect(text).toContain('gepubliceerd');
  expect(text.indexOf('Vaststellen agenda')).toBeLessThan(text.indexOf('Rondvraag'));
  expect(text).toMatch(/document-6160186">1 {2}Brief wethouder Kock/);
  expect(text).toContain(`<link rel="canonical" href="${pages.server.url}/raad/gm0363/vergaderingen/meeting-458902">`);
  const json = /<link rel="alternate" type="application\/json" href="([^"]+)">/.exec(text)?.[1] ?? '';
  const resource: unknown = await (await fetch(json)).json();
  expect(resource).toMatchObject({ bronidentificatie: 'meeting-458902' });
  const data: unknown = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/.exec(text)?.[1] ?? '');
  expect(data).toMatchObject({
    '@type': 'Event',
    startDate: '2018-02-08T12:30:00.000Z',
    name: 'raadscommissie Financiën',
  });
  const document = await read('/gm0363/informatieobjecten/document-6160186');
  expect(document).toContain('"@type":"DigitalDocument"');
  expect(document).toContain('1,4\u00a0MB');
  expect(document).toContain('href="https://api.notubiz.nl/document/6160186/1"');
  expect(document).toContain('/raad/gm0363/vergaderingen/meeting-458902');
  expect(await read('/gm0363')).toContain('Vergaderingen in februari 2018');
  expect(await read('/gm0363?maand=2018-03')).toContain('In deze maand zijn er geen vergaderingen.');
  expect(await read('/gm0363?gremium=4972')).toContain('raadscommissie Financiën, Gemeente Amsterdam');
  const documents = (await pages.get('/gm0363/informatieobjecten')).headers.get('location') ?? '';
  expect(documents).toBe('/raad/zoeken?organisatie=gm0363&soort=informatieobjecten');
  expect(await read(documents.slice('/raad'.length))).toContain('Pagina 1');
  await read(`${documents.slice('/raad'.length)}&pagina=2`);
  await read('/zoeken?q=brief');
});

it('shows the agenda as a tree, with closed items and outcomes', async () => {
  const of = { vergadering: { bronidentificatie: 'boom' } };
  await pages.publishAndIndex([
    vergadering('boom', {
      naam: 'Raad met boom',
      aanvang: '2026-05-05T18:00:00Z',
      vergaderstatus: 'Geannuleerd',
      georganiseerddoorgremium: { gremiumidentificatie: 'raad', gremiumnaam: 'Gemeenteraad' },
      deelvergaderingen: [{ bronidentificatie: 'deel' }],
    }),
    vergadering('deel', {
      naam: 'Voortzetting',
      aanvang: '2026-05-06T18:00:00Z',
      hoofdvergadering: { bronidentificatie: 'boom' },
    }),
    vergadering('eerder', {
      aanvang: '2026-04-07T18:00:00Z',
      georganiseerddoorgremium: { gremiumidentificatie: 'raad', gremiumnaam: 'Gemeenteraad' },
    }),
    agendapunt('b-2', { ...of, agendapuntnaam: 'Geheim overleg', volgnummer: '2', indicatiebesloten: true }),
    agendapunt('b-1', {
      ...of,
      agendapuntnaam: 'Opening',
      volgnummer: '1',
      indicatiebehandeld: true,
      starttijd: '2026-05-05T18:00:00Z',
    }),
    agendapunt('b-1a', {
      ...of,
      agendapuntnaam: 'Mededelingen',
      volgnummer: '1.a',
      hoofdagendapunt: { bronidentificatie: 'b-1' },
    }),
    agendapunt('b-3', { ...of, agendapuntnaam: 'Schorsing', volgnummer: '10', indicatiehamerstuk: true }),
    // Each other's parent: shown, once.
    agendapunt('lus-1', {
      ...of,
      volgnummer: '11',
      agendapuntnaam: 'Lus een',
      hoofdagendapunt: { bronidentificatie: 'lus-2' },
    }),
    agendapunt('lus-2', {
      ...of,
      volgnummer: '12',
      agendapuntnaam: 'Lus twee',
      hoofdagendapunt: { bronidentificatie: 'lus-1' },
    }),
  ]);
  const text = await read('/gm9901/vergaderingen/boom');
  const names = ['Opening', 'Mededelingen', 'Geheim overleg', 'Schorsing', 'Lus een', 'Lus twee'];
  const places = names.map((name) => text.indexOf(`>${name}<`));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(Math.min(...places)).toBeGreaterThan(0);
  for (const name of names) expect(text.split(`>${name}<`)).toHaveLength(2);
  expect(text).toMatch(
    /Geheim overleg<\/a><\/span>\s+<span class="utrecht-status-badge utrecht-status-badge--warning">Besloten/,
  );
  expect(text).toMatch(/Opening<\/a><\/span>\s*<span[^>]*>Behandeld/);
  expect(text).toMatch(/<li id="punt-b-1">.*?<ol><li id="punt-b-1a">/s);
  expect(text).toContain('Gaat niet door');
  expect(text).toContain('EventCancelled');
  expect(text).toContain('Voortzetting');
  expect(text).toContain('Vorige: dinsdag 7 april 2026');
  expect(await read('/gm9901/vergaderingen/deel')).toContain('Deel van');
  const item = await read('/gm9901/agendapunten/b-1a');
  expect(item).toContain('href="/raad/gm9901/vergaderingen/boom#punt-b-1a">Toon dit punt in de agenda<');
  expect(item).toMatch(/Hoort bij<\/dt><dd[^>]*><a [^>]*agendapunten\/b-1">Opening</);
});

it('shows what changed when', async () => {
  await pages.publishAndIndex([vergadering('anders', { locatie: 'Zaal 1' })]);
  await pages.publishAndIndex([vergadering('anders', { locatie: 'Zaal 2', vergaderstatus: 'Verplaatst' })]);
  expect(await read('/gm9901/vergaderingen/anders')).toMatch(/gewijzigd: (plaats, status|status, plaats)/);
});

it('answers 410 for a removed resource, with the reason and none of the content', async () => {
  await pages.publishAndIndex([
    document('weg', { titel: 'Geheime titel' }),
    document('fout', { titel: 'Foute titel' }),
    agendapunt('punt-weg'),
  ]);
  await pages.publish([
    removal('redact', 'Informatieobject', 'weg'),
    removal('delete', 'Informatieobject', 'fout', { verwijderreden: 'overig', toelichting: HOSTILE }),
    removal('delete', 'Agendapunt', 'punt-weg'),
  ]);
  const redacted = await read('/gm9901/informatieobjecten/weg', 410);
  expect(redacted).toContain('er stonden persoonsgegevens in');
  expect(redacted).not.toContain('Geheime titel');
  const deleted = await read('/gm9901/informatieobjecten/fout', 410);
  expect(deleted).toContain('een andere reden');
  expect(deleted).not.toContain('<img');
  expect(await read('/gm9901/agendapunten/punt-weg', 410)).toContain('ingetrokken');
  for (const path of [
    '',
    '/gm9901',
    '/zoeken?organisatie=gm9901&soort=informatieobjecten',
    '/zoeken?q=geheime+titel',
    '/gm9901/informatieobjecten.csv',
    '/gm9901/documenten.atom',
  ]) {
    expect((await pages.get(path)).text.replaceAll('value="geheime titel"', '')).not.toMatch(
      /Geheime titel|Foute titel/,
    );
  }
});

it('shows hostile text as text, in every member', async () => {
  const id = `vijand/${HOSTILE}?#`;
  const gm = { gemeente: 'gm9909', naam: HOSTILE };
  const reference = { bronidentificatie: id };
  const lines = [
    vergadering(
      id,
      {
        naam: HOSTILE,
        aanvang: '2026-06-06T18:00:00Z',
        ...Object.fromEntries(
          ['locatie', 'vergaderstatus', 'vergaderingstype', 'vergadertoelichting'].map((name) => [name, HOSTILE]),
        ),
        webpaginalink: 'https://vervang.example/1',
        georganiseerddoorgremium: { gremiumidentificatie: HOSTILE, gremiumnaam: HOSTILE },
        agendapunten: [reference],
      },
      gm,
    ),
    agendapunt(
      id,
      {
        agendapuntnaam: HOSTILE,
        vergadering: reference,
        ...Object.fromEntries(
          ['omschrijving', 'volgnummer', 'tussenkop', 'overig', 'locatie'].map((name) => [name, HOSTILE]),
        ),
      },
      gm,
    ),
    document(
      id,
      {
        titel: HOSTILE,
        webpaginalink: 'https://vervang.example/1',
        bestandsurl: 'https://vervang.example/1',
        ...Object.fromEntries(
          ['auteur', 'bronorganisatie', 'informatieobjecttype', 'omschrijving', 'taal'].map((name) => [name, HOSTILE]),
        ),
        vergaderingen: [reference],
        agendapunten: [reference],
        gerelateerdinformatieobject: { informatieobject: reference, rol: HOSTILE },
      },
      gm,
    ),
  ];
  await pages.publishAndIndex([vergadering('van-vijand', {}, gm)]);
  // The contract refuses such addresses; a source that an aggregator follows may contain them.
  const changes = lines
    .map(changeOf)
    .map((change) =>
      change.op === 'upsert'
        ? { ...change, dataText: change.dataText.replaceAll('https://vervang.example/', 'javascript:alert(1)//') }
        : change,
    );
  await transaction(pages.pool, (client) => publishBatch(client, changes, new Date()));
  await pages.publishAndIndex([]);
  const encoded = encodeURIComponent(id);
  const paths = [
    '',
    '/gm9909',
    `/gm9909?gremium=${encodeURIComponent(HOSTILE)}`,
    `/gm9909/vergaderingen/${encoded}`,
    `/gm9909/informatieobjecten/${encoded}`,
    '/zoeken?organisatie=gm9909&soort=informatieobjecten',
    `/zoeken?q=${encodeURIComponent('alert')}&organisatie=gm9909`,
    `/zoeken?q=${encodeURIComponent(HOSTILE)}`,
  ];
  for (const path of paths) {
    const text = await read(path);
    expect(text).not.toMatch(/<img|<script>|href="javascript|\u202e/);
    expect(text.match(/<\/title>/g)).toHaveLength(1);
  }
  expect(await read(`/gm9909/vergaderingen/${encoded}`)).toContain('&lt;img src=x onerror=alert(1)&gt;');
  const { text: csv } = await pages.get('/gm9909/vergaderingen.csv');
  expect(csv.split('\r\n')).toHaveLength(4);
});

it('shows a kind of meeting or a member with the name of a property of every object as it is', async () => {
  const kind = (name: string) =>
    vergadering('soort', { vergaderingstype: name }, { gemeente: 'gm9910', naam: 'Namen' });
  for (const name of ['constructor', '__proto__']) {
    await pages.publishAndIndex([kind(name)]);
    expect(await read('/gm9910/vergaderingen/soort')).toContain(name);
  }
  const change = changeOf(kind('constructor'));
  if (change.op !== 'upsert') throw new Error('no record');
  const dataText = change.dataText.replace('{', '{"constructor":1,"__proto__":2,');
  await transaction(pages.pool, (client) => publishBatch(client, [{ ...change, dataText }], new Date()));
  await pages.publishAndIndex([]);
  expect(await read('/gm9910/vergaderingen/soort')).toMatch(
    /gewijzigd: (?=[^<]*constructor)(?=[^<]*__proto__)(?!.*native)/,
  );
});

it('keeps to 150 kB and 20 statements per page, however much there is', async () => {
  // The index keeps 500 characters of a name; finding its words takes most of this test.
  const long = 'woord '.repeat(100);
  const of = { vergadering: { bronidentificatie: 'groot' } };
  await pages.publishAndIndex([
    vergadering('groot', { naam: long, vergadertoelichting: long.repeat(4), aanvang: '2026-07-07T18:00:00Z' }),
    ...Array.from({ length: 150 }, (_, i) =>
      agendapunt(`g-${i}`, { ...of, agendapuntnaam: `${i} ${long}`, omschrijving: long }),
    ),
    ...Array.from({ length: 150 }, (_, i) =>
      document(`gd-${i}`, {
        titel: `${i} ${long}`,
        vergaderingen: [{ bronidentificatie: 'groot' }],
        agendapunten: [{ bronidentificatie: 'g-1' }],
      }),
    ),
    ...Array.from({ length: 60 }, (_, i) =>
      vergadering(`m-${i}`, {
        naam: long,
        aanvang: '2026-07-08T18:00:00Z',
        georganiseerddoorgremium: { gremiumidentificatie: `c-${i}`, gremiumnaam: long },
      }),
    ),
  ]);
  const seen = vi.spyOn(pg.Client.prototype, 'query');
  // Statements of the server itself meanwhile: the poll of the head, the index checking for work, due sources.
  const own = /raadsfeed\.feed$|pages\.position for update|lease_|^(begin|commit)/;
  const textOf = (query: unknown): string => (typeof query === 'string' ? query : String(Object(query).text ?? ''));
  for (const path of [
    '',
    '/gm9901?maand=2026-07',
    '/gm9901/vergaderingen/groot',
    '/gm9901/informatieobjecten/gd-1',
    '/zoeken?organisatie=gm9901&soort=informatieobjecten',
    '/zoeken?q=woord',
  ]) {
    seen.mockClear();
    const { status, text } = await pages.get(path);
    expect([status, Buffer.byteLength(text) <= 150_000], path).toEqual([200, true]);
    const statements = seen.mock.calls.map(([query]) => textOf(query)).filter((text) => !own.test(text));
    expect(statements.length, path).toBeLessThanOrEqual(20);
    expect(statements.length, path).toBeGreaterThan(0);
  }
  seen.mockRestore();
});

it('says that a source is behind', async () => {
  await pages.pool.query(
    `update raadsfeed.organisaties set herkomst_soort = 'feed', herkomst = 'https://bron.example/feed', laatst_bijgewerkt = now() - interval '3 days' where organisatiecode = 'gm9909'`,
  );
  expect(await read('/gm9909')).toContain('Deze gegevens lopen achter.');
  // The front page may be up to a second old.
  await expect.poll(() => read(''), PATIENT).toContain('Loopt achter');
});

it("serves one style sheet that may be cached for ever, with the organisation's theme", async () => {
  const path = /<link rel="stylesheet" href="([^"]+)">/.exec(await read(''))?.[1] ?? '';
  const answer = await fetch(pages.server.url + path, { headers: { 'accept-encoding': 'br' } });
  expect(answer.headers.get('cache-control')).toContain('immutable');
  expect(answer.headers.get('content-encoding')).toBe('br');
  expect(await answer.text()).toContain('.utrecht-page-header');
  expect((await pages.get('/stijl-anders.css')).status).toBe(404);
});

it('offers sitemaps with every page once', async () => {
  const index = (await pages.get('/sitemap.xml')).text;
  const maps = [...index.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address = '']) => address);
  expect(maps.length).toBeGreaterThan(0);
  const addresses: string[] = [];
  for (const map of maps) {
    const text = await (await fetch(map)).text();
    addresses.push(
      ...[...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address = '']) =>
        address.replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
      ),
    );
  }
  expect(new Set(addresses).size).toBe(addresses.length);
  expect(addresses).toContain(`${pages.server.url}/raad/gm0363/vergaderingen/meeting-458902`);
  expect(addresses.some((address) => address.includes('/informatieobjecten/weg'))).toBe(false);
});

it('shows for an organisation from a source how far and how completely it was read', async () => {
  const organisatie = { gemeente: 'gm9902', naam: 'Gemeente Achter' };
  await pages.publishAndIndex([vergadering('achter', {}, organisatie)]);
  expect(await read('/gm9902')).not.toContain('Volledigheid');
  await behindItsSource(pages);
  // The previous page is cached for a second.
  await expect.poll(() => read('/gm9902'), PATIENT).toContain('Volledigheid');
  const text = await read('/gm9902');
  const told = [...text.matchAll(/item-key">([^<]+)<\/dt><dd[^>]*>([^<]+)</g)].map(
    ([, key, value]) => `${key}: ${value}`,
  );
  expect(told).toEqual(
    expect.arrayContaining([
      'Herkomst: uit het systeem van een leverancier',
      expect.stringMatching(/^Bron gelezen: Voor het laatst volledig op \d+ \S+ \d{4} om \d\d:\d\d uur$/),
      expect.stringMatching(/^Storing: De bron is niet te lezen sinds \d+ /),
      'Achterstand: 23 wijzigingen van de bron',
      'Volledigheid: 98,3 % van wat de bron toont',
    ]),
  );
});
