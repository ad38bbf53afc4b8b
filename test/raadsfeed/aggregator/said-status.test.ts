/** The status that a meeting's explanation implies: for suppliers without a member for it, end to end for iBabs. */
import ICAL from 'ical.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGo } from '../../../src/raadsfeed/aggregator/go/api.ts';
import { createAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { saidStatus } from '../../../src/raadsfeed/aggregator/supplier/said-status.ts';
import { meetingState } from '../../../src/raadsfeed/pages/rows.ts';
import { processorMs } from '../../support/processor-time.ts';
import { startPages } from '../pages/pages-fixture.ts';
import { meetingOf as goMeetingOf, startGo } from './go/server.ts';
import { feed, freshIbabs, MEETING, round, site } from './ibabs/fresh-ibabs.ts';
import { guid, meetingOf, siteOf, startIbabs } from './ibabs/server.ts';
import { MemoryFeed } from './notubiz/supplier/memory-feed.ts';
import { AGGREGATOR_ENV, eventually, follow } from './support.ts';

const names = ['Gemeenteraad', 'Raad'];
const day = '2026-01-29';

describe('an explanation', () => {
  it.each([
    'gaat niet door',
    'GECANCELD',
    'Geannuleerd',
    'geannuleerd!',
    '**Vervallen**',
    'Vervallen.',
    'afgelast wegens ijzel',
    'Geannuleerd, i.v.m. de feestdagen',
    'Vervalt wegens gebrek aan agendapunten',
    'Vergadering vervalt',
    'Vergadering (geannuleerd)',
    'Deze vergadering is VERVALLEN.',
    'De vergadering vindt niet plaats.',
    'De raadsvergadering gaat niet door',
    'De gemeenteraad komt te vervallen.',
    'LET OP! De vergadering is geannuleerd',
    'De vergadering van donderdag 29 januari 2026 is afgelast',
    'De vergadering op 29-1-2026 is afgezegd',
    'GEANNULEERD - Gemeenteraad',
    'Geannuleerd. Nieuwe datum: 12 maart',
    'De vergadering is geannuleerd en wordt verplaatst naar 12 maart',
    'Afgelast\nDe stukken worden later behandeld',
    'De vergadering is geannuleerd. Agendapunt 7 wordt later behandeld',
  ])('%j means cancelled', (explanation) => {
    expect(saidStatus({ names, explanation, day })).toBe('geannuleerd');
  });

  it.each([
    'verplaatst naar 12 maart',
    'Verplaatst naar donderdag 5 februari 2026, 20:00 uur',
    'De vergadering is verplaatst naar 5-2-2026',
    'Verplaatst van 29 januari naar 5 februari',
    'Verplaatst naar een nader te bepalen datum',
    'Uitgesteld tot nader order',
    'Verdaagd',
  ])('%j means moved', (explanation) => {
    expect(saidStatus({ names, explanation, day })).toBe('verplaatst');
  });

  it.each([
    'Let op: agendapunt 7 is vervallen',
    'De vergadering is NIET geannuleerd',
    'De excursie is afgelast; de raad vergadert gewoon',
    'Geannuleerd: agendapunt 7',
    'Vervallen agendapunten: 3 en 7',
    'Vervallen\nAgendapunt 7',
    'Geannuleerd.\n\n- De agendapunten 3 en 7\n- De excursie',
    'Vervallen verklaring van de raad',
    'De vergadering is niet verplaatst',
    'Vergadering vervalt niet',
    'Vergadering vervalt mogelijk',
    'Wordt de vergadering geannuleerd?',
    'De vergadering wordt niet afgelast.',
    'De commissievergadering gaat niet door',
    'De vergadering van 12 februari is afgelast',
    'De bijeenkomst gaat niet door in de raadzaal maar digitaal',
    'Geannuleerd. De raad vergadert toch',
    'Verplaatst naar de Raadzaal',
    'Verplaatst naar 19:00 uur',
    'Het punt is verplaatst naar de volgende vergadering',
    'Annuleren kan tot 12:00 uur',
    `Geannuleerd. ${'En nog wat. '.repeat(200)}`,
  ])('%j leaves it open', (explanation) => {
    expect(saidStatus({ names, explanation, day })).toBe('unclear');
  });

  it.each([
    'Begint later',
    'De vergadering gaat door',
    'De vervallenverklaring wordt besproken',
    'Verplaatst naar 29 januari',
    undefined,
  ])('%j says nothing about it', (explanation) => {
    expect(saidStatus({ names, explanation, day })).toBe(undefined);
  });

  it.each([
    ['Raad (geannuleerd)', 'geannuleerd'],
    ['Raad - vervallen', 'geannuleerd'],
    ['Raad (verplaatst naar 3 maart)', 'verplaatst'],
    ['Vervallen verklaringen', 'unclear'],
    ['Raad', undefined],
  ])('the name %j means %j', (name, said) => {
    expect(saidStatus({ names: [name, 'Raad'], explanation: 'Welkom', day })).toBe(said);
  });

  it.each(['vervalt ', ' \n', 'de ', '(', 'verplaatst naar ', 'let op ', '* ', 'é'])(
    'of endless %j is parsed in one pass',
    (part) => {
      const explanation = `vervalt${part.repeat(100_000)}`;
      expect(processorMs(() => saidStatus({ names: [explanation], explanation, day }))).toBeLessThan(200);
    },
  );
});

describe('a meeting of iBabs', () => {
  freshIbabs();

  it.each([
    ['Let op: agendapunt 7 is vervallen', undefined],
    ['De vergadering is NIET geannuleerd', undefined],
    ['De excursie is afgelast; de raad vergadert gewoon', undefined],
    ['<p>Gaat <b>niet</b> door</p>', 'geannuleerd'],
    ['GECANCELD', 'geannuleerd'],
    ['verplaatst naar 12 maart', 'verplaatst'],
    ['Begint later', 'gehouden'],
  ])('saying %j is %j, and shows the text', async (Explanation, status) => {
    site.meetings = [meetingOf(1, day, { Explanation })];
    await round();
    expect(feed.get(MEETING).vergaderstatus).toBe(status);
    expect(feed.get(MEETING).vergadertoelichting).toBe(Explanation.replaceAll(/<[^>]*>/g, ''));
  });
});

it.each([
  [{ canceled: false, description: 'Raad (geannuleerd)' }, 'gehouden'],
  [{ canceled: true, description: 'De vergadering is NIET geannuleerd' }, 'geannuleerd'],
  [{ canceled: undefined, description: 'Raad (geannuleerd)' }, 'geannuleerd'],
  [{ canceled: undefined, description: 'De excursie is afgelast' }, undefined],
])('a meeting of GemeenteOplossingen with %o is %j: a member of its own takes precedence', async (more, status) => {
  const supplier = await startGo('v1');
  onTestFinished(() => supplier.close());
  supplier.meetings.set(11, goMeetingOf(11, more));
  const source = { organisationId: supplier.address, organisatiecode: 'gm0406', naam: 'Gemeente Huizen' };
  const options = { allowPrivate: true, retry: { attempts: 2, firstDelay: 1, maxDelay: 50 } };
  const read = new MemoryFeed((clock) => createAdapter(createGo({ clock, ...options }), clock), {}, source);
  onTestFinished(() => read.adapter.close());
  await read.round();
  expect(read.get('Vergadering/go-meeting-11').vergaderstatus).toBe(status);
});

it.each([
  ['Geannuleerd', 'cancelled'],
  ['gaat niet door', 'cancelled'],
  ['Vindt niet plaats', 'cancelled'],
  ['Verplaatst', 'moved'],
  ['Niet geannuleerd', undefined],
  ['is niet verplaatst', undefined],
  ['Gehouden', undefined],
])('a page reads the status %j of any feed as %j', (status, state) => {
  expect(meetingState(status)).toBe(state);
});

it('pages and the calendar show meetings that take place, those that do not, and what each text says', async () => {
  const supplier = await startIbabs();
  onTestFinished(() => supplier.close());
  const on = new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 10);
  const explanations = [
    'Let op: agendapunt 7 is vervallen',
    'De vergadering is NIET geannuleerd',
    'De excursie is afgelast; de raad vergadert gewoon',
    'gaat niet door',
    'verplaatst naar een latere datum',
    '<p>Inloop vanaf 19:00 &amp; koffie</p>',
  ];
  const meetings = explanations.map((Explanation, n) => meetingOf(n + 1, on, { Explanation }));
  supplier.sites.set('voorbeeldstad', siteOf({ meetings }));
  const pages = await startPages({ ...AGGREGATOR_ENV, IBABS_URL: supplier.base });
  onTestFinished(() => pages.stop());
  await follow(pages.pool, 'ibabs:voorbeeldstad', {
    soort: 'leveranciers-api',
    organisatiecodes: ['gm0553'],
    naam: 'Gemeente Lisse',
    vanaf: '2026-01-01',
  });
  const states = async (): Promise<Record<string, string>> => {
    const { text } = await pages.get('/gm0553/agenda.ics');
    const events = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent');
    return Object.fromEntries(
      events.map((event) => [
        Number(/-0*(\d+)\.vergadering/.exec(String(event.getFirstPropertyValue('uid')))?.[1]),
        String(event.getFirstPropertyValue('status')),
      ]),
    );
  };
  await eventually(async () => expect(Object.keys(await states())).toHaveLength(6));
  expect(await states()).toEqual({
    1: 'CONFIRMED',
    2: 'CONFIRMED',
    3: 'CONFIRMED',
    4: 'CANCELLED',
    5: 'TENTATIVE',
    6: 'CONFIRMED',
  });
  for (const [i, explanation] of explanations.entries()) {
    const { status, text } = await pages.get(`/gm0553/vergaderingen/ibabs-meeting-${guid(i + 1)}`);
    expect(status).toBe(200);
    expect(text).toContain(explanation.replaceAll(/<[^>]*>/g, ''));
    expect(text.includes('Gaat niet door')).toBe(i === 3);
    expect(text.includes('&lt;p&gt;')).toBe(false);
  }
});
