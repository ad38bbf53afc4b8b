/** The page of a meeting. */

import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { dayAndTime, time, weekday } from '../../plugins/html/format.ts';
import { facts, heading, link, type Page } from '../../plugins/html/page.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten } from '../../plugins/html/template.ts';
import type { Resource } from '../../raadsfeed/domain/resource.ts';
import type { FeedOrganisation } from '../../raadsfeed/store/state.ts';
import { agenda } from './agenda.ts';
import { HOME, jsonAddress, organisationPath, type PagesContext, pagePath, withQuery } from './context.ts';
import { historyList, readHistory } from './history.ts';
import { hasTime, itemList, meetingState, momentIn, stateBadge, textIn } from './rows.ts';
import { meetingDate } from './search/entry.ts';
import { type Item, listItems, listLinked } from './search/lists.ts';

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
  const self = { organisatiecode, resourceType: 'Vergadering', bronidentificaties: [bronidentificatie] } as const;
  const items = await listItems(pool, {
    ...{ organisatiecode, resourceType: 'Agendapunt', vergadering: bronidentificatie },
    order: 'oldest',
    limit: ITEMS,
  });
  const agendapunten = items.map((item) => item.bronidentificatie);
  const [documents, referring, whole, [earlier, next], history] = await Promise.all([
    listLinked(
      pool,
      'to',
      { organisatiecode, resourceType: 'Agendapunt', bronidentificaties: agendapunten },
      DOCUMENTS,
    ),
    listLinked(pool, 'to', self, DOCUMENTS),
    listLinked(pool, 'from', self, 10),
    neighbours(context, organisatiecode, data),
    readHistory(pool, 'Vergadering', resource),
  ]);
  const parts = referring.filter(({ resourceType }) => resourceType === 'Vergadering');
  const underItem = new Set(documents.map((document) => document.bronidentificatie));
  const others = referring.filter(
    (one) => one.resourceType === 'Informatieobject' && !underItem.has(one.bronidentificatie),
  );
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
      parts.length > 0 && [heading(2, 'Delen van deze vergadering'), itemList(parts)],
      whole.length > 0 && [heading(2, 'Deel van'), itemList(whole)],
      heading(2, 'Agenda', 'agenda'),
      agenda(items, references(data.agendapunten), documents),
      others.length > 0 && [heading(2, 'Documenten bij de vergadering'), itemList(others)],
      html`<ul class="kv-links">${items.length > 0 && html`<li>${link(`${address}/agenda.csv`, 'Agenda als CSV')}</li>`}
${references(data.agendapunten).length > items.length && html`<li class="kv-quiet">Een deel van de agenda is nog niet gepubliceerd.</li>`}</ul>`,
      (earlier ?? next) !== undefined &&
        html`${heading(2, 'Andere vergaderingen')}<nav class="kv-pager" aria-label="Andere vergaderingen van deze commissie">${neighbour('Vorige', earlier)}${neighbour('Volgende', next)}</nav>`,
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

/** The meetings of its body just before and just after it. */
async function neighbours(
  { pool }: PagesContext,
  organisatiecode: string,
  data: JsonObject,
): Promise<readonly [earlier?: Item | undefined, next?: Item | undefined]> {
  const { gremiumidentificatie: gremium } = isRecord(data.georganiseerddoorgremium)
    ? data.georganiseerddoorgremium
    : {};
  const moment = meetingDate(data);
  if (typeof gremium !== 'string' || moment === undefined) return [];
  const when = new Date(moment);
  const of = { organisatiecode, gremium, resourceType: 'Vergadering', limit: 1 } as const;
  const [[earlier], [next]] = await Promise.all([
    listItems(pool, { ...of, to: when }),
    listItems(pool, { ...of, from: new Date(when.getTime() + 1), order: 'oldest' }),
  ]);
  return [earlier, next];
}

function neighbour(word: string, item: Item | undefined): HtmlValue {
  if (item?.datum === undefined || item.datum === null) return undefined;
  return link(pagePath('Vergadering', item), `${word}: ${weekday(item.datum)}`);
}

/** Identifications that a list of references names, in its order. */
function references(list: unknown): string[] {
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
