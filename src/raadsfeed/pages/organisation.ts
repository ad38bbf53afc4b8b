/** The page of an organisation: its calendar by month, its bodies, its newest documents, and how current it is. */
import { count, day, dayAndTime, monthName, time } from '../../html/format.ts';
import { alert, facts, heading, link, type Page } from '../../html/page.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten } from '../../lib/template.ts';
import { dutchDay, midnight } from '../../lib/time.ts';
import type { FeedOrganisation, SourceCompleteness } from '../store/state.ts';
import { fromPath, isStale, organisationPath, type PagesContext, pagePath, trail, withQuery } from './context.ts';
import { boundedList, hasTime, itemList, listRow, readWindow, stateBadge, textIn, windowList } from './rows.ts';
import { type Body, type Item, type ItemFilter, listBodies, listItems } from './search/lists.ts';
import { searchForm, searchPath } from './search.ts';

/** Meetings of a calendar; a month has a list of all of them below it. */
const MEETINGS = 500;
const BODIES = 40;
const DOCUMENTS = 10;

const SOORTEN = {
  eigen: 'van de organisatie zelf',
  feed: 'uit de feed van een ander',
  'leveranciers-api': 'uit het systeem van een leverancier',
} as const;

interface Asked {
  /** Month, as `2018-02`; absent: this month, or that of the latest meeting. */
  readonly wanted: string | undefined;
  readonly gremium: string | undefined;
  /** Position in the list of the month; absent: at today, or at its beginning. */
  readonly from: number | undefined;
}

export async function organisationPage(
  context: PagesContext,
  organisation: FeedOrganisation,
  { wanted, gremium, from }: Asked,
): Promise<Page> {
  const { pool, clock, baseUrl, apiUrl } = context;
  const { organisatiecode, naam } = organisation;
  const now = clock.now();
  const meetingsOf = { organisatiecode, gremium, resourceType: 'Vergadering' } as const;
  const month = wanted ?? (await startingMonth(context, meetingsOf));
  const [first, after] = [month, otherMonth(month, 1)].map((one) => midnight(`${one}-01`));
  const ofMonth = { ...meetingsOf, from: first, to: after } as const;
  const [meetings, [earlier], [later], bodies, chosen, documents, source] = await Promise.all([
    listItems(pool, { ...ofMonth, order: 'oldest', limit: MEETINGS }),
    listItems(pool, { ...meetingsOf, to: first, limit: 1 }),
    listItems(pool, { ...meetingsOf, from: after, order: 'oldest', limit: 1 }),
    listBodies(pool, { organisatiecode, now }, { limit: BODIES + 1 }),
    gremium === undefined ? [] : listBodies(pool, { organisatiecode, gremium, now }, { limit: 1 }),
    listItems(pool, {
      organisatiecode,
      gremium,
      resourceType: 'Informatieobject',
      order: 'stored',
      limit: DOCUMENTS + 1,
    }),
    context.completenessOf(organisatiecode),
  ]);
  const path = organisationPath(organisatiecode);
  const monthPath = (other: string): string => withQuery(path, { gremium, maand: other });
  const dayPath = (one: string): string =>
    searchPath({ organisatie: organisatiecode, gremium, soort: 'vergaderingen', van: one, tot: one });
  const [body] = chosen;
  const title = body === undefined ? naam : `${body.naam}, ${naam}`;
  const feed = safeUrl(organisation.herkomst ?? undefined);
  const updated = organisation.laatstBijgewerkt && dayAndTime(organisation.laatstBijgewerkt);
  const agenda = withQuery(`${path}/agenda.ics`, { gremium });
  const atom = withQuery(`${path}/documenten.atom`, { gremium });
  return {
    title,
    description: `Vergaderingen, commissies en documenten van ${naam}.`,
    canonical: `${baseUrl()}${withQuery(path, { gremium, maand: wanted, vanaf: from })}`,
    json: `${apiUrl()}/organisaties/${organisatiecode}/vergaderingen`,
    alternates: [
      { href: agenda, type: 'text/calendar', title: `Agenda van ${naam}` },
      { href: atom, type: 'application/atom+xml', title: `Nieuwe documenten van ${naam}` },
    ],
    path: body === undefined ? trail() : trail(organisation),
    body: [
      heading(1, shorten(title, 200)),
      isStale(organisation, now) &&
        alert(
          'warning',
          `Deze gegevens lopen achter. Ze zijn ${updated === null ? 'nog niet eerder bijgewerkt' : `voor het laatst bijgewerkt op ${updated}`}.`,
        ),
      searchForm({ organisatie: organisatiecode, gremium }),
      heading(2, `Vergaderingen in ${monthName(month)}`, 'agenda'),
      html`<nav class="kv-month" aria-label="Andere maanden">${link(monthPath(otherMonth(month, -1)), `‹ ${monthName(otherMonth(month, -1))}`)}${link(monthPath(otherMonth(month, 1)), `${monthName(otherMonth(month, 1))} ›`)}</nav>`,
      meetings.length > 0 && meetings.length < MEETINGS && calendar(month, meetings, now, dayPath),
      html`<div class="kv-columns"><div>
${await monthList(context, ofMonth, month, from, (vanaf) => withQuery(path, { gremium, maand: month, vanaf }))}
${nearest('Eerder', earlier, monthPath)}${nearest('Later', later, monthPath)}
${heading(2, 'Nieuwe documenten')}
${itemList(documents, { now, most: DOCUMENTS, all: { href: searchPath({ organisatie: organisatiecode, gremium, soort: 'informatieobjecten' }), text: 'Alle documenten' }, empty: 'Er zijn nog geen documenten.' })}
</div><div>
${bodies.length > 0 && [heading(2, 'Raad en commissies'), bodyList(path, bodies, gremium)]}
${heading(2, 'Downloaden en volgen')}
<ul class="kv-facets">
<li>${link(`${baseUrl().replace(/^https?:/, 'webcal:')}${agenda}`, 'Agenda in uw kalender zetten')}</li>
<li>${link(agenda, 'Agenda als bestand')}</li>
<li>${link(atom, 'Nieuwe documenten volgen (Atom)')}</li>
<li>${link(withQuery(`${path}/vergaderingen.csv`, { gremium }), 'Vergaderingen als CSV')}</li>
<li>${link(withQuery(`${path}/informatieobjecten.csv`, { gremium }), 'Documenten als CSV')}</li>
<li>${link(`${path}/gremia.csv`, 'Raad en commissies als CSV')}</li>
</ul>
${heading(2, 'Hoe actueel')}
${facts([
  ['Herkomst', SOORTEN[organisation.herkomstSoort]],
  ['Bron', feed !== undefined && link(feed, 'De feed van de bron')],
  ['Bijgewerkt', updated ?? 'Nog niet'],
  ...(source === undefined ? [] : sourceFacts(source)),
])}
</div></div>`,
    ],
  };
}

function sourceFacts({ suppliers, ...source }: SourceCompleteness): [string, HtmlValue][] {
  const { readAt, behind, refused, coverage, failingSince } = source;
  const noon = (date: string): Date => new Date(`${date}T12:00:00Z`);
  const periods = suppliers.map(({ name, from, to }) =>
    [name, from && `vanaf ${day(noon(from))}`, to && `tot en met ${day(noon(to))}`].filter((part) => part).join(' '),
  );
  const missing = [
    coverage === null ? undefined : `${percentage.format(coverage)} % van wat de bron toont`,
    refused === 0 ? undefined : `${count(refused)} ${refused === 1 ? 'stuk' : 'stukken'} van de bron niet overgenomen`,
  ].filter((part) => part !== undefined);
  return [
    ['Leverancier', periods.length > 0 && periods.join('; ')],
    ['Bron gelezen', readAt === null ? 'Nog niet volledig' : `Voor het laatst volledig op ${dayAndTime(readAt)}`],
    ['Storing', failingSince !== null && `De bron is niet te lezen sinds ${dayAndTime(failingSince)}`],
    [
      'Achterstand',
      behind === null ? 'Niet bekend' : behind === 0 ? 'Geen' : `${count(behind)} wijzigingen van de bron`,
    ],
    ['Volledigheid', missing.length === 0 ? 'Voor zover bekend compleet' : missing.join(', ')],
  ];
}

const percentage = new Intl.NumberFormat('nl-NL', { maximumFractionDigits: 1 });

function otherMonth(month: string, by: number): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

/** That of the first meeting from this month on, else of the last one. */
async function startingMonth({ pool, clock }: PagesContext, meetings: ItemFilter): Promise<string> {
  const month = dutchDay(clock.now()).slice(0, 7);
  const [coming] = await listItems(pool, { ...meetings, from: midnight(`${month}-01`), order: 'oldest', limit: 1 });
  const [found = coming] = coming === undefined ? await listItems(pool, { ...meetings, limit: 1 }) : [];
  return found?.datum == null ? month : dutchDay(found.datum).slice(0, 7);
}

function nearest(word: string, item: Item | undefined, monthPath: (month: string) => string): Html | undefined {
  if (item?.datum === undefined || item.datum === null) return undefined;
  return html`<p class="kv-list__line">${word}: ${link(monthPath(dutchDay(item.datum).slice(0, 7)), shorten(item.titel, 80))}, ${day(item.datum)}</p>`;
}

function bodyLine(path: string, { gremium, naam, vergaderingen, laatste, volgende }: Body, chosen?: string): Html {
  const last = volgende === null && laatste !== null && `, laatste op ${day(laatste)}`;
  return html`<li>${gremium === chosen ? html`<strong>${shorten(naam, 100)}</strong>` : link(withQuery(path, { gremium }), shorten(naam, 100))}
<p class="kv-list__line">${count(vergaderingen)} ${vergaderingen === 1 ? 'vergadering' : 'vergaderingen'}${volgende !== null && `, volgende op ${day(volgende)}`}${last}</p></li>`;
}

function bodyList(path: string, bodies: readonly Body[], chosen: string | undefined): Html {
  const rows = bodies.map((body) => bodyLine(path, body, chosen));
  const all = { href: `${path}/gremia`, text: 'Raad en alle commissies' };
  return html`${boundedList(rows, BODIES, { all })}${chosen !== undefined && html`<p>${link(path, 'Toon alle vergaderingen')}</p>`}`;
}

export async function bodiesPage(
  { pool, clock, baseUrl, apiUrl }: PagesContext,
  organisation: FeedOrganisation,
  from: number,
): Promise<Page> {
  const { organisatiecode, naam } = organisation;
  const path = organisationPath(organisatiecode);
  const now = clock.now();
  const at = (vanaf: number): string => fromPath(`${path}/gremia`, vanaf);
  const found = await readWindow(
    from,
    (slice) => listBodies(pool, { organisatiecode, now }, slice),
    (body) => bodyLine(path, body),
  );
  return {
    title: `Raad en commissies, ${naam}`,
    description: `De raad en de commissies van ${naam}.`,
    canonical: `${baseUrl()}${at(from)}`,
    json: `${apiUrl()}/organisaties/${organisatiecode}/vergaderingen`,
    path: trail(organisation),
    body: [heading(1, 'Raad en commissies'), windowList(found, 'Er zijn nog geen commissies bekend.', at)],
  };
}

/** The meetings of a month. The current one begins with today; past meetings are folded. */
async function monthList(
  { pool, clock }: PagesContext,
  meetings: ItemFilter,
  month: string,
  from: number | undefined,
  at: (from: number) => string,
): Promise<HtmlValue> {
  const now = clock.now();
  const isCurrent = from === undefined && dutchDay(now).slice(0, 7) === month;
  const past = isCurrent
    ? await listItems(pool, { ...meetings, to: midnight(dutchDay(now)), order: 'oldest', limit: MEETINGS })
    : [];
  const found = await readWindow(
    from ?? past.length,
    (slice) => listItems(pool, { ...meetings, ...slice, order: 'oldest' }),
    (item) => listRow(item, { now }),
  );
  const all = { href: at(0), text: 'Alle vergaderingen van deze maand' };
  const empty = `In deze maand zijn er geen vergaderingen${past.length > 0 ? ' meer' : ''}.`;
  return [
    windowList(past.length > 0 ? { ...found, previous: undefined } : found, empty, at),
    past.length > 0 &&
      html`<details class="kv-fold"${found.rows.length === 0 && html` open`}><summary>Eerder deze maand <span class="kv-quiet">(${count(past.length)})</span></summary>
${itemList(past, { now, all })}</details>`,
  ];
}

/** Marks where long words of meetings may be broken, because not every browser can hyphenate Dutch. */
function breakable(text: string): string {
  return text.replaceAll(
    /(raads|staten|bestuurs|begrotings|samenlevings|leefbaarheids|informatie|commissie|gemeente|waterschaps|burger)(?=\p{L}{4})/giu,
    '$1\u00ad',
  );
}

const WEEKDAYS = ['maandag', 'dinsdag', 'woensdag', 'donderdag', 'vrijdag', 'zaterdag', 'zondag'];

const OF_DAY = 6;

/** A month as a table of weeks; narrow screens show only the list below it. */
function calendar(month: string, meetings: readonly Item[], now: Date, dayPath: (day: string) => string): Html {
  const byDay = Map.groupBy(meetings, ({ datum }) => (datum === null ? '' : dutchDay(datum)));
  const first = new Date(`${month}-01T12:00:00Z`);
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const before = (first.getUTCDay() + 6) % 7;
  const cells = Array.from({ length: Math.ceil((before + days) / 7) * 7 }, (_, i) => {
    const number = i - before + 1;
    if (number < 1 || number > days) return html`<td class="kv-calendar__none"></td>`;
    const date = `${month}-${String(number).padStart(2, '0')}`;
    const found = byDay.get(date) ?? [];
    const rest = found.length - OF_DAY;
    const items = found.slice(0, OF_DAY).map((item) => {
      const at = item.datum !== null && hasTime(item.summary) && `${time(item.datum)} `;
      const status = stateBadge(textIn(item.summary, 'vergaderstatus'), item.datum, now);
      return html`<li>${at}${link(pagePath(item), breakable(shorten(item.titel, 50)))} ${status}</li>`;
    });
    const isToday = dutchDay(now) === date;
    return html`<td${isToday && html` class="kv-calendar__today" aria-current="date"`}><span class="kv-calendar__day">${number}${isToday && html`<span class="kv-hidden"> vandaag</span>`}</span>${items.length > 0 && html`<ul>${items}${rest > 0 && html`<li>${link(dayPath(date), `en nog ${rest}`)}</li>`}</ul>`}</td>`;
  });
  const weeks = Array.from(
    { length: cells.length / 7 },
    (_, week) => html`<tr>${cells.slice(week * 7, week * 7 + 7)}</tr>`,
  );
  return html`<table class="kv-calendar"><caption>Vergaderingen in ${monthName(month)}</caption>
<thead><tr>${WEEKDAYS.map((name) => html`<th scope="col"><abbr title="${name}">${name.slice(0, 2)}</abbr></th>`)}</tr></thead>
<tbody>${weeks}</tbody></table>`;
}
