/** HTML in suppliers' texts: how it is read, and that every member of every supplier is converted. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGo } from '../../../src/raadsfeed/aggregator/go/api.ts';
import { IbabsClient } from '../../../src/raadsfeed/aggregator/ibabs/calls.ts';
import { createIbabs } from '../../../src/raadsfeed/aggregator/ibabs/supplier.ts';
import { createParlaeus } from '../../../src/raadsfeed/aggregator/parlaeus/api.ts';
import { lineOfHtml, textOfHtml } from '../../../src/raadsfeed/aggregator/supplier/html-text.ts';
import { createAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { REGISTERS } from '../../../src/raadsfeed/aggregator/supplier/windows.ts';
import * as go from './go/server.ts';
import * as ibabs from './ibabs/server.ts';
import * as notubiz from './notubiz/supplier/answers.ts';
import { MemoryFeed, QUARTER } from './notubiz/supplier/memory-feed.ts';
import { startNotubiz } from './notubiz/supplier/server.ts';
import * as parlaeus from './parlaeus/server.ts';

describe('text that may be HTML', () => {
  it.each([
    ['<p>Inloop vanaf 19:00 &amp; koffie</p>', 'Inloop vanaf 19:00 & koffie'],
    ['12 m&sup2; &agrave; &Eacute;&eacute;n fa&ccedil;ade, 20 &deg;C', '12 m² à Één façade, 20 °C'],
    ['ge&shy;meen&shy;te', 'ge\u00ADmeen\u00ADte'],
    ['&scaron;&Zcaron; &frac12; &rarr; &check; &#8364; &#x20AC; &#128;', 'šŽ ½ → ✓ € € €'],
    ['<P>Een</P>\n<p class="x > y">Twee</p>', 'Een\n\nTwee'],
    ['Een<br>twee<br/>drie<br />\nvier', 'Een\ntwee\ndrie\nvier'],
    ['<ul>\n <li>een</li>\n <li>twee</li>\n</ul>na', 'een\ntwee\nna'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    ['<div>over\ntwee   regels</div>', 'over twee regels'],
    ['<o:p></o:p><span style=\'mso:"x"\'>Word</span><?xml:namespace prefix = o />', 'Word'],
    ['voor<script>alert("<p>")</script><style>p { color: red }</style><!-- <p> -->na', 'voorna'],
    ['<a href="https://x.example/?a=1&amp;b=2">hier</a>', 'hier'],
    ['<p>&nbsp;</p>', undefined],
  ])('%j is %j', (html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  it.each([
    'kosten < 5 euro en > 3 euro',
    'a<b en c>d',
    'als a <b en c> d',
    'B&W',
    'Jansen & Zn',
    'R&para en ?a=1&copy=2',
    'Jansen <griffie@voorbeeldstad.example>',
    'vul <naam> in',
    'zie <https://voorbeeldstad.example>',
    'een regel\nen nog een',
    '&bestaatniet; &',
  ])('plain text stays unchanged: %j', (text) => {
    expect(textOfHtml(text)).toBe(text);
  });

  it.each([
    ['a &lt; b', 'a < b'],
    ['&lt;p&gt;', '<p>'],
    ['B&amp;amp;W', 'B&amp;W'],
    ['&amp;eacute;', '&eacute;'],
    ['&amp;lt;script&amp;gt;', '&lt;script&gt;'],
  ])('%j is decoded once', (html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  it('characters that no text contains become blanks', () => {
    expect(textOfHtml('a&#1;b&#x1F;c\u0000d&#xD800;e')).toBe('a b c d\uFFFDe');
  });

  it('a name is one line', () => {
    expect(lineOfHtml('<p>Raad</p><p>van &eacute;&eacute;n</p>')).toBe('Raad van één');
  });
});

/** A supplier's text, and its content. */
const html = (word: string): string => `<b>${word}</b> &Eacute;&eacute;n&nbsp;&amp; <script>x()</script>m&sup2;`;
const said = (word: string): string => `${word} Één & m²`;

const ORGANISATION = { organisatiecode: 'gm1901', naam: 'Gemeente Voorbeeldstad' };

/** Every text in the feed except addresses: none of it is markup. */
function expectNoMarkup(feed: MemoryFeed): void {
  const texts = (value: unknown): string[] => {
    if (typeof value === 'string') return value.startsWith('http') ? [] : [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
  };
  const all = [...feed.resources.values()].flatMap(texts);
  expect(all.length).toBeGreaterThan(20);
  expect(all.filter((text) => /<|&\w+;|x\(\)/.test(text))).toEqual([]);
}

describe('every text of a supplier is converted', () => {
  const retry = { attempts: 2, firstDelay: 1, maxDelay: 50 };

  it('iBabs', async () => {
    const supplier = await ibabs.startIbabs();
    onTestFinished(() => supplier.close());
    const document = (n: number): ibabs.Fields => ibabs.documentOf(n, { DisplayName: html(`Stuk ${n}`) });
    const type = {
      Id: ibabs.guid(9001),
      Meetingtype: html('Raad'),
      Description: html('Gemeenteraad'),
      Abbreviation: html('R'),
    };
    const items = [
      ibabs.itemOf(11, '1', { Title: html('Punt'), Explanation: html('Uitleg'), Documents: [document(502)] }),
      ibabs.itemOf(12, html('2'), { Title: null }),
    ];
    const meeting = ibabs.meetingOf(1, '2026-01-29', {
      Location: html('Zaal'),
      Explanation: html('Toelichting'),
      MeetingItems: items,
      Documents: [ibabs.documentOf(501, { DisplayName: null, FileName: 'B&amp;W.pdf' })],
    });
    const agendapunt = `${html('Raad')} 29-1-2026\\n1 Punt`;
    const entries = [
      ibabs.entryOf(
        1,
        { Onderwerp: html('Motie'), Agendapunt: agendapunt, Status: html('Aangenomen'), 'Indiener(s)': html('Jansen') },
        { ListName: html('Moties'), DocumentsLabel: html('Bijlage'), Documents: [document(503)] },
      ),
      ibabs.entryOf(2, { Status: html('Verworpen') }, { EntryTitle: html('Stuk'), ListName: null }),
    ];
    const registers = [{ id: ibabs.guid(8001), name: html('Moties'), entries }];
    supplier.sites.set('voorbeeldstad', ibabs.siteOf({ types: [type], meetings: [meeting], registers }));
    const client = new IbabsClient({ base: supplier.base, allowPrivate: true, retry, pauseMs: 5 });
    const source = {
      ...ORGANISATION,
      organisationId: 'voorbeeldstad',
      options: { bodies: '^Gemeenteraad Één|Moties Één' },
    };
    const feed = new MemoryFeed((clock) => createAdapter(createIbabs(client), clock), {}, source);
    onTestFinished(() => feed.adapter.close());
    await feed.round({ window: { from: '2026-01-01', to: '2026-03-31' } });
    expect((await feed.round({ window: REGISTERS })).reading.issues.map(({ what }) => what)).not.toContain(
      'unresolved-reference',
    );
    expectNoMarkup(feed);
    expect(feed.get(`Vergadering/ibabs-meeting-${ibabs.guid(1)}`)).toMatchObject({
      naam: said('Gemeenteraad'),
      vergaderingstype: said('Raad'),
      locatie: said('Zaal'),
      vergadertoelichting: said('Toelichting'),
      georganiseerddoorgremium: { gremiumnaam: said('Gemeenteraad') },
    });
    expect(feed.get(`Agendapunt/ibabs-agendapunt-${ibabs.guid(11)}`)).toMatchObject({
      agendapuntnaam: said('Punt'),
      omschrijving: said('Uitleg'),
    });
    expect(feed.get(`Informatieobject/ibabs-document-${ibabs.guid(501)}`).titel).toBe('B&W.pdf');
    expect(feed.get(`Informatieobject/ibabs-document-${ibabs.guid(503)}`)).toMatchObject({
      titel: said('Stuk 503'),
      informatieobjecttype: said('Moties'),
      omschrijving: `${said('Bijlage')}\nStatus: ${said('Aangenomen')}\nIndiener(s): ${said('Jansen')}`,
      agendapunten: [{ bronidentificatie: `ibabs-agendapunt-${ibabs.guid(11)}` }],
    });
    expect(feed.get(`Informatieobject/ibabs-registerstuk-${ibabs.guid(2)}`)).toMatchObject({
      titel: said('Stuk'),
      informatieobjecttype: said('Moties'),
      omschrijving: `Status: ${said('Verworpen')}`,
    });
  });

  it.each(['v1', 'v2'] as const)('GemeenteOplossingen %s', async (version) => {
    const supplier = await go.startGo(version);
    onTestFinished(() => supplier.close());
    const document = go.fullDocumentOf(102, { documentTypeLabel: html('Besluit'), description: html('Stuk') });
    const items = [
      go.itemOf(1, { number: html('1'), title: html('Punt'), description: html('Uitleg'), documents: [document] }),
      go.itemOf(2, { number: html('2'), title: '' }),
    ];
    const dmu = { id: 14, name: html('Gemeenteraad') };
    supplier.meetings.set(11, go.meetingOf(11, { description: html('Raad'), location: html('Zaal'), dmu, items }));
    supplier.meetings.set(12, go.meetingOf(12, { description: `<p>Welkom</p>${html('Toelichting')}`, dmu }));
    const source = { ...ORGANISATION, organisationId: supplier.address, options: { version, bodies: 'Één & m²' } };
    const open = createGo;
    const feed = new MemoryFeed(
      (clock) => createAdapter(open({ clock, allowPrivate: true, retry }), clock),
      {},
      source,
    );
    onTestFinished(() => feed.adapter.close());
    await feed.round();
    expectNoMarkup(feed);
    expect(feed.get('Vergadering/go-meeting-11')).toMatchObject({
      naam: said('Raad'),
      locatie: said('Zaal'),
      georganiseerddoorgremium: { gremiumnaam: said('Gemeenteraad') },
    });
    expect(feed.get('Vergadering/go-meeting-12')).toMatchObject({
      naam: said('Gemeenteraad'),
      vergadertoelichting: `Welkom\n${said('Toelichting')}`,
    });
    expect(feed.get('Agendapunt/go-agendapunt-1')).toMatchObject({
      agendapuntnaam: said('Punt'),
      omschrijving: said('Uitleg'),
      geplandvolgnummer: said('1'),
    });
    expect(feed.get('Agendapunt/go-agendapunt-2').agendapuntnaam).toBe(said('2'));
    expect(feed.get('Informatieobject/go-document-102')).toMatchObject({
      titel: said('Stuk'),
      informatieobjecttype: said('Besluit'),
    });
  });

  it('Parlaeus', async () => {
    const supplier = await parlaeus.startParlaeus();
    onTestFinished(() => supplier.close());
    const folder = await mkdtemp(join(tmpdir(), 'parlaeus-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'rid'), parlaeus.RID);
    supplier.bodies.set('c1', html('Gemeenteraad'));
    const documents = [parlaeus.documentOf('d1', { title: html('Stuk'), type: html('Motie') })];
    const points = [
      parlaeus.pointOf('p1', { number: html('1'), title: html('Punt'), text: html('Uitleg'), decision: html('Ja') }),
      parlaeus.pointOf('p2', { number: html('2'), title: '', documents }),
    ];
    const texts = { title: html('Raad'), location: html('Zaal'), description: html('Toelichting') };
    supplier.agendas.set('a1', parlaeus.agendaOf('a1', { ...texts, points }));
    const options = { ridFile: join(folder, 'rid') };
    const source = { ...ORGANISATION, organisationId: supplier.base, options };
    const open = createParlaeus;
    const feed = new MemoryFeed(
      (clock) => createAdapter(open({ clock, allowPrivate: true, retry }), clock),
      {},
      source,
    );
    onTestFinished(() => feed.adapter.close());
    await feed.round();
    expectNoMarkup(feed);
    expect(feed.get('Vergadering/parlaeus-meeting-a1')).toMatchObject({
      naam: said('Raad'),
      locatie: said('Zaal'),
      vergadertoelichting: said('Toelichting'),
      georganiseerddoorgremium: { gremiumnaam: said('Gemeenteraad') },
    });
    expect(feed.get('Agendapunt/parlaeus-agendapunt-p1')).toMatchObject({
      agendapuntnaam: said('Punt'),
      omschrijving: `${said('Uitleg')}\n\n${said('Ja')}`,
      geplandvolgnummer: said('1'),
    });
    expect(feed.get('Informatieobject/parlaeus-document-d1')).toMatchObject({
      titel: said('Stuk'),
      informatieobjecttype: said('Motie'),
    });
  });

  it('NotuBiz', async () => {
    const supplier = await startNotubiz();
    onTestFinished(() => supplier.close());
    const { organisation } = supplier;
    organisation.labels = { 1: '<b>Titel</b>', 3: 'Omschrijving', 50: 'Locatie' };
    const attributes = [
      { id: 1, value: html('Raad') },
      { id: 50, value: html('Zaal') },
      { id: 3, value: html('Toelichting') },
    ];
    const typeData = {
      title_prefix: html('1'),
      attributes: [
        { id: 1, value: html('Punt') },
        { id: 3, value: html('Uitleg') },
      ],
    };
    const types = [{ id: 1, value: html('Motie') }];
    const documents = [notubiz.documentOf(1, { title: html('Stuk'), types })];
    const item = notubiz.agendaItemOf(201, { typeData, type: 'label', order: html('3') });
    organisation.addMeeting(
      notubiz.meetingOf(20, { attributes, body: html('council'), documents, agenda_items: [item] }),
    );
    organisation.addRegisterItem(6, notubiz.registerItemOf(900, { title: html('Motie') }));
    for (const one of organisation.modules) Object.assign(one, { custom_name: html('Moties') });
    for (const one of organisation.gremia) Object.assign(one, { title: html('Gemeenteraad') });
    const feed = new MemoryFeed(supplier);
    onTestFinished(() => feed.adapter.close());
    await feed.round({ window: QUARTER });
    expectNoMarkup(feed);
    expect(feed.get('Vergadering/meeting-20')).toMatchObject({
      naam: said('Raad'),
      locatie: said('Zaal'),
      vergaderingstype: said('council'),
      vergadertoelichting: said('Toelichting'),
      georganiseerddoorgremium: { gremiumnaam: said('Gemeenteraad') },
    });
    expect(feed.get('Agendapunt/agendapunt-201')).toMatchObject({
      agendapuntnaam: said('Punt'),
      tussenkop: said('Punt'),
      omschrijving: said('Uitleg'),
      geplandvolgnummer: said('1'),
      volgnummer: said('3'),
    });
    expect(feed.get('Informatieobject/document-1')).toMatchObject({
      titel: said('Stuk'),
      informatieobjecttype: said('Motie'),
    });
    expect(feed.get('Informatieobject/registerstuk-900')).toMatchObject({
      titel: said('Motie'),
      informatieobjecttype: said('Moties'),
    });
  });
});
