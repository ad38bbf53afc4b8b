import { describe, expect, it, onTestFinished } from 'vitest';
import {
  agendaItemOf,
  documentOf,
  meetingOf,
  moduleItemReference,
  type Raw,
  registerItemOf,
} from './supplier/answers.ts';
import { feed, freshSupplier, supplier } from './supplier/fresh-supplier.ts';
import { MemoryFeed, type Round, SOURCE } from './supplier/memory-feed.ts';

freshSupplier();

const remarks = ({ reading }: Round): string[] => reading.issues.map(({ what, detail }) => `${what}: ${detail}`);

describe('a meeting becomes a Vergadering', () => {
  async function vergadering(more: Parameters<typeof meetingOf>[1]): Promise<Raw> {
    supplier.organisation.addMeeting(meetingOf(20, more));
    await feed.round();
    return feed.get('Vergadering/meeting-20');
  }

  it('with all its members', async () => {
    const attributes = [
      { id: 1, value: ' Raad ' },
      { id: 50, value: 'Raadzaal' },
      { id: 3, value: '<p>Welkom</p>' },
    ];
    expect(await vergadering({ attributes, start: '2025-01-14 19:30:00', end: '2025-01-14 22:00:00' })).toEqual({
      bronidentificatie: 'meeting-20',
      dossiertype: 'vergadering',
      organisatie: { gemeente: 'gm0363', naam: 'Gemeente Amsterdam' },
      naam: 'Raad',
      gewijzigdop: '2025-01-09T09:00:00Z',
      webpaginalink: 'https://amsterdam.notubiz.nl/vergadering/20',
      aanvang: '2025-01-14T18:30:00Z',
      einde: '2025-01-14T21:00:00Z',
      vergaderdatum: '2025-01-14',
      locatie: 'Raadzaal',
      vergadertoelichting: 'Welkom',
      vergaderstatus: 'gehouden',
      vergaderingstype: 'council',
      georganiseerddoorgremium: { gremiumidentificatie: '4972', gremiumnaam: 'raadscommissie Financiën' },
      agendapunten: [],
    });
  });

  it('without empty texts', async () => {
    const data = await vergadering({ title: '', body: '', attributes: [{ id: 50, value: '' }] });
    expect(data.naam).toBe('Vergadering 2025-01-14');
    for (const member of ['locatie', 'vergadertoelichting', 'vergaderingstype', 'einde']) {
      expect(data).not.toHaveProperty(member);
    }
  });

  it.each([
    [{ start: '2025-01-14 19:30:00' }, 'gehouden'],
    [{ start: '2025-02-01 12:30:00', end: '2025-02-01 14:00:00' }, 'gepland'],
    [{ start: '2025-03-14 19:30:00' }, 'gepland'],
    [{ start: '2025-01-14 19:30:00', canceled: true }, 'geannuleerd'],
    [{ start: '2025-03-14 19:30:00', canceled: 1 }, 'geannuleerd'],
  ])('with a status: %j is %s', async (more, status) => {
    expect((await vergadering(more)).vergaderstatus).toBe(status);
  });

  it('without an end that lies before its start, or that is missing', async () => {
    supplier.organisation.addMeeting(meetingOf(20, { start: '2025-01-14 19:30:00', end: '2025-01-14 18:00:00' }));
    expect(remarks(await feed.round())).toEqual(['unusable-value: end_date: before the start']);
    expect(feed.get('Vergadering/meeting-20')).not.toHaveProperty('einde');
  });

  it.each(['0000-00-00 00:00:00', '2025-02-30 10:00:00', ''])('without a start when that is %j', async (start) => {
    supplier.organisation.addMeeting(meetingOf(20, { plannings: [{ start_date: start, end_date: null }], title: '' }));
    supplier.rule = ({ path }) =>
      path === '/events'
        ? { status: 200, body: { events: supplier.organisation.events(), pagination: ONE_PAGE } }
        : undefined;
    const round = await feed.round();
    expect(round.reading).toMatchObject({ complete: true, issues: [] });
    const data = feed.get('Vergadering/meeting-20');
    expect(data.naam).toBe('Vergadering');
    for (const member of ['aanvang', 'vergaderdatum', 'vergaderstatus']) expect(data).not.toHaveProperty(member);
  });

  it('without unreadable parts, which are reported', async () => {
    supplier.organisation.addMeeting(meetingOf(20, { last_modified: 'gisteren' }));
    const round = await feed.round();
    expect(feed.get('Vergadering/meeting-20')).not.toHaveProperty('gewijzigdop');
    expect(remarks(round)).toEqual(['unusable-value: last_modified: not a time: "gisteren"']);
    expect(round.reading.complete).toBe(true);
  });

  it('without a page for readers when no portal is configured', async () => {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1, { url: 'httphttp://x.nl/a b' })] }));
    const { portaal: _portaal, ...source } = SOURCE;
    await feed.round({ source });
    expect(feed.get('Vergadering/meeting-20')).not.toHaveProperty('webpaginalink');
    expect(feed.get('Informatieobject/document-1').webpaginalink).toBe('http://x.nl/a%20b');
  });

  it.each([
    ['pv27', { provincie: 'pv27', naam: 'X' }],
    ['ws0155', { waterschap: 'ws0155', naam: 'X' }],
  ])('of %s', async (organisatiecode, organisatie) => {
    supplier.organisation.addMeeting(meetingOf(20));
    await feed.round({ source: { ...SOURCE, organisatiecode, naam: 'X' } });
    expect(feed.get('Vergadering/meeting-20').organisatie).toEqual(organisatie);
  });
});

const ONE_PAGE = { page: 1, per_page: 200, total_pages: 1, total_items: 1, has_more_pages: false };

describe('an agenda item becomes an Agendapunt', () => {
  async function agendapunten(items: readonly Raw[]): Promise<Round> {
    supplier.organisation.addMeeting(meetingOf(20, { agenda_items: items }));
    return await feed.round();
  }

  it('with all its members', async () => {
    const attributes = [
      { id: 1, value: 'Fietspad' },
      { id: 3, value: 'Langs de singel' },
      { id: 82, value: '2025-01-14 20:00:00' },
      { id: 83, value: '2025-01-14T20:30:00+01:00' },
    ];
    const typeData = { title_prefix: '4.a', attributes };
    const times = { start_date: '2025-01-14 20:05:00', end_date: '2025-01-14 20:40:00' };
    await agendapunten([agendaItemOf(201, { order: 7, typeData, ...times })]);
    expect(feed.get('Agendapunt/agendapunt-201')).toEqual({
      bronidentificatie: 'agendapunt-201',
      dossiertype: 'agendapunt',
      organisatie: { gemeente: 'gm0363', naam: 'Gemeente Amsterdam' },
      agendapuntnaam: 'Fietspad',
      vergadering: { bronidentificatie: 'meeting-20' },
      gewijzigdop: '2025-01-09T09:00:00Z',
      omschrijving: 'Langs de singel',
      geplandestarttijd: '2025-01-14T19:00:00Z',
      geplandeeindtijd: '2025-01-14T19:30:00Z',
      starttijd: '2025-01-14T19:05:00Z',
      eindtijd: '2025-01-14T19:40:00Z',
      volgnummer: '7',
      geplandvolgnummer: '4.a',
      indicatiebesloten: false,
    });
  });

  it('with its prefix as name when it has no title, or else the generic word', async () => {
    const prefix = { title_prefix: '4.a', attributes: [{ id: 1, value: '' }] };
    await agendapunten([
      agendaItemOf(201, { typeData: prefix }),
      agendaItemOf(202, { order: null, typeData: { attributes: [] } }),
    ]);
    expect(feed.get('Agendapunt/agendapunt-201').agendapuntnaam).toBe('4.a');
    expect(feed.get('Agendapunt/agendapunt-202').agendapuntnaam).toBe('Agendapunt');
    expect(feed.get('Agendapunt/agendapunt-202')).not.toHaveProperty('volgnummer');
  });

  it('as a subheading when it is a label or a heading', async () => {
    await agendapunten([
      agendaItemOf(201, { title: 'Bestuur', type: 'label' }),
      agendaItemOf(202, { title: 'Ruimte', typeData: { heading: true } }),
      agendaItemOf(203, { title: 'Opening' }),
    ]);
    expect(feed.get('Agendapunt/agendapunt-201').tussenkop).toBe('Bestuur');
    expect(feed.get('Agendapunt/agendapunt-202').tussenkop).toBe('Ruimte');
    expect(feed.get('Agendapunt/agendapunt-203')).not.toHaveProperty('tussenkop');
  });

  it('with the nesting, at any depth, and all of them on the meeting', async () => {
    const third = agendaItemOf(203);
    const second = agendaItemOf(202, { agenda_items: [third] });
    await agendapunten([agendaItemOf(201, { agenda_items: [second] }), agendaItemOf(204)]);
    expect(feed.get('Vergadering/meeting-20').agendapunten).toEqual(
      [201, 202, 203, 204].map((id) => ({ bronidentificatie: `agendapunt-${id}` })),
    );
    expect(feed.get('Agendapunt/agendapunt-201').subagendapunten).toEqual([{ bronidentificatie: 'agendapunt-202' }]);
    expect(feed.get('Agendapunt/agendapunt-203').hoofdagendapunt).toEqual({ bronidentificatie: 'agendapunt-202' });
    expect(feed.get('Agendapunt/agendapunt-201')).not.toHaveProperty('hoofdagendapunt');
  });

  it('with the parent that it names itself, once, if the list is flat', async () => {
    await agendapunten([agendaItemOf(201), agendaItemOf(202, { parent: { id: 201 } }), agendaItemOf(202)]);
    expect(feed.get('Agendapunt/agendapunt-202').hoofdagendapunt).toEqual({ bronidentificatie: 'agendapunt-201' });
    expect(feed.get('Vergadering/meeting-20').agendapunten).toHaveLength(2);
  });

  it('reports a nesting that is deeper than any agenda', async () => {
    let item = agendaItemOf(1000);
    for (let id = 1001; id < 1100; id += 1) item = agendaItemOf(id, { agenda_items: [item] });
    const { reading } = await agendapunten([item]);
    expect(reading.complete).toBe(false);
    expect(reading.issues.map(({ detail }) => detail)).toContain('agenda items are nested deeper than 50');
  });
});

describe('a document becomes an InformatieObject', () => {
  async function informatieobject(more: Raw): Promise<Raw> {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1, more)] }));
    await feed.round();
    return feed.get('Informatieobject/document-1');
  }

  it('with all its members', async () => {
    const types = [
      { id: 3, value: 'Raadsvoorstel' },
      { id: 4, value: 'Bijlage' },
    ];
    expect(await informatieobject({ title: 'Fietspad', types, date: '2025-01-08', version: 3 })).toEqual({
      bronidentificatie: 'document-1',
      dossiertype: 'informatieobject',
      organisatie: { gemeente: 'gm0363', naam: 'Gemeente Amsterdam' },
      webpaginalink: 'https://amsterdam.notubiz.nl/document/1/3',
      titel: 'Fietspad',
      wooinformatiecategorie: 'c_db4862c3',
      datumingediend: '2025-01-08',
      gewijzigdop: '2025-01-09T09:00:00Z',
      bestandsurl: `${supplier.base}/document/1/3`,
      formaat: 'application/pdf',
      omvang: 1002,
      informatieobjecttype: 'Raadsvoorstel',
      vergaderingen: [{ bronidentificatie: 'meeting-20' }],
      agendapunten: [],
    });
  });

  it('with the file of the current version, in any order of versions', async () => {
    const versions = [
      { id: 2, mime_type: 'text/plain', file_name: 'b.txt', file_size: '22' },
      { id: 3, mime_type: 'text/html', file_name: 'c.html', file_size: 33 },
      { id: 1, mime_type: 'application/pdf', file_name: 'a.pdf', file_size: 11 },
    ];
    expect(await informatieobject({ title: '', version: 2, versions })).toMatchObject({
      titel: 'b.txt',
      bestandsurl: `${supplier.base}/document/1/2`,
      formaat: 'text/plain',
      omvang: 22,
    });
  });

  it.each([
    [{ date: '2025-01-08', publication_date: '2025-01-10' }, '2025-01-08'],
    [{ date: '', publication_date: '2025-01-10' }, '2025-01-14'],
    [{ date: '0000-00-00', publication_date: null, last_modified: '2025-01-09 23:30:00' }, '2025-01-14'],
    [{ date: '', publication_date: '', last_modified: '2025-01-09T23:30:00Z' }, '2025-01-14'],
    [{ date: '', publication_date: '', last_modified: '' }, '2025-01-14'],
  ])('submitted on a day: %j is %s', async (dates, day) => {
    expect((await informatieobject(dates)).datumingediend).toBe(day);
  });

  it.each([
    ['no title and no file', { title: '', versions: [] }, { titel: 'Document 1' }],
    ['a missing version', { versions: [{ id: 9 }] }, { bestandsurl: '/document/1/1' }],
    [
      'no version, but an address with one',
      { version: null, url: 'https://api.notubiz.nl/document/1/4' },
      { bestandsurl: '/document/1/4' },
    ],
    ['an invalid media type', { versions: [{ id: 1, mime_type: 'pdf', file_size: 'groot' }] }, {}],
    ['an address beyond repair', { url: 'geen adres' }, {}],
  ])('reports %s', async (_what, more, expected) => {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1, more)] }));
    const { reading } = await feed.round();
    const data = feed.get('Informatieobject/document-1');
    for (const [member, value] of Object.entries(expected)) expect(String(data[member])).toContain(value);
    expect(reading.issues.length).toBeGreaterThan(0);
    expect(reading.complete).toBe(true);
  });

  it('takes the id from its address if it has none', async () => {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(7, { id: undefined })] }));
    await feed.round();
    expect(feed.keys()).toContain('Informatieobject/document-7');
  });

  it('once, with all its references, however many items have it', async () => {
    const items = [
      agendaItemOf(201, { documents: [documentOf(1)] }),
      agendaItemOf(202, { documents: [documentOf(1)], module_items: [moduleItemReference(900)] }),
      agendaItemOf(203),
    ];
    supplier.organisation
      .addMeeting(meetingOf(20, { documents: [documentOf(1)], agenda_items: items }))
      .addMeeting(meetingOf(21, { documents: [documentOf(1, { version: 2 })] }))
      .addRegisterItem(6, registerItemOf(900, { main: [documentOf(1)], agendaItems: [203, 999] }));
    const { upserts } = await feed.round();
    expect(upserts.filter(({ data }) => data.bronidentificatie === 'document-1')).toHaveLength(1);
    expect(feed.get('Informatieobject/document-1')).toMatchObject({
      bestandsurl: `${supplier.base}/document/1/2`,
      vergaderingen: [{ bronidentificatie: 'meeting-20' }, { bronidentificatie: 'meeting-21' }],
      agendapunten: [201, 202, 203].map((id) => ({ bronidentificatie: `agendapunt-${id}` })),
    });
  });

  it('with the category of its type, or of its register, or of council documents', async () => {
    const configured = new MemoryFeed(supplier, {
      categories: new Map([
        ['type:motie', 'c_motie'],
        ['register:ingekomen stukken', 'c_stuk'],
        ['register:6', 'c_zes'],
      ]),
    });
    onTestFinished(() => configured.adapter.close());
    supplier.organisation
      .addRegisterItem(
        1,
        registerItemOf(900, {
          main: [documentOf(1)],
          attached: [documentOf(2, { types: [{ id: 1, value: 'motie' }] })],
        }),
      )
      .addRegisterItem(6, registerItemOf(901, { main: [documentOf(3)] }))
      .addMeeting(meetingOf(20, { documents: [documentOf(4), documentOf(3)] }));
    await configured.round();
    const category = (id: number): unknown => configured.get(`Informatieobject/document-${id}`).wooinformatiecategorie;
    expect([1, 2, 3, 4].map(category)).toEqual(['c_stuk', 'c_motie', 'c_zes', 'c_db4862c3']);
  });
});

describe('never published', () => {
  it.each([
    ['confidential', { confidential: 1 }],
    ['confidential in another way', { confidential: 'ja' }],
    ['a template', { template: true }],
    ['not public', { permission_group: 'members' }],
  ])('is a meeting that is %s, with everything that belongs to it', async (_what, more) => {
    const agenda_items = [agendaItemOf(201, { documents: [documentOf(2)] })];
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1)], agenda_items, ...more }));
    supplier.organisation.listedAs.set('20', { confidential: 0, template: false, permission_group: 'public' });
    await feed.round();
    expect(feed.keys()).toEqual([]);
  });

  it('is an agenda item that is not public, with its sub-items, and no reference to it', async () => {
    const nested = agendaItemOf(202, { documents: [documentOf(1)] });
    const agenda_items = [
      agendaItemOf(200, { documents: [documentOf(2)] }),
      agendaItemOf(201, { confidential: 1, agenda_items: [nested], documents: [documentOf(2), documentOf(3)] }),
      agendaItemOf(203, { parent: { id: 201 } }),
    ];
    supplier.organisation
      .addMeeting(meetingOf(20, { agenda_items }))
      .addRegisterItem(6, registerItemOf(900, { main: [documentOf(4)], agendaItems: [201] }));
    await feed.round();
    expect(feed.keys()).toEqual([
      'Agendapunt/agendapunt-200',
      'Informatieobject/document-2',
      'Informatieobject/document-4',
      'Vergadering/meeting-20',
    ]);
    expect(JSON.stringify([...feed.resources.values()])).not.toMatch(/agendapunt-20[123]/);
  });

  it('is a document that is confidential in any of its items', async () => {
    supplier.organisation
      .addMeeting(meetingOf(20, { documents: [documentOf(1), documentOf(2)] }))
      .addRegisterItem(6, registerItemOf(900, { main: [documentOf(1, { confidential: 1 })] }));
    await feed.round();
    expect(feed.keys()).toEqual(['Informatieobject/document-2', 'Vergadering/meeting-20']);
  });

  it('is anything that belongs only to a register item that is not public', async () => {
    supplier.organisation
      .addMeeting(meetingOf(20, { module_items: [moduleItemReference(900)], documents: [documentOf(2)] }))
      .addRegisterItem(6, registerItemOf(900, { permission_group: 'members', main: [documentOf(1), documentOf(2)] }));
    await feed.round();
    expect(feed.keys()).toEqual(['Informatieobject/document-2', 'Vergadering/meeting-20']);
  });
});
