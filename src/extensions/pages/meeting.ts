/** The page of a meeting. */

import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { dayAndTime, time, weekday } from '../../plugins/html/format.ts';
import { facts, heading, link, type Page } from '../../plugins/html/page.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten } from '../../plugins/html/template.ts';
import type { Resource } from '../../raadsfeed/domain/resource.ts';
import type { FeedOrganisation } from '../../raadsfeed/store/state.ts';
import { agenda } from './agenda.ts';
import { HOME, jsonAddress, organisationPath, type PagesContext, pagePath, withQuery } from './context.ts';
import { historyList } from './history.ts';
import { boundedList, documentRow, hasTime, meetingRow, meetingState, momentIn, stateBadge, textIn } from './rows.ts';
import { meetingDate } from './search/entry.ts';
import type { Item } from './search/find.ts';
import { readHistory } from './search/history.ts';
import { findNeighbours, listItemDocuments, listItems, listReferred, listReferring } from './search/lists.ts';

const ITEMS = 500;
const DOCUMENTS = 500;

/** What suppliers write in English, in Dutch; other words are shown as they are. */
const KINDS: Readonly<Record<string, string>> = { council: 'raad', committee: 'commissie' };
const meetingKind = (text: string): string => KINDS[text] ?? shorten(text, 100);

/** @param data the meeting as the feed has it */
export async function meetingPage(
  context: PagesContext,
  organisation: FeedOrganisation,
  resource: Resource,
  data: JsonObject,
): Promise<Page> {
  const { pool, baseUrl } = context;
  const { organisatiecode, bronidentificatie } = resource;
  const of = { organisatiecode, resourceType: 'Vergadering' } as const;
  const [items, documents, ofMeeting, parts, whole, neighbours, history] = await Promise.all([
    listItems(pool, organisatiecode, bronidentificatie, ITEMS),
    listItemDocuments(pool, organisatiecode, bronidentificatie, DOCUMENTS),
    listReferring(pool, { ...of, bronidentificaties: [bronidentificatie] }, 'Informatieobject', DOCUMENTS),
    listReferring(pool, { ...of, bronidentificaties: [bronidentificatie] }, 'Vergadering', 50),
    listReferred(pool, { ...of, bronidentificatie }, 10),
    findNeighbours(pool, organisatiecode, bronidentificatie),
    readHistory(pool, 'Vergadering', resource),
  ]);
  const underItem = new Set(documents.map((document) => document.bronidentificatie));
  const others = ofMeeting.filter((document) => !underItem.has(document.bronidentificatie));
  const name = textIn(data, 'naam') ?? 'Vergadering';
  const moment = meetingDate(data);
  const when = moment === undefined ? undefined : new Date(moment);
  const title = when === undefined ? name : `${name}, ${weekday(when)}`;
  const status = textIn(data, 'vergaderstatus');
  const address = pagePath('Vergadering', resource);
  return {
    title,
    description: `Agenda, documenten en geschiedenis van ${shorten(name, 80)} van ${organisation.naam}.`,
    canonical: `${baseUrl()}${address}`,
    json: jsonAddress(context, 'Vergadering', resource),
    structuredData: event(context, organisation, resource, data),
    path: [
      { href: HOME, text: 'Begin' },
      { href: organisationPath(organisatiecode), text: organisation.naam },
    ],
    body: [
      heading(1, shorten(name, 300)),
      meetingFacts(organisation, data, when, status),
      parts.length > 0 && [
        heading(2, 'Delen van deze vergadering'),
        boundedList(
          parts.map((item) => meetingRow(item, undefined)),
          10_000,
          '',
        ),
      ],
      whole.length > 0 && [
        heading(2, 'Deel van'),
        boundedList(
          whole.map((item) => meetingRow(item, undefined)),
          5_000,
          '',
        ),
      ],
      heading(2, 'Agenda', 'agenda'),
      agenda(items, references(data.agendapunten), documents),
      others.length > 0 && [
        heading(2, 'Documenten bij de vergadering'),
        boundedList(
          others.map((item) => documentRow(item, undefined)),
          20_000,
          '',
        ),
      ],
      html`<ul class="kv-links">${items.length > 0 && html`<li>${link(`${address}/agenda.csv`, 'Agenda als CSV')}</li>`}
${[...references(data.agendapunten)].length > items.length && html`<li class="kv-quiet">Een deel van de agenda is nog niet gepubliceerd.</li>`}</ul>`,
      (neighbours.earlier !== undefined || neighbours.next !== undefined) &&
        html`${heading(2, 'Andere vergaderingen')}<nav class="kv-pager" aria-label="Andere vergaderingen van deze commissie">${neighbour('Vorige', neighbours.earlier)}${neighbour('Volgende', neighbours.next)}</nav>`,
      heading(2, 'Geschiedenis'),
      historyList(history),
    ],
  };
}

function meetingFacts(
  organisation: FeedOrganisation,
  data: JsonObject,
  when: Date | undefined,
  status: string | undefined,
): Html {
  const end = momentIn(data, 'einde') ?? momentIn(data, 'geplandeeinde');
  const body = isRecord(data.georganiseerddoorgremium) ? data.georganiseerddoorgremium : {};
  const bodyName = textIn(body, 'gremiumnaam');
  const bodyPath = withQuery(organisationPath(organisation.organisatiecode), {
    gremium: textIn(body, 'gremiumidentificatie'),
  });
  const source = safeUrl(textIn(data, 'webpaginalink'));
  const planned = momentIn(data, 'geplandeaanvang');
  const began = momentIn(data, 'aanvang');
  return facts([
    ['Wanneer', when === undefined ? 'Nog niet bekend' : whenText(data, when, end)],
    [
      'Gepland',
      began !== undefined && planned !== undefined && began.getTime() !== planned.getTime() && dayAndTime(planned),
    ],
    ['Waar', shorten(textIn(data, 'locatie') ?? '', 300)],
    ['Wie', bodyName !== undefined && link(bodyPath, shorten(bodyName, 200))],
    ['Organisatie', link(organisationPath(organisation.organisatiecode), shorten(organisation.naam, 200))],
    [
      'Status',
      status !== undefined && [stateBadge(status), meetingState(status) === 'cancelled' && ` ${shorten(status, 100)}`],
    ],
    ['Soort', meetingKind(textIn(data, 'vergaderingstype') ?? '')],
    [
      'Toelichting',
      textIn(data, 'vergadertoelichting') !== undefined &&
        html`<span class="kv-pre">${shorten(textIn(data, 'vergadertoelichting') ?? '', 3000)}</span>`,
    ],
    ['Bij de bron', source !== undefined && link(source, 'Bekijk deze vergadering op de site van de bron')],
  ]);
}

function whenText(data: JsonObject, when: Date, end: Date | undefined): HtmlValue {
  if (!hasTime(data)) return weekday(when);
  const sameDay = end !== undefined && weekday(end) === weekday(when);
  return html`<time datetime="${when.toISOString()}">${weekday(when)}, ${time(when)} uur</time>${end !== undefined && ` tot ${sameDay ? `${time(end)} uur` : dayAndTime(end)}`}`;
}

function neighbour(word: string, item: Item | undefined): HtmlValue {
  if (item?.datum === undefined || item.datum === null) return undefined;
  return link(pagePath('Vergadering', item), `${word}: ${weekday(item.datum)}`);
}

/** Identifications that a list of references names, in its order. */
export function references(list: unknown): string[] {
  return (Array.isArray(list) ? list : [])
    .filter(isRecord)
    .flatMap(({ bronidentificatie }) => (typeof bronidentificatie === 'string' ? bronidentificatie : []));
}

const EVENT_STATUS = { cancelled: 'EventCancelled', moved: 'EventRescheduled', closed: 'EventScheduled' } as const;

/** @see https://schema.org/Event */
function event(
  { baseUrl }: PagesContext,
  { naam }: FeedOrganisation,
  resource: Resource,
  data: JsonObject,
): object | undefined {
  const start = meetingDate(data);
  if (start === undefined) return undefined;
  const end = momentIn(data, 'einde') ?? momentIn(data, 'geplandeeinde');
  const status = meetingState(textIn(data, 'vergaderstatus'));
  return {
    '@context': 'https://schema.org',
    '@type': 'Event',
    name: shorten(textIn(data, 'naam') ?? 'Vergadering', 300),
    startDate: hasTime(data) ? start : start.slice(0, 10),
    ...(end === undefined ? {} : { endDate: end.toISOString() }),
    eventStatus: `https://schema.org/${status === undefined ? 'EventScheduled' : EVENT_STATUS[status]}`,
    location: { '@type': 'Place', name: shorten(textIn(data, 'locatie') ?? naam, 300) },
    organizer: { '@type': 'GovernmentOrganization', name: shorten(naam, 300) },
    url: `${baseUrl()}${pagePath('Vergadering', resource)}`,
    isAccessibleForFree: true,
  };
}
