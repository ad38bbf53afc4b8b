/** Exports for people and programs: calendars, checked by an independent implementation; Atom; CSV. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import ICAL from 'ical.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { document, removal, vergadering } from '../support.ts';
import { readXml } from '../xml-reader.ts';
import { type PagesServer, realMeeting, startPages } from './pages-fixture.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const LONG_NAME =
  'Zomerraad met een naam die zó lang is dat de regel in de kalender gevouwen moet worden, en nog wat meer';
const RAAD = { georganiseerddoorgremium: { gremiumidentificatie: 'raad', gremiumnaam: 'Gemeenteraad' } };

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages({}, { now: () => NOW });
  await pages.publishAndIndex([
    // A real meeting, moved to this year: calendars reach back one year.
    ...realMeeting().map((line) => Object(JSON.parse(JSON.stringify(line).replaceAll('2018-02-08', '2026-02-08')))),
    vergadering('winter', {
      ...RAAD,
      naam: 'Raad; met, leestekens\\',
      aanvang: '2026-01-08T18:30:00Z',
      einde: '2026-01-08T21:00:00Z',
      locatie: 'Zaal 1\nEerste verdieping',
    }),
    vergadering('zomer', {
      ...RAAD,
      naam: LONG_NAME,
      geplandeaanvang: '2026-07-09T17:30:00Z',
    }),
    vergadering('dag', { naam: 'Werkbezoek', geplandedatum: '2026-04-01' }),
    vergadering('af', {
      naam: 'Afgelaste vergadering',
      aanvang: '2026-04-02T18:00:00Z',
      vergaderstatus: 'Geannuleerd',
    }),
    vergadering('oud', { naam: 'Te lang geleden', aanvang: '2024-04-02T18:00:00Z' }),
    document('d', {
      titel: '=1+1 & <b>"x"</b>',
      bestandsurl: 'https://raad.example/a?b=1&c=2',
      formaat: 'application/pdf',
      omvang: 10,
    }),
  ]);
});
afterAll(() => pages.stop());

/** Python with the library `icalendar`; `ICALENDAR_PYTHON` names another than the one on PATH. */
const python = process.env.ICALENDAR_PYTHON ?? 'python3';
const hasIcalendar = spawnSync(python, ['-c', 'import icalendar']).status === 0;

/** Python's icalendar's reading of a calendar. */
async function readByPython(path: string): Promise<{ faults: unknown[]; events: Record<string, unknown>[] }> {
  const { text } = await pages.get(path);
  const { status, stdout, stderr } = spawnSync(python, [join(import.meta.dirname, 'read-calendar.py')], {
    input: text,
  });
  expect([status, stderr.toString()]).toEqual([0, '']);
  return Object(JSON.parse(stdout.toString()));
}

function events(text: string): ICAL.Event[] {
  return new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((event) => new ICAL.Event(event));
}

async function calendar(query = ''): Promise<ICAL.Event[]> {
  const { status, headers, text } = await pages.get(`/gm9901/agenda.ics${query}`);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/calendar; charset=utf-8']);
  // RFC 5545 3.1: every line ends in CRLF, and none has more than 75 octets.
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  const zone = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vtimezone');
  if (zone !== null) ICAL.TimezoneService.register(zone);
  return events(text);
}

it('has every meeting at its time in Amsterdam, winter and summer', async () => {
  const found = await calendar();
  const byName = new Map(found.map((event) => [event.uid.split('.')[0], event]));
  expect([...byName.keys()].toSorted()).toEqual(['af', 'dag', 'winter', 'zomer']);
  const winter = byName.get('winter');
  expect(winter?.startDate.toString()).toBe('2026-01-08T19:30:00');
  expect(winter?.startDate.toJSDate().toISOString()).toBe('2026-01-08T18:30:00.000Z');
  expect(winter?.endDate.toJSDate().toISOString()).toBe('2026-01-08T21:00:00.000Z');
  expect(winter?.summary).toBe('Raad; met, leestekens\\');
  expect(winter?.location).toBe('Zaal 1\nEerste verdieping');
  expect(byName.get('zomer')?.startDate.toJSDate().toISOString()).toBe('2026-07-09T17:30:00.000Z');
  expect(byName.get('zomer')?.summary).toMatch(/en nog wat meer$/);
  expect(byName.get('dag')?.startDate.toString()).toBe('2026-04-01');
  expect(byName.get('af')?.component.getFirstPropertyValue('status')).toBe('CANCELLED');
  expect((await calendar('?gremium=raad')).map(({ uid }) => uid).toSorted()).toEqual([
    'winter.vergadering.gm9901@raadsinformatie',
    'zomer.vergadering.gm9901@raadsinformatie',
  ]);
});

it.runIf(hasIcalendar)(
  `is read correctly by Python’s icalendar${hasIcalendar ? '' : ' (skipped: python3 has no icalendar)'}`,
  async () => {
    const { faults, events } = await readByPython('/gm9901/agenda.ics');
    expect(faults).toEqual([]);
    const byName = Object.fromEntries(events.map((event) => [String(event.uid).split('.')[0], event]));
    expect(byName).toMatchObject({
      winter: {
        summary: 'Raad; met, leestekens\\',
        location: 'Zaal 1\nEerste verdieping',
        start: '2026-01-08T18:30:00+00:00',
        end: '2026-01-08T21:00:00+00:00',
        status: 'CONFIRMED',
      },
      zomer: { start: '2026-07-09T17:30:00+00:00', summary: expect.stringMatching(/en nog wat meer$/) },
      dag: { start: '2026-04-01', end: '2026-04-02' },
      af: { start: '2026-04-02T18:00:00+00:00', status: 'CANCELLED' },
    });
    await pages.publishAndIndex([
      vergadering('zomer', { ...RAAD, geplandeaanvang: '2026-07-16T17:30:00Z', vergaderstatus: 'Verplaatst' }),
    ]);
    const [moved] = (await readByPython('/gm9901/agenda.ics?gremium=raad')).events.filter(
      ({ uid }) => uid === byName.zomer?.uid,
    );
    expect(moved).toMatchObject({ start: '2026-07-16T17:30:00+00:00', status: 'TENTATIVE' });
    expect(Number(moved?.sequence)).toBeGreaterThan(Number(byName.zomer?.sequence));
    const real = await readByPython('/gm0363/agenda.ics');
    expect(real.faults).toEqual([]);
    expect(real.events).toMatchObject([{ start: expect.stringMatching(/^2026-02-08T\d\d:30:00/) }]);
    // Restores it for the following tests.
    await pages.publishAndIndex([
      vergadering('zomer', { ...RAAD, naam: LONG_NAME, geplandeaanvang: '2026-07-09T17:30:00Z' }),
    ]);
  },
);

it('keeps the identity of a moved meeting, increments its sequence, and drops a withdrawn one', async () => {
  const [before] = (await calendar()).filter(({ uid }) => uid.startsWith('zomer'));
  await pages.publishAndIndex([
    vergadering('zomer', { ...RAAD, geplandeaanvang: '2026-07-16T17:30:00Z', vergaderstatus: 'Verplaatst' }),
  ]);
  const [after] = (await calendar()).filter(({ uid }) => uid.startsWith('zomer'));
  expect(after?.uid).toBe(before?.uid);
  expect(after?.sequence).toBeGreaterThan(before?.sequence ?? 0);
  expect(after?.startDate.toJSDate().toISOString()).toBe('2026-07-16T17:30:00.000Z');
  expect(after?.component.getFirstPropertyValue('status')).toBe('TENTATIVE');
  await pages.publishAndIndex([removal('delete', 'Vergadering', 'dag')]);
  expect((await calendar()).map(({ uid }) => uid.split('.')[0])).not.toContain('dag');
});

it('offers the calendar to calendar programs', async () => {
  const { text } = await pages.get('/gm9901?gremium=raad');
  expect(text).toContain(`href="${pages.server.url.replace('http:', 'webcal:')}/raad/gm9901/agenda.ics?gremium=raad"`);
});

it('offers new documents as Atom, of an organisation, of a body and of a search', async () => {
  for (const path of [
    '/gm9901/documenten.atom',
    '/gm9901/documenten.atom?gremium=raad',
    '/gm0363/documenten.atom',
    '/zoeken.atom?q=verslag',
    '/zoeken.atom?q=%3Cb%3E',
  ]) {
    const { status, headers, text } = await pages.get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/atom+xml; charset=utf-8']);
    const feed = readXml(text);
    expect(feed.name).toBe('feed');
    expect(feed.attributes.xmlns).toBe('http://www.w3.org/2005/Atom');
    for (const needed of ['id', 'title', 'updated', 'link'])
      expect(feed.children.map(({ name }) => name)).toContain(needed);
    for (const entry of feed.children.filter(({ name }) => name === 'entry')) {
      const names = entry.children.map(({ name }) => name);
      for (const needed of ['id', 'title', 'updated', 'author', 'link']) expect(names).toContain(needed);
    }
    const ids = feed.children
      .filter(({ name }) => name === 'entry')
      .map(({ children }) => children.find(({ name }) => name === 'id')?.text);
    expect(new Set(ids).size).toBe(ids.length);
  }
  const { text } = await pages.get('/gm9901/documenten.atom');
  expect(text).toContain('=1+1 &amp; &lt;b&gt;');
  expect(text).toContain('<link rel="enclosure" href="https://raad.example/a?b=1&amp;c=2" type="application/pdf"/>');
});

it('gives every list as CSV that a Dutch spreadsheet opens, without formulas', async () => {
  const paths = [
    '/organisaties.csv',
    '/gm9901/vergaderingen.csv',
    '/gm9901/informatieobjecten.csv',
    '/gm9901/gremia.csv',
    '/zoeken.csv?q=raad',
    '/gm0363/vergaderingen/meeting-458902/agenda.csv',
  ];
  for (const path of paths) {
    const { status, headers, text } = await pages.get(path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/csv; charset=utf-8']);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[a-z0-9-]+\.csv"$/);
    // `Response.text` drops the byte order mark.
    const bytes = Buffer.from(await (await fetch(`${pages.server.url}/raad${path}`)).arrayBuffer());
    expect(bytes.subarray(0, 3).toString('hex')).toBe('efbbbf');
    const rows = text.split('\r\n');
    expect(rows.length).toBeGreaterThan(2);
    expect(rows[0]).toContain(';');
  }
  const { text } = await pages.get('/gm9901/informatieobjecten.csv');
  expect(text).toContain(`"'=1+1 & <b>""x""</b>"`);
  for (const dangerous of ['+1', '-1', '@x', ' =1', '\t=1', '＝1']) {
    await pages.publishAndIndex([document('d', { titel: `${dangerous} som` })]);
    const row = (await pages.get('/gm9901/informatieobjecten.csv')).text.split('\r\n')[1] ?? '';
    expect(row.split(';')[1]).toMatch(/^"'/);
  }
});

it('answers 404 for the calendar of an unknown organisation', async () => {
  for (const path of [
    '/gm0001/agenda.ics',
    '/gm0001/documenten.atom',
    '/gm9901/vergaderingen/niet/agenda.csv',
    '/sitemap-99.xml',
    '/sitemap-x.xml',
  ]) {
    expect((await pages.get(path)).status).toBe(404);
  }
});
