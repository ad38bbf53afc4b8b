/** Answers in the forms recorded from the supplier, read on two days: unchanged items give no record. */
import { describe, expect, it } from 'vitest';
import {
  agendaItemOf,
  documentOf,
  meetingOf,
  moduleItemReference,
  type Raw,
  registerItemOf,
} from './supplier/answers.ts';
import { feed, freshSupplier, supplier } from './supplier/fresh-supplier.ts';
import type { Rule } from './supplier/server.ts';

freshSupplier();

/** An organisation without a known portal. */
const source = { organisationId: '281', organisatiecode: 'gm0363', naam: 'Gemeente Amsterdam' };

const ITEMS = /^\/organisations\/\d+\/modules\/(\d+)\/items$/;

/** The forms of `pagination` in the lists of registers. */
const forms: readonly (readonly [string, (items: Raw[], query: Readonly<Record<string, string>>) => Raw])[] = [
  [
    'pages',
    (items) => ({
      items,
      pagination: { page: 1, per_page: 200, total_pages: 1, total_items: items.length, has_more_pages: false },
    }),
  ],
  [
    'a range',
    (items) => ({ items, pagination: { list_start: 1, list_end: items.length, total_results: items.length } }),
  ],
  [
    'ranges',
    (items, { list_start = '1' }) => {
      const from = Number(list_start);
      return {
        items: items.slice(from - 1, from),
        pagination: { list_start: from, list_end: from, total_results: items.length },
      };
    },
  ],
  [
    'ranges by page',
    (items, { page = '1' }) => {
      const from = Number(page);
      return {
        items: items.slice(from - 1, from),
        pagination: { list_start: from, list_end: from, total_results: items.length },
      };
    },
  ],
  ['an empty object', (items) => ({ items, pagination: {} })],
  ['an empty list', (items) => ({ items, pagination: [] })],
  ['nothing', (items) => ({ items })],
];

/** The day of reading occurs in every document, at any depth. */
function readOn(day: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => readOn(day, item));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === 'publication_date' ? day : readOn(day, member),
  ]);
  return Object.fromEntries(members);
}

function fill(): void {
  const documents = [documentOf(1), documentOf(2, { date: '2025-01-02' }), documentOf(3, { last_modified: '' })];
  supplier.organisation
    .addMeeting(
      meetingOf(20, {
        documents,
        agenda_items: [agendaItemOf(201, { module_items: [moduleItemReference(900), moduleItemReference(901)] })],
      }),
    )
    .addMeeting(meetingOf(21, { start: '2025-02-11 20:00:00', documents: [documentOf(1)] }))
    .addAssembly(meetingOf(30), [meetingOf(31, { documents: [documentOf(4)] })])
    .addRegisterItem(6, registerItemOf(900, { main: [documentOf(5)], date: '2025-01-08' }))
    .addRegisterItem(
      6,
      registerItemOf(901, {
        title: 'Motie zonder bestand',
        date: '',
        agendaItems: [201],
        self: 'api.notubiz.nl/modules/6/items/901',
      }),
    )
    .addRegisterItem(6, registerItemOf(902, { title: 'Vraag zonder bestand', date: '2025-03-01' }));
}

function rule(day: string, form: (typeof forms)[number][1]): Rule {
  return ({ path, query }) => {
    const module = ITEMS.exec(path)?.[1];
    if (module !== undefined) {
      return { status: 200, body: readOn(day, form(supplier.organisation.registers.get(module) ?? [], query)) };
    }
    const id = /^\/events\/meetings\/(\d+)$/.exec(path)?.[1];
    if (id !== undefined)
      return { status: 200, body: { meeting: readOn(day, supplier.organisation.meetings.get(id)) } };
    const item = /^\/modules\/\d+\/items\/(\d+)$/.exec(path)?.[1];
    return item === undefined
      ? undefined
      : { status: 200, body: { item: readOn(day, supplier.organisation.registerItem(item)) } };
  };
}

describe.each(forms)('with %s in the lists of registers', (_name, form) => {
  it('everything is read, and nothing differs on another day', async () => {
    fill();
    supplier.rule = rule('2025-04-01', form);
    expect((await feed.round()).reading).toMatchObject({ complete: true });
    expect(feed.keys()).toEqual(
      expect.arrayContaining([
        'Informatieobject/registerstuk-901',
        'Informatieobject/registerstuk-902',
        'Informatieobject/document-5',
      ]),
    );
    const before = new Map(feed.resources);
    supplier.rule = rule('2025-04-02', form);
    for (const depth of ['full', 'quick'] as const) {
      const round = await feed.round({ depth });
      expect(round.deletes).toEqual([]);
      expect(round.reading.complete).toBe(true);
    }
    expect(new Map(feed.resources)).toEqual(before);
  });
});

describe('a register', () => {
  it('that shows fewer than announced is not complete', async () => {
    fill();
    const short = (items: Raw[]): Raw => ({
      items: items.slice(0, 1),
      pagination: { list_start: 1, list_end: 1, total_results: items.length },
    });
    supplier.rule = rule('2025-04-01', short);
    const { reading } = await feed.round();
    expect(reading.complete).toBe(false);
    expect(reading.issues.map(({ what }) => what)).toContain('count-mismatch');
  });

  it('item without files has its own members, and its references', async () => {
    fill();
    supplier.rule = rule('2025-04-01', (items) => ({ items }));
    await feed.round({ source });
    expect(feed.get('Informatieobject/registerstuk-901')).toEqual({
      bronidentificatie: 'registerstuk-901',
      dossiertype: 'informatieobject',
      organisatie: { gemeente: 'gm0363', naam: expect.any(String) },
      webpaginalink: 'https://api.notubiz.nl/modules/6/items/901',
      titel: 'Motie zonder bestand',
      // It has no date of its own: it gets that of its earliest meeting.
      datumingediend: '2025-01-14',
      gewijzigdop: '2025-01-09T09:00:00Z',
      informatieobjecttype: 'Moties en amendementen',
      wooinformatiecategorie: 'c_db4862c3',
      vergaderingen: [{ bronidentificatie: 'meeting-20' }],
      agendapunten: [{ bronidentificatie: 'agendapunt-201' }],
    });
    expect(feed.get('Informatieobject/registerstuk-902').datumingediend).toBe('2025-03-01');
  });

  it('item that gets a file is that file from then on, and one that is not public is not published', async () => {
    supplier.organisation
      .addRegisterItem(6, registerItemOf(902))
      .addRegisterItem(6, registerItemOf(903, { confidential: 1 }));
    await feed.round();
    expect(feed.keys()).toEqual(['Informatieobject/registerstuk-902']);
    supplier.organisation.registers.set('6', [registerItemOf(902, { main: [documentOf(7)] })]);
    await feed.round();
    expect(feed.keys()).toEqual(['Informatieobject/document-7']);
  });
});

describe('the date of a document', () => {
  it("is its own, or its register item's, or its earliest meeting's, or its last change", async () => {
    fill();
    supplier.organisation.addRegisterItem(6, registerItemOf(904, { date: '', main: [documentOf(8)] }));
    supplier.rule = ({ path, query }) =>
      ITEMS.test(path)
        ? { status: 200, body: { items: path.includes('/6/') ? supplier.organisation.registers.get('6') : [], query } }
        : undefined;
    await feed.round();
    const dates = [2, 5, 1, 8].map((id) => feed.get(`Informatieobject/document-${id}`).datumingediend);
    expect(dates).toEqual(['2025-01-02', '2025-01-08', '2025-01-14', '2025-01-09']);
  });
});

describe('a meeting', () => {
  it('links to its own page if there is no portal, and to nothing if it has none', async () => {
    supplier.organisation
      .addMeeting(meetingOf(40, { url: 'httphttp://raad.example/vergadering/40' }))
      .addMeeting(meetingOf(41, { url: 'javascript:alert(1)' }))
      .addMeeting(meetingOf(42));
    await feed.round({ source });
    const links = [40, 41, 42].map((id) => feed.get(`Vergadering/meeting-${id}`).webpaginalink);
    expect(links).toEqual(['http://raad.example/vergadering/40', undefined, undefined]);
  });

  it('that is an assembly without a permission_group follows the list', async () => {
    fill();
    const assembly = supplier.organisation.assemblies.get('30') ?? {};
    delete assembly.permission_group;
    supplier.organisation.change(30, { permission_group: null });
    supplier.organisation.listedAs.set('30', { permission_group: 'public' });
    expect((await feed.round()).reading.complete).toBe(true);
    expect(feed.keys()).toEqual(expect.arrayContaining(['Vergadering/meeting-30', 'Vergadering/meeting-31']));
    supplier.organisation.listedAs.set('30', { permission_group: 'members' });
    await feed.round();
    expect(feed.keys()).not.toContain('Vergadering/meeting-30');
  });
});
