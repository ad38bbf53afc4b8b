/** The page of an organisation: its calendar by month, its bodies, its newest documents, and how current it is. */
import { count, day, dayAndTime, isoDay, monthName, time } from '../../plugins/html/format.ts';
import { alert, facts, heading, link, type Page } from '../../plugins/html/page.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten } from '../../plugins/html/template.ts';
import type { FeedOrganisation, SourceCompleteness } from '../../raadsfeed/store/state.ts';
import { HOME, isStale, organisationPath, type PagesContext, pagePath, withQuery } from './context.ts';
import { monthBounds, otherMonth } from './months.ts';
import { boundedList, documentRow, hasTime, meetingRow, stateBadge, textIn } from './rows.ts';
import type { Item } from './search/find.ts';
import { readIndexState } from './search/follow-feed.ts';
import { type Body, listBodies, listDocuments, listMeetings, readCompleteness } from './search/lists.ts';
import { searchForm } from './search-form.ts';

const MEETINGS = 200;
const BODIES = 200;
/** Beyond this many, counting takes longer than the figure is worth. */
const COUNTED = 10_000;

const SOORTEN = {
  eigen: 'van de organisatie zelf',
  feed: 'uit de feed van een ander',
  'leveranciers-api': 'uit het systeem van een leverancier',
} as const;

interface OrganisationQuery {
  /** `2018-02`; absent: this month, or that of the latest meeting. */
  readonly month: string | undefined;
  readonly gremium: string | undefined;
}

export async function organisationPage(
  context: PagesContext,
  organisation: FeedOrganisation,
  { month: wanted, gremium }: OrganisationQuery,
): Promise<Page> {
  const { pool, clock, baseUrl, apiUrl } = context;
  const { organisatiecode, naam } = organisation;
  const now = clock.now();
  const month = wanted ?? (await startingMonth(context, organisatiecode, gremium));
  const { from, to } = monthBounds(month);
  const [meetings, earlier, later, bodies, documents, amounts, index, source] = await Promise.all([
    listMeetings(pool, { organisatiecode, gremium, from, to, order: 'oldest', limit: MEETINGS }),
    listMeetings(pool, { organisatiecode, gremium, to: from, order: 'newest', limit: 1 }),
    listMeetings(pool, { organisatiecode, gremium, from: to, order: 'oldest', limit: 1 }),
    listBodies(pool, organisatiecode, BODIES),
    listDocuments(pool, { organisatiecode, gremium, limit: 10 }),
    readCompleteness(pool, organisatiecode, COUNTED),
    readIndexState(pool),
    context.completenessOf(organisatiecode),
  ]);
  const head = (await context.heads.head()).head.sequenceNumber;
  const path = organisationPath(organisatiecode);
  const monthPath = (other: string): string => withQuery(path, { gremium, maand: other });
  const body = bodies.find((one) => one.gremium === gremium);
  const title = body === undefined ? naam : `${body.naam}, ${naam}`;
  const agenda = withQuery(`${path}/agenda.ics`, { gremium });
  const atom = withQuery(`${path}/documenten.atom`, { gremium });
  return {
    title,
    description: `Vergaderingen, commissies en documenten van ${naam}.`,
    canonical: `${baseUrl()}${withQuery(path, { gremium, maand: wanted })}`,
    json: `${apiUrl()}/organisaties/${organisatiecode}/vergaderingen`,
    alternates: [
      { href: agenda, type: 'text/calendar', title: `Agenda van ${naam}` },
      { href: atom, type: 'application/atom+xml', title: `Nieuwe documenten van ${naam}` },
    ],
    path: [{ href: HOME, text: 'Begin' }, ...(body === undefined ? [] : [{ href: path, text: naam }])],
    body: [
      heading(1, shorten(title, 200)),
      isStale(organisation, now) &&
        alert(
          'warning',
          `Deze gegevens lopen achter. ${organisation.laatstBijgewerkt === null ? 'Ze zijn nog niet eerder bijgewerkt.' : `De laatste keer dat ze zijn bijgewerkt was ${dayAndTime(organisation.laatstBijgewerkt)}.`}`,
        ),
      searchForm('', { organisatie: organisatiecode, gremium }),
      html`<div class="kv-columns"><div>
${heading(2, `Vergaderingen in ${monthName(month)}`, 'agenda')}
<nav class="kv-month" aria-label="Andere maanden">${link(monthPath(otherMonth(month, -1)), `‹ ${monthName(otherMonth(month, -1))}`)}${link(monthPath(otherMonth(month, 1)), `${monthName(otherMonth(month, 1))} ›`)}</nav>
${meetings.length > 0 && calendar(month, meetings)}
${boundedList(
  meetings.map((item) => meetingRow(item, undefined)),
  40_000,
  'In deze maand zijn er geen vergaderingen.',
)}
${nearest('Eerder', earlier[0], monthPath)}${nearest('Later', later[0], monthPath)}
${heading(2, 'Nieuwe documenten')}
${boundedList(
  documents.map((item) => documentRow(item, undefined)),
  20_000,
  'Er zijn nog geen documenten.',
)}
<ul class="kv-links"><li>${link(withQuery(`${path}/informatieobjecten`, { gremium }), 'Alle documenten')}</li></ul>
</div><div>
${bodies.length > 0 && [heading(2, 'Raad en commissies'), bodyList(path, bodies, gremium)]}
${heading(2, 'Meenemen')}
<ul class="kv-facets">
<li>${link(webcal(baseUrl(), agenda), 'Agenda in uw kalender zetten')}</li>
<li>${link(agenda, 'Agenda als bestand')}</li>
<li>${link(atom, 'Nieuwe documenten volgen (Atom)')}</li>
<li>${link(withQuery(`${path}/vergaderingen.csv`, { gremium }), 'Vergaderingen als CSV')}</li>
<li>${link(withQuery(`${path}/informatieobjecten.csv`, { gremium }), 'Documenten als CSV')}</li>
<li>${link(`${path}/gremia.csv`, 'Raad en commissies als CSV')}</li>
</ul>
${heading(2, 'Hoe actueel')}
${facts([
  ['Herkomst', SOORTEN[organisation.herkomstSoort]],
  [
    'Bron',
    safeUrl(organisation.herkomst ?? undefined) !== undefined &&
      link(organisation.herkomst ?? '', 'De feed van de bron'),
  ],
  ['Bijgewerkt', organisation.laatstBijgewerkt === null ? 'Nog niet' : dayAndTime(organisation.laatstBijgewerkt)],
  ...(source === undefined ? [] : sourceFacts(source)),
  ['Vergaderingen', amount(amounts?.vergaderingen)],
  ['Agendapunten', amount(amounts?.agendapunten)],
  ['Documenten', amount(amounts?.documenten)],
  ['Zonder bestand', amounts !== undefined && amounts.zonderBestand > 0 && amount(amounts.zonderBestand)],
  ['Zoeken', index.toScan > 0 || index.position < head ? 'Wordt nu bijgewerkt' : 'Helemaal bij'],
])}
</div></div>`,
    ],
  };
}

/** How far behind its source, and how complete. */
function sourceFacts({ readAt, behind, refused, coverage, failingSince }: SourceCompleteness): [string, HtmlValue][] {
  const missing = [
    coverage === null ? undefined : `${percentage.format(coverage)} % van wat de bron toont`,
    refused === 0 ? undefined : `${count(refused)} ${refused === 1 ? 'stuk' : 'stukken'} van de bron niet overgenomen`,
  ].filter((part) => part !== undefined);
  return [
    ['Bron gelezen', readAt === null ? 'Nog niet helemaal' : `Helemaal op ${dayAndTime(readAt)}`],
    ['Storing', failingSince !== null && `De bron is niet te lezen sinds ${dayAndTime(failingSince)}`],
    [
      'Achterstand',
      behind === null ? 'Niet bekend' : behind === 0 ? 'Geen' : `${count(behind)} wijzigingen van de bron`,
    ],
    ['Volledigheid', missing.length === 0 ? 'Niets bekend dat ontbreekt' : missing.join(', ')],
  ];
}

const percentage = new Intl.NumberFormat('nl-NL', { maximumFractionDigits: 1 });

/** This month when something is on, else the month of the meeting nearest to it that has been or comes. */
async function startingMonth(
  { pool, clock }: PagesContext,
  organisatiecode: string,
  gremium: string | undefined,
): Promise<string> {
  const month = isoDay(clock.now()).slice(0, 7);
  const { from } = monthBounds(month);
  const [coming] = await listMeetings(pool, { organisatiecode, gremium, from, order: 'oldest', limit: 1 });
  const [found] =
    coming === undefined ? await listMeetings(pool, { organisatiecode, gremium, order: 'newest', limit: 1 }) : [coming];
  return found?.datum === undefined || found.datum === null ? month : isoDay(found.datum).slice(0, 7);
}

function nearest(word: string, item: Item | undefined, monthPath: (month: string) => string): Html | undefined {
  if (item?.datum === undefined || item.datum === null) return undefined;
  return html`<p class="kv-list__line">${word}: ${link(monthPath(isoDay(item.datum).slice(0, 7)), shorten(item.titel, 80))}, ${day(item.datum)}</p>`;
}

/** `webcal` lets the client's calendar follow the agenda. */
function webcal(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/^https?:/, 'webcal:')}${path}`;
}

function amount(number: number | undefined): string | undefined {
  if (number === undefined) return undefined;
  return number >= COUNTED ? `${count(COUNTED)} of meer` : count(number);
}

function bodyList(path: string, bodies: readonly Body[], chosen: string | undefined): Html {
  const rows = bodies.map(
    ({
      gremium,
      naam,
      vergaderingen,
      laatste,
    }) => html`<li>${gremium === chosen ? html`<strong>${shorten(naam, 100)}</strong>` : link(withQuery(path, { gremium }), shorten(naam, 100))}
<p class="kv-list__line">${count(vergaderingen)} ${vergaderingen === 1 ? 'vergadering' : 'vergaderingen'}${laatste !== null && `, laatste op ${day(laatste)}`}</p></li>`,
  );
  return html`${boundedList(rows, 25_000, '')}${chosen !== undefined && html`<p>${link(path, 'Toon alle vergaderingen')}</p>`}`;
}

/** Marks where the long words of meetings may be broken: not every browser knows how to hyphenate Dutch. */
function breakable(text: string): string {
  return text.replaceAll(/(raads|staten|begrotings|informatie|commissie|gemeente)(?=\p{L}{5})/giu, '$1\u00ad');
}

const WEEKDAYS = ['maandag', 'dinsdag', 'woensdag', 'donderdag', 'vrijdag', 'zaterdag', 'zondag'];

/** A month as a table of weeks; narrow screens show only the list below it. */
function calendar(month: string, meetings: readonly Item[]): Html {
  const byDay = Map.groupBy(meetings, ({ datum }) => (datum === null ? '' : isoDay(datum)));
  const first = new Date(`${month}-01T12:00:00Z`);
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const before = (first.getUTCDay() + 6) % 7;
  const cells = Array.from({ length: Math.ceil((before + days) / 7) * 7 }, (_, i) => {
    const number = i - before + 1;
    if (number < 1 || number > days) return html`<td class="kv-calendar__none"></td>`;
    const found = byDay.get(`${month}-${String(number).padStart(2, '0')}`) ?? [];
    const items = found
      .slice(0, 6)
      .map(
        (item) =>
          html`<li>${item.datum !== null && hasTime(item.kort) && `${time(item.datum)} `}${link(pagePath(item.resourceType, item), breakable(shorten(item.titel, 50)))} ${stateBadge(textIn(item.kort, 'vergaderstatus'))}</li>`,
      );
    return html`<td><span class="kv-calendar__day">${number}</span>${items.length > 0 && html`<ul>${items}${found.length > 6 && html`<li>en nog ${found.length - 6}</li>`}</ul>`}</td>`;
  });
  const weeks = Array.from(
    { length: cells.length / 7 },
    (_, week) => html`<tr>${cells.slice(week * 7, week * 7 + 7)}</tr>`,
  );
  return html`<table class="kv-calendar"><caption>Vergaderingen in ${monthName(month)}</caption>
<thead><tr>${WEEKDAYS.map((name) => html`<th scope="col"><abbr title="${name}">${name.slice(0, 2)}</abbr></th>`)}</tr></thead>
<tbody>${weeks}</tbody></table>`;
}
