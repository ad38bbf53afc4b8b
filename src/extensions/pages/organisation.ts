/** The page of an organisation: its calendar by month, its bodies, its newest documents, and how current it is. */

import { type Html, type HtmlValue, html, safeUrl, shorten } from '../../plugins/template.ts';
import type { FeedOrganisation, SourceCompleteness } from '../../raadsfeed/store/state.ts';
import { count, day, dayAndTime, isoDay, monthName, time } from '../shared/html/format.ts';
import { alert, facts, heading, link, type Page } from '../shared/html/page.ts';
import { HOME, isStale, organisationPath, type PagesContext, pagePath, withQuery } from './context.ts';
import { midnight, otherMonth } from './months.ts';
import { boundedList, hasTime, itemList, stateBadge, textIn } from './rows.ts';
import { type Body, type Item, type ItemFilter, listBodies, listItems } from './search/lists.ts';
import { searchForm, searchPath } from './search.ts';

const MEETINGS = 200;
const BODIES = 200;

const SOORTEN = {
  eigen: 'van de organisatie zelf',
  feed: 'uit de feed van een ander',
  'leveranciers-api': 'uit het systeem van een leverancier',
} as const;

/** @param wanted month, as `2018-02`; absent: this month, or that of the latest meeting */
export async function organisationPage(
  context: PagesContext,
  organisation: FeedOrganisation,
  wanted: string | undefined,
  gremium: string | undefined,
): Promise<Page> {
  const { pool, clock, baseUrl, apiUrl } = context;
  const { organisatiecode, naam } = organisation;
  const now = clock.now();
  const meetingsOf = { organisatiecode, gremium, resourceType: 'Vergadering' } as const;
  const month = wanted ?? (await startingMonth(context, meetingsOf));
  const [from, to] = [month, otherMonth(month, 1)].map((one) => midnight(`${one}-01`));
  const [meetings, [earlier], [later], bodies, documents, source] = await Promise.all([
    listItems(pool, { ...meetingsOf, from, to, order: 'oldest', limit: MEETINGS }),
    listItems(pool, { ...meetingsOf, to: from, limit: 1 }),
    listItems(pool, { ...meetingsOf, from: to, order: 'oldest', limit: 1 }),
    listBodies(pool, organisatiecode, BODIES),
    listItems(pool, { organisatiecode, gremium, resourceType: 'Informatieobject', limit: 10 }),
    context.completenessOf(organisatiecode),
  ]);
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
${itemList(meetings, { empty: 'In deze maand zijn er geen vergaderingen.', bytes: 40_000 })}
${nearest('Eerder', earlier, monthPath)}${nearest('Later', later, monthPath)}
${heading(2, 'Nieuwe documenten')}
${itemList(documents, { empty: 'Er zijn nog geen documenten.' })}
<ul class="kv-links"><li>${link(searchPath({ organisatie: organisatiecode, gremium, soort: 'informatieobjecten' }), 'Alle documenten')}</li></ul>
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

/** That of the first meeting from this month on, else of the last one. */
async function startingMonth({ pool, clock }: PagesContext, meetings: ItemFilter): Promise<string> {
  const month = isoDay(clock.now()).slice(0, 7);
  const [coming] = await listItems(pool, { ...meetings, from: midnight(`${month}-01`), order: 'oldest', limit: 1 });
  const [found = coming] = coming === undefined ? await listItems(pool, { ...meetings, limit: 1 }) : [];
  return found?.datum == null ? month : isoDay(found.datum).slice(0, 7);
}

function nearest(word: string, item: Item | undefined, monthPath: (month: string) => string): Html | undefined {
  if (item?.datum === undefined || item.datum === null) return undefined;
  return html`<p class="kv-list__line">${word}: ${link(monthPath(isoDay(item.datum).slice(0, 7)), shorten(item.titel, 80))}, ${day(item.datum)}</p>`;
}

/** `webcal` lets the client's calendar follow the agenda. */
function webcal(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/^https?:/, 'webcal:')}${path}`;
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
  return html`${boundedList(rows)}${chosen !== undefined && html`<p>${link(path, 'Toon alle vergaderingen')}</p>`}`;
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
