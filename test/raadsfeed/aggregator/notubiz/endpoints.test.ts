import { describe, expect, it } from 'vitest';
import { agendaItemOf, documentOf, meetingOf, moduleItemReference, registerItemOf } from './supplier/answers.ts';
import { feed, freshSupplier, supplier } from './supplier/fresh-supplier.ts';
import type { Round } from './supplier/memory-feed.ts';
import { NO_RIGHTS, UNCAUGHT } from './supplier/server.ts';

freshSupplier();

function issuesOf({ reading }: Round): string[] {
  return reading.issues.map(({ what, where, detail }) => `${what} ${where}: ${detail}`);
}

describe('GET /organisations', () => {
  it("returns the labels by which a meeting's attributes are read", async () => {
    supplier.organisation.labels = { 7: 'titel', 50: 'Zaal', 51: 'Locatie', 3: 'Omschrijving' };
    const attributes = [
      { id: 1, value: 'iets anders' },
      { id: 7, value: 'Commissie Ruimte' },
      { id: 50, value: 'boven' },
      { id: 51, value: 'Stadhuis' },
    ];
    supplier.organisation.addMeeting(meetingOf(20, { attributes }));
    await feed.round();
    expect(feed.get('Vergadering/meeting-20')).toMatchObject({ naam: 'Commissie Ruimte', locatie: 'Stadhuis' });
    expect(supplier.count('/organisations/281')).toBe(0);
  });

  it('is requested directly for an unlisted organisation', async () => {
    supplier.organisation.listed = false;
    supplier.organisation.labels = { 7: 'Titel' };
    supplier.organisation.addMeeting(meetingOf(20, { attributes: [{ id: 7, value: 'Commissie Ruimte' }] }));
    const round = await feed.round();
    expect(feed.get('Vergadering/meeting-20').naam).toBe('Commissie Ruimte');
    expect(issuesOf(round)).toEqual([]);
  });

  it('keeps the usual numbers when there are no labels anywhere', async () => {
    supplier.organisation.listed = false;
    supplier.organisation.direct = false;
    supplier.organisation.addMeeting(meetingOf(20, { title: 'Raad' }));
    const round = await feed.round();
    expect(feed.get('Vergadering/meeting-20')).toMatchObject({ naam: 'Raad', locatie: 'Raadzaal' });
    expect(round.reading.complete).toBe(true);
    expect(issuesOf(round)).toEqual([
      'labels-missing /organisations/281: no labels of attributes; the usual numbers are taken',
    ]);
  });

  it('publishes nothing under possibly wrong names when it fails', async () => {
    supplier.organisation.addMeeting(meetingOf(20));
    supplier.rule = ({ path }) => (/^\/organisations(\/281)?$/.test(path) ? { status: 500 } : undefined);
    const { reading, upserts } = await feed.round();
    expect(upserts).toEqual([]);
    expect(reading.complete).toBe(false);
  });

  it('is not called again for every window', async () => {
    await feed.round();
    await feed.round();
    expect(supplier.count('/organisations')).toBe(1);
  });
});

describe('GET /organisations/{id}/gremia', () => {
  it('returns the names of the bodies; an unnamed body is an issue', async () => {
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21, { gremium: { id: 5 } }));
    supplier.organisation.addMeeting(meetingOf(22, { gremium: null }));
    const round = await feed.round();
    expect(feed.get('Vergadering/meeting-20').georganiseerddoorgremium).toEqual({
      gremiumidentificatie: '4972',
      gremiumnaam: 'raadscommissie Financiën',
    });
    expect(feed.get('Vergadering/meeting-21')).not.toHaveProperty('georganiseerddoorgremium');
    expect(feed.get('Vergadering/meeting-22')).not.toHaveProperty('georganiseerddoorgremium');
    expect(issuesOf(round)).toEqual(['unknown-gremium /events/meetings/21: gremium 5 has no name']);
  });
});

describe('GET /events', () => {
  it('is read to the last page', async () => {
    supplier.perPage = 2;
    for (let id = 20; id < 25; id += 1) supplier.organisation.addMeeting(meetingOf(id));
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.keys()).toHaveLength(5);
    expect(supplier.count('/events')).toBe(3);
  });

  it('is read further when either the number of pages or the flag announces more', async () => {
    supplier.perPage = 1;
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21));
    const [first, second] = supplier.organisation.events();
    const page = (event: unknown, number: number) => ({
      events: [event],
      pagination: { page: number, per_page: 1, total_pages: 2, total_items: 2, has_more_pages: false },
    });
    supplier.rule = ({ path, query }) =>
      path === '/events' ? { status: 200, body: query.page === '1' ? page(first, 1) : page(second, 2) } : undefined;
    expect((await feed.round()).reading.complete).toBe(true);
    expect(feed.keys()).toHaveLength(2);
  });

  it('publishes only public events', async () => {
    for (const [id, permission_group] of [
      [20, 'members'],
      [21, 'internal'],
      [22, undefined],
    ] as const) {
      supplier.organisation.addMeeting(meetingOf(id, { permission_group }));
    }
    const round = await feed.round();
    expect(feed.keys()).toEqual([]);
    expect(supplier.count('/events/meetings/20')).toBe(0);
    expect(issuesOf(round)).toEqual(['unexpected-answer /events: event 22: has no permission_group']);
  });

  it('is requested in halves, down to a day, if a wide window fails', async () => {
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21, { start: '2025-03-31 10:00:00' }));
    supplier.rule = ({ path, query }) => {
      const days = (Date.parse(query.date_to ?? '') - Date.parse(query.date_from ?? '')) / 86_400_000;
      return path === '/events' && days > 1 ? UNCAUGHT : undefined;
    };
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.keys()).toEqual(['Vergadering/meeting-20', 'Vergadering/meeting-21']);
    expect(supplier.count('/events')).toBe(2 * 90 - 1);
  });

  it('leaves the window incomplete for one unreadable day, and publishes the rest', async () => {
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21, { start: '2025-02-02 10:00:00' }));
    supplier.rule = ({ path, query }) => {
      const bad = `${query.date_from}` <= '2025-02-02 23' && `${query.date_to}` >= '2025-02-02';
      return path === '/events' && bad ? UNCAUGHT : undefined;
    };
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(feed.keys()).toEqual(['Vergadering/meeting-20']);
    expect(issuesOf(round)).toEqual([
      'unread-days /events: 2025-02-02 to 2025-02-02: status 404: An uncaught error has occurred',
    ]);
  });

  it('is read to its end however many days it refuses, once it listed something', async () => {
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21, { start: '2025-03-30 10:00:00' }));
    supplier.rule = ({ path, query }) => {
      const bad = `${query.date_from}` <= '2025-02-28 23' && `${query.date_to}` >= '2025-02-10';
      return path === '/events' && bad ? UNCAUGHT : undefined;
    };
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(feed.keys()).toEqual(['Vergadering/meeting-20', 'Vergadering/meeting-21']);
    expect(issuesOf(round)).toHaveLength(19);
  });

  it.each([
    [400, 1],
    [403, 1],
    [404, 40],
  ])('is not split further when every answer is status %i', async (status, most) => {
    supplier.rule = ({ path }) => (path === '/events' ? { status } : undefined);
    expect((await feed.round()).reading.complete).toBe(false);
    expect(supplier.count('/events')).toBeLessThanOrEqual(most);
  });

  it('is not requested further when the supplier does not respond at all', async () => {
    supplier.rule = ({ path }) => (path === '/events' ? { status: 504 } : undefined);
    const { reading } = await feed.round();
    expect(reading.complete).toBe(false);
    expect(supplier.count('/events')).toBeLessThan(40);
    expect(reading.issues.at(-1)?.detail).toMatch(/left unread: the supplier does not answer/);
  });

  it.each([
    [
      'agenda items',
      { event_type_data: { agenda_item_count: 3, document_count: 1 } },
      /1 of the announced agenda items/,
    ],
    ['documents', { event_type_data: { agenda_item_count: 2, document_count: 4 } }, /3 of the announced documents/],
  ])('makes the window incomplete when fewer %s are shown than announced', async (_what, listed, detail) => {
    const agenda_items = [agendaItemOf(201, { agenda_items: [agendaItemOf(202, { documents: [documentOf(1)] })] })];
    supplier.organisation.addMeeting(meetingOf(20, { agenda_items })).listedAs.set('20', listed);
    const { reading } = await feed.round();
    expect(reading.complete).toBe(false);
    expect(reading.issues).toMatchObject([{ what: 'count-mismatch', where: '/events/meetings/20' }]);
    expect(reading.issues[0]?.detail).toMatch(detail);
    // Also in a quick round, although the meeting was not modified.
    expect((await feed.round({ depth: 'quick' })).reading.complete).toBe(false);
  });

  it('makes the window incomplete when its pages hold fewer events than announced', async () => {
    supplier.organisation.addMeeting(meetingOf(20));
    const pagination = { page: 1, per_page: 200, total_pages: 1, total_items: 2, has_more_pages: false };
    const events = supplier.organisation.events();
    supplier.rule = ({ path }) => (path === '/events' ? { status: 200, body: { events, pagination } } : undefined);
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(issuesOf(round)).toEqual(['count-mismatch /events: 2025-01-01 to 2025-03-31: 2 announced, 1 shown']);
  });

  it.each([
    ['no list', {}],
    ['a message', { message: 'An uncaught error has occurred' }],
    ['nonsense', '"nonsense"'],
  ])('with %s is an issue', async (_what, body) => {
    supplier.rule = ({ path }) => (path === '/events' ? { status: 200, body } : undefined);
    const { reading } = await feed.round();
    expect(reading.complete).toBe(false);
    expect(reading.issues[0]).toMatchObject({ what: 'unread-days', where: '/events' });
  });

  it.each([
    ['values other than objects', [1, null]],
    ['an event without an id', [{ type: 'meeting' }]],
    ['an event of another type', [{ ...meetingOf(20), type: 'borrel', event_type_data: {} }]],
  ])('with %s in it is an issue', async (_what, events) => {
    supplier.organisation.addMeeting(meetingOf(20));
    const pagination = { page: 1, total_pages: 1, total_items: 0, has_more_pages: false };
    supplier.rule = ({ path }) => (path === '/events' ? { status: 200, body: { events, pagination } } : undefined);
    const { reading } = await feed.round();
    expect(reading.complete).toBe(false);
    expect(reading.issues.map(({ what }) => what)).toContain('unexpected-answer');
  });
});

describe('GET /events/meetings/{id}', () => {
  it('with status 200 and "No rights" is a hidden meeting: not an error, and not silent', async () => {
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21));
    supplier.rule = ({ path }) => (path === '/events/meetings/20' ? NO_RIGHTS : undefined);
    const round = await feed.round();
    expect(feed.keys()).toEqual(['Vergadering/meeting-21']);
    expect(round.reading.complete).toBe(true);
    expect(issuesOf(round)).toEqual(['refused /events/meetings/20: No rights to see this meeting']);
  });

  it.each([
    ['another message', { status: 200, body: { message: 'Too busy' } }],
    ['nothing', { status: 200, body: {} }],
    ['another meeting', { status: 200, body: { meeting: meetingOf(99) } }],
    ['a meeting without an id', { status: 200, body: { meeting: {} } }],
    ['a missing meeting', { status: 404 }],
    ['an error', { status: 500 }],
    ['half a meeting', 'half'],
  ] as const)('with %s makes the window incomplete; the record_suffix is published', async (_what, odd) => {
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21));
    supplier.rule = ({ path }) => (path === '/events/meetings/20' ? odd : undefined);
    const { reading } = await feed.round();
    expect(feed.keys()).toEqual(['Vergadering/meeting-21']);
    expect(reading.complete).toBe(false);
    expect(reading.issues.every(({ where }) => where === '/events/meetings/20')).toBe(true);
  });
});

describe('GET /events/assemblies/{id}', () => {
  it('returns the children, which are in no list', async () => {
    const children = [meetingOf(11, { documents: [documentOf(1)] }), meetingOf(12)];
    supplier.organisation.addAssembly(meetingOf(10, { agenda_items: [agendaItemOf(101)] }), children);
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.get('Vergadering/meeting-10')).toMatchObject({
      deelvergaderingen: [{ bronidentificatie: 'meeting-11' }, { bronidentificatie: 'meeting-12' }],
      agendapunten: [{ bronidentificatie: 'agendapunt-101' }],
    });
    expect(feed.get('Vergadering/meeting-11').hoofdvergadering).toEqual({ bronidentificatie: 'meeting-10' });
    expect(feed.get('Informatieobject/document-1').vergaderingen).toEqual([{ bronidentificatie: 'meeting-11' }]);
  });

  it('may itself show documents and register items: those are added, once', async () => {
    supplier.organisation.addAssembly(meetingOf(10, { documents: [documentOf(1)] }), []);
    supplier.organisation.assemblies.set('10', {
      ...supplier.organisation.assemblies.get('10'),
      documents: [documentOf(1), documentOf(2)],
      module_items: [moduleItemReference(900)],
    });
    supplier.organisation.addRegisterItem(6, registerItemOf(900, { date: '2019-01-01', main: [documentOf(3)] }));
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    for (const id of [1, 2, 3]) {
      expect(feed.get(`Informatieobject/document-${id}`).vergaderingen).toEqual([{ bronidentificatie: 'meeting-10' }]);
    }
  });

  it('with fewer children than announced makes the window incomplete', async () => {
    supplier.organisation.addAssembly(meetingOf(10), [meetingOf(11)]);
    supplier.organisation.listedAs.set('10', { event_type_data: { meetings_count: 2, document_count: 0 } });
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(issuesOf(round)).toEqual(['count-mismatch /events/assemblies/10: 2 child meetings announced, 1 shown']);
  });

  it('does not name children that are not public', async () => {
    supplier.organisation.addAssembly(meetingOf(10), [meetingOf(11, { confidential: 1 }), meetingOf(12)]);
    await feed.round();
    expect(feed.keys()).toEqual(['Vergadering/meeting-10', 'Vergadering/meeting-12']);
    expect(feed.get('Vergadering/meeting-10').deelvergaderingen).toEqual([{ bronidentificatie: 'meeting-12' }]);
  });
});

describe('GET on a module item', () => {
  it('is called on the configured base, once, however many refer to it', async () => {
    const module_items = [moduleItemReference(926664)];
    const agenda_items = [agendaItemOf(201, { module_items }), agendaItemOf(202, { module_items })];
    supplier.organisation.addMeeting(meetingOf(20, { agenda_items }));
    supplier.organisation.addRegisterItem(6, registerItemOf(926664, { date: '2019-01-01', main: [documentOf(1)] }));
    await feed.round();
    expect(supplier.count('/modules/0/items/926664')).toBe(1);
    expect(feed.get('Informatieobject/document-1')).toMatchObject({
      vergaderingen: [{ bronidentificatie: 'meeting-20' }],
      agendapunten: [{ bronidentificatie: 'agendapunt-201' }, { bronidentificatie: 'agendapunt-202' }],
    });
  });

  it.each(['https://elders.example/steal/1', 'api.notubiz.nl/modules/0/items/1/../../../events', ''])(
    "never calls an address other than an item's (%j)",
    async (self) => {
      supplier.organisation.addMeeting(meetingOf(20, { module_items: [{ id: 5, self, field_id: 1 }] }));
      supplier.organisation.addRegisterItem(6, registerItemOf(5, { date: '2019-01-01', main: [documentOf(1)] }));
      await feed.round();
      expect(supplier.count('/modules/0/items/5')).toBe(1);
      expect(feed.keys()).toContain('Informatieobject/document-1');
    },
  );

  it('makes the window incomplete when it fails, and its meeting is read again in a quick round', async () => {
    supplier.organisation.addMeeting(meetingOf(20, { module_items: [moduleItemReference(5)] }));
    supplier.organisation.addRegisterItem(6, registerItemOf(5, { date: '2019-01-01', main: [documentOf(1)] }));
    supplier.rule = ({ path }) => (path === '/modules/0/items/5' ? { status: 500 } : undefined);
    expect((await feed.round()).reading.complete).toBe(false);
    supplier.rule = undefined;
    expect((await feed.round({ depth: 'quick' })).reading.complete).toBe(true);
    expect(feed.keys()).toContain('Informatieobject/document-1');
  });
});

describe('GET /organisations/{id}/modules', () => {
  it('that fails makes the window incomplete', async () => {
    supplier.rule = ({ path }) => (path === '/organisations/281/modules' ? { status: 500 } : undefined);
    expect((await feed.round()).reading).toMatchObject({ complete: false, issues: [{ what: 'call-failed' }] });
  });

  it('returns registers, read with dates and in halves if that fails with 504', async () => {
    for (let id = 1; id <= 5; id += 1) {
      const date = `2025-0${(id % 3) + 1}-10 00:00:00`;
      supplier.organisation.addRegisterItem(1, registerItemOf(id, { date, main: [documentOf(id)] }));
    }
    supplier.perPage = 2;
    supplier.rule = ({ path, query }) => {
      const days = (Date.parse(query.date_to ?? '') - Date.parse(query.date_from ?? '')) / 86_400_000;
      return path.endsWith('/modules/1/items') && days > 50 ? { status: 504 } : undefined;
    };
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.keys()).toHaveLength(5);
    expect(supplier.calls.every(({ path, query }) => !path.endsWith('/items') || query.date_from !== undefined)).toBe(
      true,
    );
  });

  it.each([
    ['"No rights"', NO_RIGHTS],
    ['status 403', { status: 403 }],
  ] as const)('may contain a register that is not public (%s): not an error, and not silent', async (_how, odd) => {
    supplier.organisation.addRegisterItem(1, registerItemOf(5, { main: [documentOf(1)] }));
    supplier.rule = ({ path }) => (path.endsWith('/modules/1/items') ? odd : undefined);
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [{ what: 'refused' }] });
    expect(supplier.count('/organisations/281/modules/1/items')).toBe(1);
  });

  it('lists items with only an address: those are fetched', async () => {
    supplier.organisation.addRegisterItem(1, registerItemOf(5, { main: [documentOf(1)] }));
    const pagination = { page: 1, total_pages: 1, total_items: 1, has_more_pages: false };
    const body = { items: [{ id: 5, self: 'api.notubiz.nl/modules/1/items/5' }], pagination };
    supplier.rule = ({ path }) => (path.endsWith('/modules/1/items') ? { status: 200, body } : undefined);
    await feed.round();
    expect(feed.keys()).toEqual(['Informatieobject/document-1']);
  });
});
