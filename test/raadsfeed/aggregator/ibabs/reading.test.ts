/** Reading of iBabs meetings: how they are mapped, and what is left out. */
import { describe, expect, it } from 'vitest';
import { REGISTERS } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { feed, freshIbabs, issuesOf, MEETING, QUARTER, readAs, round, SOURCE, site, supplier } from './fresh-ibabs.ts';
import { documentOf, entryOf, guid, itemOf, meetingOf } from './server.ts';

freshIbabs();

describe('a meeting', () => {
  it('is mapped with its agenda, and its documents from all three places', async () => {
    site.meetings = [
      meetingOf(1, '2026-01-29', {
        Explanation: 'Begint later',
        Documents: [documentOf(501)],
        ListItems: [{ Documents: [documentOf(502)] }],
        MeetingItems: [
          itemOf(11, '1', { Documents: [documentOf(503), documentOf(501)] }),
          itemOf(12, '1.1', { Explanation: 'Toelichting' }),
        ],
      }),
    ];
    const { reading } = await round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.get(MEETING)).toEqual({
      bronidentificatie: `ibabs-meeting-${guid(1)}`,
      dossiertype: 'vergadering',
      organisatie: { gemeente: 'gm0553', naam: 'Gemeente Lisse' },
      naam: 'Gemeenteraad',
      webpaginalink: `https://lisse.bestuurlijkeinformatie.example/Agenda/Index/${guid(1)}`,
      aanvang: '2026-01-29T19:00:00Z',
      einde: '2026-01-29T21:30:00Z',
      vergaderdatum: '2026-01-29',
      locatie: 'Raadzaal',
      vergadertoelichting: 'Begint later',
      vergaderstatus: 'gehouden',
      vergaderingstype: 'Raad',
      georganiseerddoorgremium: { gremiumidentificatie: guid(9001), gremiumnaam: 'Gemeenteraad' },
      agendapunten: [11, 12].map((n) => ({ bronidentificatie: `ibabs-agendapunt-${guid(n)}` })),
    });
    expect(feed.get(`Agendapunt/ibabs-agendapunt-${guid(12)}`)).toMatchObject({
      agendapuntnaam: 'Punt 12',
      omschrijving: 'Toelichting',
      volgnummer: '1.1',
      hoofdagendapunt: { bronidentificatie: `ibabs-agendapunt-${guid(11)}` },
    });
    expect(feed.get(`Agendapunt/ibabs-agendapunt-${guid(11)}`)).toMatchObject({
      subagendapunten: [{ bronidentificatie: `ibabs-agendapunt-${guid(12)}` }],
    });
    expect(feed.get(`Informatieobject/ibabs-document-${guid(501)}`)).toMatchObject({
      titel: 'Stuk 501',
      bestandsurl: `https://api1.ibabs.example/publicdownload.aspx?site=voorbeeldstad&id=${guid(501)}`,
      formaat: 'application/pdf',
      omvang: 1501,
      datumingediend: '2026-01-29',
      wooinformatiecategorie: 'c_db4862c3',
      vergaderingen: [{ bronidentificatie: `ibabs-meeting-${guid(1)}` }],
      agendapunten: [{ bronidentificatie: `ibabs-agendapunt-${guid(11)}` }],
    });
    expect(feed.keys().filter((key) => key.startsWith('Informatieobject/'))).toHaveLength(3);
  });

  it.each([
    ['1.1.2', ['1.1', '1'], '1.1'],
    ['1.1.2', ['1'], '1'],
    ['10', ['1'], undefined],
    ['2.1.', ['2.'], '2.'],
    ['1a', ['1'], undefined],
    ['', ['1'], undefined],
  ])('puts item %j under the longest proper prefix of %j', async (features, others, parent) => {
    site.meetings = [
      meetingOf(1, '2026-01-29', {
        MeetingItems: [...others.map((other, i) => itemOf(20 + i, other)), itemOf(30, features)],
      }),
    ];
    await round();
    const number = others.indexOf(parent ?? '-');
    const want = number < 0 ? undefined : { bronidentificatie: `ibabs-agendapunt-${guid(20 + number)}` };
    expect(feed.get(`Agendapunt/ibabs-agendapunt-${guid(30)}`).hoofdagendapunt).toEqual(want);
  });

  it.each([
    ['in winter', { MeetingDate: '2026-01-29T00:00:00' }, '2026-01-29T19:00:00Z', '2026-01-29T21:30:00Z'],
    ['in summer', { MeetingDate: '2026-03-30T00:00:00' }, '2026-03-30T18:00:00Z', '2026-03-30T20:30:00Z'],
    ['past midnight', { EndTime: '00:30' }, '2026-01-29T19:00:00Z', '2026-01-29T23:30:00Z'],
    [
      'in the skipped hour',
      { MeetingDate: '2026-03-29T00:00:00', StartTime: '02:30', EndTime: '' },
      '2026-03-29T01:30:00Z',
      undefined,
    ],
    [
      'with a time in its date',
      { MeetingDate: '2026-01-29T19:30:00', StartTime: null, EndTime: null },
      '2026-01-29T18:30:00Z',
      undefined,
    ],
    ['with only a known date', { StartTime: '00:00', EndTime: '00:00' }, undefined, undefined],
    ['with a dot and a word', { StartTime: '20.00 uur', EndTime: null }, '2026-01-29T19:00:00Z', undefined],
  ])('%s has its Dutch local time', async (_name, more, aanvang, einde) => {
    site.meetings = [meetingOf(1, '2026-01-29', more)];
    await round();
    const meeting = feed.get(MEETING);
    expect([meeting.aanvang, meeting.einde]).toEqual([aanvang, einde]);
  });

  it('in the repeated hour is in the first one', async () => {
    site.meetings = [meetingOf(1, '2026-10-25', { StartTime: '02:30', EndTime: null })];
    await round({ window: { from: '2026-10-01', to: '2026-12-31' } });
    expect(feed.get(MEETING).aanvang).toBe('2026-10-25T00:30:00Z');
  });

  it.each([
    [{ Explanation: 'Deze vergadering is VERVALLEN.' }, 'geannuleerd'],
    [{ Explanation: 'afgelast wegens ijzel' }, 'geannuleerd'],
    [{ MeetingtypeId: guid(9003) }, 'geannuleerd'],
    [{ Explanation: 'De vervallenverklaring wordt besproken' }, 'gehouden'],
    [{ MeetingDate: '2026-03-02T00:00:00' }, 'gepland'],
  ])('%j is %s', async (more, status) => {
    site.types = [...site.types, { Id: guid(9003), Meetingtype: 'Raad (geannuleerd)', Description: 'Raad' }];
    site.meetings = [meetingOf(1, '2026-01-29', more)];
    await round();
    expect(feed.get(MEETING).vergaderstatus).toBe(status);
  });

  it('becomes held by itself, although nothing about it changed', async () => {
    site.meetings = [meetingOf(1, '2026-03-02')];
    await round();
    feed.now = new Date('2026-03-03T08:00:00Z');
    await round({ depth: 'quick' });
    expect(feed.get(MEETING).vergaderstatus).toBe('gehouden');
  });

  it('is published once: rereading changes nothing, and content changes are published', async () => {
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingItems: [itemOf(11, '1')] })];
    await round();
    expect((await round({ depth: 'quick' })).reading.unchanged).toEqual([`ibabs-meeting-${guid(1)}`]);
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingItems: [itemOf(11, '1', { Title: 'Anders' })] })];
    await round({ depth: 'quick' });
    expect(feed.get(`Agendapunt/ibabs-agendapunt-${guid(11)}`).agendapuntnaam).toBe('Anders');
    site.meetings = [];
    expect((await round()).deletes.map(({ verwijderreden }) => verwijderreden)).toEqual(['ingetrokken', 'ingetrokken']);
    expect(feed.keys()).toEqual([]);
  });

  it('without a known type, a date or a readable time is published with the rest', async () => {
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingtypeId: guid(7), StartTime: 'na afloop', EndTime: null })];
    const done = await round();
    expect(done.reading.complete).toBe(true);
    expect(feed.get(MEETING)).toMatchObject({ naam: 'Vergadering 2026-01-29', vergaderdatum: '2026-01-29' });
    expect(issuesOf(done)).toEqual([
      `unknown-gremium: meeting ${guid(1)}: its type is not among the meeting types`,
      'unusable-value: StartTime: not a time of day',
    ]);
  });

  it('with a document that has no address or name is published, and both are reported', async () => {
    const odd = { DisplayName: '', FileName: null, PublicDownloadURL: null, FileSize: 'veel' };
    site.meetings = [meetingOf(1, '2026-01-29', { Documents: [documentOf(501, odd)] })];
    const done = await round();
    expect(feed.get(`Informatieobject/ibabs-document-${guid(501)}`)).toMatchObject({ titel: `Document ${guid(501)}` });
    expect(done.reading.complete).toBe(true);
    expect(issuesOf(done).join('\n')).toMatch(/FileSize[\s\S]*neither a name[\s\S]*no address/);
  });
});

describe('confidential items', () => {
  it('are hidden by one of their copies, and items in a meeting without an id are not mistaken for meetings', async () => {
    const secret = { Confidential: true, Documents: [documentOf(503)], Explanation: 'Zaak Jansen' };
    site.meetings = [
      meetingOf(1, '2026-01-29', { MeetingItems: [itemOf(11, '1', secret), itemOf(11, '1')] }),
      { MeetingDate: '2026-02-02T00:00:00', MeetingItems: [itemOf(12, '1', secret)] },
    ];
    const { reading } = await round();
    expect(feed.keys()).toEqual([MEETING]);
    expect(reading.complete).toBe(false);
    expect(JSON.stringify(reading)).not.toContain('Jansen');
  });

  const SECRET = 'Gronddeal met Van Dijk';
  const secretItem = itemOf(11, '2', {
    Confidential: true,
    Title: SECRET,
    Documents: [documentOf(501, { DisplayName: SECRET })],
  });

  it('are not published, nor are items that belong only to them, nor are they named in an issue', async () => {
    site.meetings = [
      meetingOf(1, '2026-01-29', {
        Documents: [documentOf(502, { Confidential: true, DisplayName: SECRET, FileSize: SECRET })],
        ListItems: [{ Confidential: true, Documents: [documentOf(504)] }],
        MeetingItems: [
          secretItem,
          itemOf(12, '2.1', { Documents: [documentOf(503)] }),
          itemOf(13, '3', { Documents: [documentOf(502)] }),
          itemOf(14, '4', { Confidential: 'misschien', Title: SECRET }),
        ],
      }),
    ];
    const done = await round();
    expect(feed.keys()).toEqual([`Agendapunt/ibabs-agendapunt-${guid(13)}`, MEETING]);
    expect(JSON.stringify([done.upserts, done.reading.issues, done.items])).not.toContain(SECRET);
    expect(done.reading.leftOut).toMatchObject({ bodies: 0 });
    expect(done.reading.leftOut?.confidential).toBeGreaterThan(4);
    expect(issuesOf(done)).toContain('unusable-value: Confidential has an unknown value; it hides');
  });

  it.each([
    ['', true],
    [' ', true],
    ['ja', true],
    [{ not: 'text' }, true],
    [null, false],
    [undefined, false],
  ])('with the mark %j: %s', async (Confidential, isHidden) => {
    const MeetingItems = [
      itemOf(11, '1', { Confidential }),
      itemOf(12, '2', { Documents: [documentOf(501, { Confidential })] }),
    ];
    site.meetings = [
      meetingOf(1, '2026-01-29', { MeetingItems, ListItems: [{ Confidential, Documents: [documentOf(502)] }] }),
    ];
    const { reading } = await round();
    expect(reading.complete).toBe(true);
    expect(feed.keys()).toHaveLength(isHidden ? 2 : 5);
  });

  it('are withdrawn when they were public before; a document that is elsewhere too stays', async () => {
    const open = { ...secretItem, Confidential: false, Documents: [documentOf(501), documentOf(505)] };
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingItems: [open], Documents: [documentOf(505)] })];
    await round();
    site.meetings = [
      meetingOf(1, '2026-01-29', { MeetingItems: [{ ...open, Confidential: true }], Documents: [documentOf(505)] }),
    ];
    const { deletes } = await round();
    expect(deletes.map(({ resource, verwijderreden }) => [resource.bronidentificatie, verwijderreden])).toEqual([
      [`ibabs-agendapunt-${guid(11)}`, 'niet_langer_openbaar'],
      [`ibabs-document-${guid(501)}`, 'niet_langer_openbaar'],
    ]);
    expect(feed.keys()).toContain(`Informatieobject/ibabs-document-${guid(505)}`);
  });

  it('do not get into an issue through a register that names them', async () => {
    site.meetings = [meetingOf(1, '2026-01-29', { MeetingItems: [secretItem] })];
    site.registers = [
      {
        id: guid(8001),
        name: 'Moties',
        entries: [entryOf(601, { Agendapunt: `Gemeenteraad 29-1-2026\\n2 ${SECRET}` })],
      },
    ];
    await round();
    const done = await round({ window: REGISTERS });
    expect(issuesOf(done)).toEqual([
      'unresolved-reference: Agendapunt does not name one item that is known: Gemeenteraad 2026-01-29 2',
      'unconfirmed-form: an entry without documents is linked by its EntryId: /Reports/Item/…',
    ]);
  });
});

describe('a site of several municipalities', () => {
  it('withdraws nothing when a meeting type is no longer known', async () => {
    site.meetings = [meetingOf(1, '2026-01-29'), meetingOf(2, '2026-01-30', { MeetingtypeId: guid(9002) })];
    await readAs({ ...SOURCE, options: { notBodies: 'hillegom' } });
    await round();
    site.types = [];
    site.meetings.push(meetingOf(3, '2026-01-31'));
    feed.now = new Date(feed.now.getTime() + 7_200_000);
    const { reading, deletes } = await round();
    expect(reading).toMatchObject({ complete: false, leftOut: { bodies: 3 } });
    expect(deletes).toEqual([]);
    expect(feed.keys()).toEqual([MEETING]);
  });

  it('gives each its own by the names of meeting types and registers', async () => {
    site.meetings = [meetingOf(1, '2026-01-29'), meetingOf(2, '2026-01-30', { MeetingtypeId: guid(9002) })];
    site.registers = [
      { id: guid(8001), name: 'Moties Hillegom', entries: [entryOf(601, { Onderwerp: 'Van hen' })] },
      { id: guid(8002), name: 'Gemeenteraad: toezeggingen', entries: [entryOf(602, { Onderwerp: 'Van ons' })] },
    ];
    await readAs({ ...SOURCE, options: { bodies: 'gemeenteraad', notBodies: 'hillegom' } });
    const { reading } = await round();
    const registers = await round({ window: REGISTERS });
    expect(feed.keys()).toEqual([`Informatieobject/ibabs-registerstuk-${guid(602)}`, MEETING]);
    expect([reading.leftOut?.bodies, registers.reading.leftOut?.bodies]).toEqual([1, 1]);
    expect(supplier.count('GetListEntry')).toBe(1);
    expect(
      await feed.adapter.preview?.({ source: feed.source, window: QUARTER, signal: new AbortController().signal }),
    ).toEqual({
      names: ['Gemeenteraad 2026-01-29 · Gemeenteraad · Raad · RAAD'],
      total: 2,
      leftOut: 1,
      unconfirmed: [],
    });
  });
});
