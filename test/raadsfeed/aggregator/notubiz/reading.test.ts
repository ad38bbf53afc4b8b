import { beforeEach, describe, expect, it } from 'vitest';
import { agendaItemOf, documentOf, meetingOf, moduleItemReference, registerItemOf } from './supplier/answers.ts';
import { feed, freshSupplier, supplier } from './supplier/fresh-supplier.ts';
import { NEXT_QUARTER, type Round } from './supplier/memory-feed.ts';
import { NO_RIGHTS } from './supplier/server.ts';

freshSupplier();

const deletesOf = ({ deletes }: Round): string[] =>
  deletes.map(
    ({ resourceType, resource, verwijderreden }) => `${resourceType}/${resource.bronidentificatie} ${verwijderreden}`,
  );

const FAILS = { status: 500 } as const;

describe('a complete window', () => {
  it('deletes a meeting that the supplier no longer has, with all its parts', async () => {
    const agenda_items = [agendaItemOf(201, { documents: [documentOf(1)] })];
    supplier.organisation.addMeeting(meetingOf(20, { agenda_items })).addMeeting(meetingOf(21));
    await feed.round();
    supplier.organisation.remove(20);
    expect(deletesOf(await feed.round())).toEqual([
      'Vergadering/meeting-20 ingetrokken',
      'Agendapunt/agendapunt-201 ingetrokken',
      'Informatieobject/document-1 ingetrokken',
    ]);
    expect(feed.keys()).toEqual(['Vergadering/meeting-21']);
    expect([...feed.items.keys()]).toEqual(['meeting-21']);
  });

  it.each(['documents', 'agenda_items', 'module_items'])('shows all %s, even if there are none', async (name) => {
    const lists = { documents: [documentOf(1)], agenda_items: [agendaItemOf(201, { documents: [documentOf(2)] })] };
    supplier.organisation.addMeeting(meetingOf(20, lists));
    await feed.round();
    supplier.organisation.change(20, { [name]: undefined });
    supplier.organisation.listedAs.set('20', { event_type_data: {} });
    const { reading, deletes } = await feed.round();
    expect(reading.complete).toBe(false);
    expect(deletes).toEqual([]);
    supplier.organisation.change(20, { [name]: null, confidential: 1 });
    expect(deletesOf(await feed.round())).toContain('Vergadering/meeting-20 niet_langer_openbaar');
  });

  it('deletes what a still existing meeting lost', async () => {
    supplier.organisation.addMeeting(
      meetingOf(20, { documents: [documentOf(1)], agenda_items: [agendaItemOf(201), agendaItemOf(202)] }),
    );
    await feed.round();
    supplier.organisation.change(20, { documents: [], agenda_items: [agendaItemOf(202)] });
    expect(deletesOf(await feed.round())).toEqual([
      'Agendapunt/agendapunt-201 ingetrokken',
      'Informatieobject/document-1 ingetrokken',
    ]);
  });

  it.each([
    [
      'marks it in the list',
      (): void => void supplier.organisation.listedAs.set('20', { permission_group: 'members' }),
    ],
    ['marks it in the meeting', (): void => supplier.organisation.change(20, { confidential: 1 })],
    [
      'refuses it',
      (): void => {
        supplier.rule = ({ path }) => (path === '/events/meetings/20' ? NO_RIGHTS : undefined);
      },
    ],
    [
      'refuses it and left it out of the list',
      (): void => {
        supplier.organisation.unlisted.add('20');
        supplier.rule = ({ path }) => (path === '/events/meetings/20' ? NO_RIGHTS : undefined);
      },
    ],
    [
      'answers 403',
      (): void => {
        supplier.rule = ({ path }) => (path === '/events/meetings/20' ? { status: 403 } : undefined);
      },
    ],
  ])('marks a meeting as no longer public when the supplier %s', async (_how, hide) => {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1)] }));
    await feed.round();
    hide();
    const round = await feed.round();
    expect(round.reading.complete).toBe(true);
    expect(deletesOf(round)).toEqual([
      'Vergadering/meeting-20 niet_langer_openbaar',
      'Informatieobject/document-1 niet_langer_openbaar',
    ]);
  });

  it('does the same for an agenda item or a document that became confidential', async () => {
    const items = (confidential: number) => [
      agendaItemOf(201, { confidential, documents: [documentOf(1)], agenda_items: [agendaItemOf(202)] }),
    ];
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(2)], agenda_items: items(0) }));
    await feed.round();
    supplier.organisation.change(20, { documents: [documentOf(2, { confidential: 1 })], agenda_items: items(1) });
    expect(deletesOf(await feed.round()).toSorted()).toEqual([
      'Agendapunt/agendapunt-201 niet_langer_openbaar',
      'Agendapunt/agendapunt-202 niet_langer_openbaar',
      'Informatieobject/document-1 niet_langer_openbaar',
      'Informatieobject/document-2 niet_langer_openbaar',
    ]);
  });

  it('deletes the children of an assembly that is no longer public', async () => {
    supplier.organisation.addAssembly(meetingOf(10), [meetingOf(11)]);
    await feed.round();
    supplier.organisation.listedAs.set('10', { permission_group: 'members' });
    expect(deletesOf(await feed.round())).toEqual([
      'Vergadering/meeting-10 niet_langer_openbaar',
      'Vergadering/meeting-11 niet_langer_openbaar',
    ]);
  });

  it('deletes a register item that was removed, and one that is no longer public', async () => {
    supplier.organisation
      .addRegisterItem(1, registerItemOf(900, { main: [documentOf(1)] }))
      .addRegisterItem(1, registerItemOf(901, { main: [documentOf(2)] }));
    await feed.round();
    supplier.organisation.registers.set('1', [
      registerItemOf(901, { permission_group: 'members', main: [documentOf(2)] }),
    ]);
    expect(deletesOf(await feed.round()).toSorted()).toEqual([
      'Informatieobject/document-1 ingetrokken',
      'Informatieobject/document-2 niet_langer_openbaar',
    ]);
  });

  it('deletes a register item that the supplier refuses on request', async () => {
    supplier.organisation.addRegisterItem(1, registerItemOf(900, { main: [documentOf(1)] }));
    await feed.round();
    const items = [{ id: 900, self: 'api.notubiz.nl/modules/1/items/900' }];
    const pagination = { page: 1, total_pages: 1, total_items: 1, has_more_pages: false };
    supplier.rule = ({ path }) => {
      if (path === '/modules/1/items/900') return NO_RIGHTS;
      return path.endsWith('/1/items') ? { status: 200, body: { items, pagination } } : undefined;
    };
    const round = await feed.round();
    expect(round.reading.complete).toBe(true);
    expect(deletesOf(round)).toEqual(['Informatieobject/document-1 niet_langer_openbaar']);
  });

  it("deletes items that the window's list left out although it should have shown them", async () => {
    supplier.organisation.addMeeting(meetingOf(20)).addMeeting(meetingOf(21));
    await feed.round();
    supplier.organisation.unlisted.add('20');
    expect(deletesOf(await feed.round())).toEqual(['Vergadering/meeting-20 ingetrokken']);
  });

  it('does not delete a meeting that was moved to another day', async () => {
    supplier.organisation.addMeeting(meetingOf(20));
    await feed.round();
    supplier.organisation.change(20, { plannings: [{ start_date: '2025-05-05 19:30:00', end_date: null }] });
    expect(deletesOf(await feed.round())).toEqual([]);
    expect(feed.get('Vergadering/meeting-20').vergaderdatum).toBe('2025-05-05');
    expect(deletesOf(await feed.round({ window: NEXT_QUARTER }))).toEqual([]);
  });

  it('does not delete a child that begins after midnight, in the next quarter', async () => {
    const child = meetingOf(11, { start: '2025-04-01 00:30:00' });
    supplier.organisation.addAssembly(meetingOf(10, { start: '2025-03-31 20:00:00' }), [child]);
    await feed.round();
    expect(deletesOf(await feed.round({ window: NEXT_QUARTER }))).toEqual([]);
    expect(deletesOf(await feed.round())).toEqual([]);
    expect(feed.keys()).toContain('Vergadering/meeting-11');
  });

  it('does not delete an undated register item that a smaller window does not show', async () => {
    supplier.organisation.addRegisterItem(1, registerItemOf(900, { date: '', main: [documentOf(1)] }));
    const items = supplier.organisation.registers.get('1');
    const pagination = { page: 1, total_pages: 1, total_items: 1, has_more_pages: false };
    supplier.rule = ({ path, query }) =>
      path.endsWith('/1/items') && query.date_to?.startsWith('2025-03-31')
        ? { status: 200, body: { items, pagination } }
        : undefined;
    await feed.round();
    expect(feed.keys()).toEqual(['Informatieobject/document-1']);
    expect(deletesOf(await feed.round({ window: { from: '2025-01-01', to: '2025-01-31' } }))).toEqual([]);
  });

  it('never deletes more than a tenth of the organisation without an operator’s consent', async () => {
    for (let id = 20; id < 40; id += 1) supplier.organisation.addMeeting(meetingOf(id));
    await feed.round();
    for (let id = 20; id < 23; id += 1) supplier.organisation.remove(id);
    const round = await feed.round({ allowMassDelete: false });
    expect(round.deletes).toEqual([]);
    expect(round.withheld).toHaveLength(3);
    expect(feed.keys()).toHaveLength(20);
    expect((await feed.round({ allowMassDelete: true })).deletes).toHaveLength(3);
    supplier.organisation.remove(23);
    expect((await feed.round({ allowMassDelete: false })).deletes).toHaveLength(1);
  });
});

describe('an incomplete window', () => {
  it('publishes what it read, deletes nothing, and keeps what may have been removed', async () => {
    supplier.organisation
      .addMeeting(meetingOf(20, { documents: [documentOf(1), documentOf(2)] }))
      .addMeeting(meetingOf(21))
      .addMeeting(meetingOf(22));
    await feed.round();
    supplier.organisation.remove(21);
    supplier.organisation.change(20, { title: 'x', documents: [documentOf(1)], last_modified: '2025-01-20 10:00:00' });
    supplier.organisation.addMeeting(meetingOf(23));
    supplier.rule = ({ path }) => (path === '/events/meetings/22' ? FAILS : undefined);
    const round = await feed.round({ allowMassDelete: false });
    expect(round.reading.complete).toBe(false);
    expect(round).toMatchObject({ deletes: [], withheld: [], obsolete: [] });
    expect(feed.keys()).toContain('Vergadering/meeting-23');
    supplier.rule = undefined;
    // Quick: meeting 20 has to be looked at again although it was not modified since.
    expect(deletesOf(await feed.round({ depth: 'quick' }))).toEqual([
      'Informatieobject/document-2 ingetrokken',
      'Vergadering/meeting-21 ingetrokken',
    ]);
  });

  it('keeps the references that it could not see', async () => {
    const module_items = [moduleItemReference(900)];
    supplier.organisation
      .addMeeting(meetingOf(20, { documents: [documentOf(1)], agenda_items: [agendaItemOf(201, { module_items })] }))
      .addRegisterItem(6, registerItemOf(900, { date: '2019-01-01', main: [documentOf(1)] }));
    await feed.round();
    const before = feed.get('Informatieobject/document-1');
    supplier.rule = ({ path }) => (path === '/modules/0/items/900' ? FAILS : undefined);
    expect((await feed.round()).reading.complete).toBe(false);
    expect(feed.get('Informatieobject/document-1')).toEqual(before);
  });

  it('does not fetch missing items while the supplier fails', async () => {
    supplier.organisation.addMeeting(meetingOf(20));
    await feed.round();
    supplier.rule = ({ path }) => (path === '/events' ? { status: 404 } : undefined);
    const calls = supplier.count('/events/meetings/20');
    await feed.round();
    expect(supplier.count('/events/meetings/20')).toBe(calls);
  });

  it('follows when fetching a missing meeting fails', async () => {
    supplier.organisation.addMeeting(meetingOf(20));
    await feed.round();
    supplier.organisation.unlisted.add('20');
    supplier.rule = ({ path }) => (path === '/events/meetings/20' ? FAILS : undefined);
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(round.deletes).toEqual([]);
  });
});

describe('a quick round', () => {
  beforeEach(async () => {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1)] })).addMeeting(meetingOf(21));
    await feed.round();
    supplier.calls.length = 0;
  });

  it('does not reread unmodified items, and does not delete them', async () => {
    const round = await feed.round({ depth: 'quick' });
    expect(round.reading).toMatchObject({ complete: true, unchanged: ['meeting-20', 'meeting-21'], items: [] });
    expect(round.deletes).toEqual([]);
    expect(supplier.calls.some(({ path }) => path.startsWith('/events/meetings'))).toBe(false);
  });

  it('rereads modified ones', async () => {
    supplier.organisation.change(20, { last_modified: '2025-01-21 10:00:00', documents: [documentOf(2)] });
    expect(deletesOf(await feed.round({ depth: 'quick' }))).toEqual(['Informatieobject/document-1 ingetrokken']);
    expect(feed.keys()).toContain('Informatieobject/document-2');
    expect(supplier.count('/events/meetings/21')).toBe(0);
  });

  it('rereads a meeting once its time has passed: then it was held', async () => {
    supplier.organisation.change(20, {
      last_modified: '2025-01-22 10:00:00',
      plannings: [{ start_date: '2025-02-03 19:30:00', end_date: null }],
    });
    await feed.round({ depth: 'quick' });
    expect(feed.get('Vergadering/meeting-20').vergaderstatus).toBe('gepland');
    feed.now = new Date('2025-02-04T00:00:00Z');
    await feed.round({ depth: 'quick' });
    expect(feed.get('Vergadering/meeting-20').vergaderstatus).toBe('gehouden');
    await feed.round({ depth: 'quick' });
    expect(supplier.count('/events/meetings/20')).toBe(2);
  });

  it('finds a document that was added to a child, although no list reports the child as modified', async () => {
    supplier.organisation.addAssembly(meetingOf(10), [meetingOf(11)]);
    await feed.round({ depth: 'quick' });
    supplier.organisation.change(11, { documents: [documentOf(5)] });
    await feed.round({ depth: 'quick' });
    expect(feed.keys()).toContain('Informatieobject/document-5');
  });

  it('misses what the full round finds: a document added years later, without a new modification date', async () => {
    supplier.organisation.change(20, { documents: [documentOf(1), documentOf(6)] });
    supplier.organisation.listedAs.set('20', { event_type_data: { agenda_item_count: 0, document_count: 1 } });
    await feed.round({ depth: 'quick' });
    expect(feed.keys()).not.toContain('Informatieobject/document-6');
    await feed.round({ depth: 'full' });
    expect(feed.keys()).toContain('Informatieobject/document-6');
  });
});

describe('a document in several windows', () => {
  const reference = (id: number) => ({ bronidentificatie: `meeting-${id}` });

  beforeEach(async () => {
    supplier.organisation
      .addMeeting(meetingOf(20, { documents: [documentOf(1)] }))
      .addMeeting(meetingOf(30, { start: '2025-05-05 19:30:00', documents: [documentOf(1)] }));
    await feed.round();
    await feed.round({ window: NEXT_QUARTER });
  });

  it('has the references of all of them, whichever was read last', async () => {
    const vergaderingen = [reference(20), reference(30)];
    expect(feed.get('Informatieobject/document-1').vergaderingen).toEqual(vergaderingen);
    await feed.round();
    expect(feed.get('Informatieobject/document-1').vergaderingen).toEqual(vergaderingen);
  });

  it('is not deleted while one of them has it; its references follow', async () => {
    supplier.organisation.remove(20);
    expect(deletesOf(await feed.round())).toEqual(['Vergadering/meeting-20 ingetrokken']);
    expect(feed.get('Informatieobject/document-1').vergaderingen).toEqual([reference(30)]);
    supplier.organisation.remove(30);
    expect(deletesOf(await feed.round({ window: NEXT_QUARTER }))).toEqual([
      'Vergadering/meeting-30 ingetrokken',
      'Informatieobject/document-1 ingetrokken',
    ]);
  });

  it('is deleted as soon as it is confidential in an item that did not have it before', async () => {
    const secret = documentOf(2, { confidential: 1 });
    supplier.organisation.change(30, { documents: [documentOf(2)] });
    await feed.round({ window: NEXT_QUARTER });
    supplier.organisation.change(20, { documents: [documentOf(1), secret] });
    expect(deletesOf(await feed.round())).toEqual(['Informatieobject/document-2 niet_langer_openbaar']);
  });

  it('is deleted as soon as it is confidential in one of them', async () => {
    supplier.organisation.change(20, { documents: [documentOf(1, { confidential: 1 })] });
    expect(deletesOf(await feed.round())).toEqual(['Informatieobject/document-1 niet_langer_openbaar']);
  });

  it('keeps what only one of them shows, and is not replaced by a stale copy', async () => {
    const bare = documentOf(1, { versions: undefined, types: undefined, last_modified: '2025-01-01 10:00:00' });
    const before = feed.get('Informatieobject/document-1');
    supplier.organisation.change(30, { documents: [bare] });
    await feed.round({ window: NEXT_QUARTER });
    expect(feed.get('Informatieobject/document-1')).toEqual(before);
  });
});

it('gives the same records for the same answers, so that a second reading publishes nothing', async () => {
  supplier.organisation
    .addAssembly(meetingOf(10), [meetingOf(11, { documents: [documentOf(1)] })])
    .addRegisterItem(6, registerItemOf(900, { main: [documentOf(1)], attached: [documentOf(2)] }));
  const first = await feed.round();
  const second = await feed.round();
  expect(JSON.stringify(second.upserts)).toBe(JSON.stringify(first.upserts));
});

it('stops when it is aborted, without a result', async () => {
  supplier.organisation.addMeeting(meetingOf(20));
  const stop = new AbortController();
  supplier.rule = ({ path }) => {
    if (path === '/events/meetings/20') stop.abort(new Error('the program stops'));
    return undefined;
  };
  supplier.delay = 10;
  await expect(feed.round({ signal: stop.signal })).rejects.toThrow('the program stops');
});
