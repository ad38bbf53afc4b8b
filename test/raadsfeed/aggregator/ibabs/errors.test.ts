/** Registers of iBabs, and the effect of every error of the supplier. */
import { beforeEach, describe, expect, it } from 'vitest';
import { REGISTERS } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { feed, freshIbabs, issuesOf, QUARTER, round, site, supplier } from './fresh-ibabs.ts';
import { BLOCKED, documentOf, entryOf, type Fields, guid, itemOf, meetingOf } from './server.ts';

freshIbabs();

describe('a register', () => {
  const registerOf = (...entries: ReturnType<typeof entryOf>[]) => {
    site.registers = [{ id: guid(8001), name: 'Moties', entries }];
  };

  it('returns the documents of its entries, with the agenda item that each names, and entries without files', async () => {
    site.meetings = [
      meetingOf(1, '2026-01-29', { MeetingItems: [itemOf(11, '23', { Documents: [documentOf(501)] })] }),
    ];
    registerOf(
      entryOf(
        601,
        { Agendapunt: 'Gemeenteraad 29-1-2026\\n23 Motie groen', Datum: 'Jan 28 2026 12:00AM' },
        { Documents: [documentOf(501), documentOf(502)] },
      ),
      entryOf(602, { Onderwerp: 'Vragen', Datum: '27-1-2026', Agendapunt: 'raad 29-1-2026\n23. Motie' }),
      entryOf(603, { Datum: '2026-01-26' }),
    );
    await round();
    const done = await round({ window: REGISTERS });
    expect(done.reading).toMatchObject({ complete: true, issues: [{ what: 'unconfirmed-form' }] });
    const item = [{ bronidentificatie: `ibabs-agendapunt-${guid(11)}` }];
    const meeting = [{ bronidentificatie: `ibabs-meeting-${guid(1)}` }];
    expect(feed.get(`Informatieobject/ibabs-document-${guid(502)}`)).toMatchObject({
      agendapunten: item,
      vergaderingen: meeting,
      datumingediend: '2026-01-28',
      informatieobjecttype: 'Moties',
    });
    expect(feed.get(`Informatieobject/ibabs-registerstuk-${guid(602)}`)).toMatchObject({
      titel: 'Vragen',
      agendapunten: item,
      datumingediend: '2026-01-27',
      webpaginalink: `https://lisse.bestuurlijkeinformatie.example/Reports/Item/${guid(602)}`,
    });
    expect(feed.get(`Informatieobject/ibabs-registerstuk-${guid(603)}`)).toMatchObject({
      titel: 'Stuk 603',
      datumingediend: '2026-01-26',
      agendapunten: [],
    });
    expect(done.upserts.length).toBe(4);
  });

  it.each([
    ['Gemeenteraad 29-1-2026\\n24 Anders', 'Gemeenteraad 2026-01-29 24'],
    ['Gemeenteraad 30-1-2026\\n23 Motie', 'Gemeenteraad 2026-01-30 23'],
    ['Presidium 29-1-2026\\n23 Motie', 'Presidium 2026-01-29 23'],
    ['ergens in januari', 'in an unknown form'],
  ])('publishes an entry whose Agendapunt is %j without the reference, and reports it', async (agendapunt, named) => {
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingItems: [itemOf(11, '23')] })];
    registerOf(entryOf(601, { Agendapunt: agendapunt }));
    await round();
    const done = await round({ window: REGISTERS });
    expect(done.reading.complete).toBe(true);
    expect(issuesOf(done)).toEqual([
      `unresolved-reference: Agendapunt does not name one item that is known: ${named}`,
      'unconfirmed-form: an entry without documents is linked by its EntryId: /Reports/Item/…',
    ]);
    expect(feed.get(`Informatieobject/ibabs-registerstuk-${guid(601)}`).agendapunten).toEqual([]);
  });

  it('is read in a quick round for changes since the last complete reading, less a day', async () => {
    registerOf(entryOf(601, {}), entryOf(602, {}));
    await round({ window: REGISTERS });
    registerOf(
      entryOf(602, { Onderwerp: 'Nieuw' }, { MutationDate: '2026-02-03T10:00:00' }),
      entryOf(603, {}, { MutationDate: '2026-02-01T12:30:00' }),
    );
    const completeAt = new Date('2026-02-02T12:00:00Z');
    const { reading } = await round({ window: REGISTERS, depth: 'quick', completeAt });
    expect(
      supplier.calls.findLast(({ operation }) => operation === 'GetListsEntriesByFilterRequest')?.parameters,
    ).toEqual({
      Sitename: 'voorbeeldstad',
      ListId: guid(8001),
      SinceDate: '2026-02-01T12:00:00',
    });
    expect(reading.unchanged).toEqual([`ibabs-registerstuk-${guid(601)}`]);
    expect(feed.keys()).toHaveLength(3);
    // The slow round finds removals.
    await round({ window: REGISTERS });
    expect(feed.keys()).toHaveLength(2);
  });

  it('is identified by EntryMasterId: of two versions the newest counts', async () => {
    registerOf(
      entryOf(611, { Onderwerp: 'Oud' }, { EntryMasterId: guid(601) }),
      entryOf(612, { Onderwerp: 'Nieuw' }, { EntryMasterId: guid(601), MutationDate: '2026-02-02T09:00:00' }),
    );
    await round({ window: REGISTERS });
    expect(feed.get(`Informatieobject/ibabs-registerstuk-${guid(601)}`).titel).toBe('Nieuw');
  });

  it('with an entry that fails is not complete, and loses nothing', async () => {
    registerOf(entryOf(601, {}), entryOf(602, {}));
    await round({ window: REGISTERS });
    supplier.rule = ({ operation, parameters }) =>
      operation === 'GetListEntry' && parameters.EntryId === guid(601) ? { status: 500, body: '' } : undefined;
    const { reading } = await round({ window: REGISTERS });
    expect(reading).toMatchObject({ complete: false, unread: [{ count: 1 }] });
    expect(feed.keys()).toHaveLength(2);
  });
});

describe('an invalid answer', () => {
  beforeEach(() => {
    site.meetings = [meetingOf(1, '2026-01-29'), meetingOf(2, '2026-03-01')];
  });

  it.each([
    ['an HTML page under status 200', { status: 200, body: '<html>Toegang geweigerd</html>' }],
    [
      'HTML declared as XML',
      { status: 200, body: '<html><br>Toegang geweigerd</html>', headers: { 'content-type': 'text/xml' } },
    ],
    [
      'unrelated XML',
      { status: 200, body: '<html><p>Even geduld</p></html>', headers: { 'content-type': 'text/xml' } },
    ],
    [
      'a document type',
      { status: 200, body: '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', headers: { 'content-type': 'text/xml' } },
    ],
    [
      'deep XML',
      { status: 200, body: `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`, headers: { 'content-type': 'text/xml' } },
    ],
    ['an unknown error', { err: 'Something went wrong' }],
    ['a fault', { status: 500, body: '<s:Fault/>', headers: { 'content-type': 'text/xml' } }],
    ['a connection that breaks', 'reset'],
    ['half an answer', 'half'],
  ] as const)('%s is an error of the source, never an empty answer', async (_name, odd) => {
    await round();
    supplier.rule = ({ operation }) => (operation === 'GetMeetingsByDateRange' ? odd : undefined);
    const { reading, deletes } = await round();
    expect(reading.complete).toBe(false);
    expect(reading.issues.length).toBeGreaterThan(0);
    expect(deletes).toEqual([]);
    expect(feed.keys()).toHaveLength(2);
  });

  it.each(['GetMeetingtypes', 'GetMeetingsByDateRange', 'GetListsEntriesByFilterRequest'])(
    'of %s that is OK but has no list is an error of the source',
    async (name) => {
      site.registers = [{ id: guid(8001), name: 'Moties', entries: [entryOf(601, {})] }];
      const window = name === 'GetListsEntriesByFilterRequest' ? REGISTERS : QUARTER;
      await round({ window });
      const before = feed.keys();
      feed.now = new Date(feed.now.getTime() + 7_200_000);
      supplier.rule = ({ operation }) => (operation === name ? 'bare' : undefined);
      const { reading, deletes } = await round({ window });
      expect(reading.complete).toBe(false);
      expect(deletes).toEqual([]);
      expect(feed.keys()).toEqual(before);
    },
  );

  it.each<[string, Fields]>([
    ['its items', { MeetingItems: undefined }],
    ['its documents', { Documents: undefined }],
    ['its list items', { ListItems: undefined }],
    ['the documents of an item', { MeetingItems: [itemOf(11, '1', { Documents: undefined })] }],
    ['the documents of a list item', { ListItems: [{ Confidential: false }] }],
  ])('does not show %s: nothing is withdrawn', async (_name, lacking) => {
    const Documents = [documentOf(501)];
    const whole = {
      Documents,
      MeetingItems: [itemOf(11, '1', { Documents: [documentOf(502)] })],
      ListItems: [{ Documents }],
    };
    site.meetings = [meetingOf(1, '2026-01-29', whole)];
    await round();
    site.meetings = [meetingOf(1, '2026-01-29', { ...whole, ...lacking })];
    const { reading, deletes } = await round();
    expect(reading.complete).toBe(false);
    expect(deletes).toEqual([]);
  });

  it('shows a list without a value: it is empty', async () => {
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingItems: [itemOf(11, '1')] })];
    await round();
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingItems: null, Documents: null, ListItems: null })];
    const { reading, deletes } = await round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(deletes).toHaveLength(1);
  });

  it.each(['Documents', 'Values'])('shows no %s of an entry: nothing of it is withdrawn', async (name) => {
    const entry = { ...entryOf(601, {}), Documents: [documentOf(501)] };
    site.registers = [{ id: guid(8001), name: 'Moties', entries: [entry] }];
    await round({ window: REGISTERS });
    site.registers = [{ id: guid(8001), name: 'Moties', entries: [{ ...entry, [name]: undefined }] }];
    const { reading, deletes } = await round({ window: REGISTERS });
    expect(reading.complete).toBe(false);
    expect(deletes).toEqual([]);
  });

  it('for an empty range is an empty answer', async () => {
    site.meetings = [];
    expect((await round()).reading).toMatchObject({ complete: true, items: [], issues: [] });
  });

  it('of a site without meeting types still shows its meetings, and unknown types are reported', async () => {
    supplier.rule = ({ operation }) =>
      operation === 'GetMeetingtypes' ? { err: 'No public meetingtypes!' } : undefined;
    const done = await round();
    expect(done.reading).toMatchObject({ complete: true, items: [{}, {}] });
    expect(issuesOf(done)).toContain(`unknown-gremium: meeting ${guid(1)}: its type is not among the meeting types`);
  });

  it('that took too long is requested in halves, down to a day', async () => {
    supplier.rule = ({ operation, parameters: { StartDate = '', EndDate = '' } }) =>
      operation === 'GetMeetingsByDateRange' && Date.parse(EndDate) - Date.parse(StartDate) > 30 * 86_400_000
        ? { err: 'Execution Timeout Expired.  The timeout period elapsed' }
        : undefined;
    expect((await round()).reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.keys()).toHaveLength(2);
    expect(supplier.count('GetMeetingsByDateRange')).toBe(7);
  });

  it.each([
    ['IPaddress 192.0.2.1 has no access to site voorbeeldstad!', 'no-access', /have iBabs put it on its list/],
    ['Invalid site!', 'unknown-organisation', /knows no site voorbeeldstad/],
    ['No public account!', 'not-public', /has no public account at iBabs/],
  ])('"%s" stops the source and says what to do', async (message, code, text) => {
    supplier.rule = () => ({ err: message });
    await expect(round()).rejects.toMatchObject({ code, message: expect.stringMatching(text) });
  });

  it.each([
    ['IPaddress 192.0.2.1 has no access to site voorbeeldstad!', /this service for voorbeeldstad \(/],
    ['Invalid site!', /knows no site voorbeeldstad:/],
    ['No public account!', /^voorbeeldstad has no public account/],
  ])('"%s" to any operation names the site', async (message, text) => {
    site.meetings = [meetingOf(1, '2026-01-29')];
    site.registers = [{ id: guid(8001), name: 'Moties', entries: [entryOf(601, {})] }];
    const operations = [
      'GetMeetingtypes',
      'GetMeetingsByDateRange',
      'GetLists',
      'GetListsEntriesByFilterRequest',
      'GetListEntry',
    ];
    for (const operation of operations) {
      supplier.rule = (call) => (call.operation === operation ? { err: message } : undefined);
      const window = operation.startsWith('GetList') ? REGISTERS : QUARTER;
      await expect(round({ window })).rejects.toThrow(text);
    }
  });

  it('of a block says that waiting does not help; another refusal waits', async () => {
    supplier.rule = () => BLOCKED;
    await expect(round()).rejects.toMatchObject({
      code: 'blocked',
      message: expect.stringContaining('bron resume ibabs'),
    });
    expect(supplier.calls).toHaveLength(1);
    supplier.rule = (_call, times) => (times <= 2 ? { status: times === 1 ? 429 : 403, body: 'slow down' } : undefined);
    expect((await round()).reading.complete).toBe(true);
  });
});

it('identifies itself, sends SOAP 1.1 and makes two calls at a time', async () => {
  supplier.delay = 20;
  site.registers = [1, 2, 3, 4, 5].map((n) => ({
    id: guid(8000 + n),
    name: `Register ${n}`,
    entries: [entryOf(600 + n, {})],
  }));
  await round({ window: REGISTERS });
  expect(supplier.mostAtOnce()).toBe(2);
  expect(supplier.calls[0]?.headers).toMatchObject({
    'user-agent': 'koppelvlak',
    'content-type': 'text/xml; charset=utf-8',
    soapaction: '"http://tempuri.org/IPublic/GetLists"',
  });
});
