/** The page of a meeting. */

import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten } from '../../plugins/template.ts';
import type { Resource } from '../../raadsfeed/domain/resource.ts';
import type { FeedOrganisation } from '../../raadsfeed/store/state.ts';
import { dayAndTime, time, weekday } from '../shared/html/format.ts';
import { facts, heading, link, type Page } from '../shared/html/page.ts';
import { agenda } from './agenda.ts';
import { HOME, jsonAddress, organisationPath, type PagesContext, pagePath, withQuery } from './context.ts';
import { type HistoryEntry, historyList } from './history.ts';
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
  history: readonly HistoryEntry[],
): Promise<Page> {
  const { pool, baseUrl } = context;
  const { organisatiecode, bronidentificatie } = resource;
  const self = { organisatiecode, resourceType: 'Vergadering', bronidentificaties: [bronidentificatie] } as const;
  const items = await listItems(pool, {
    ...{ organisatiecode, resourceType: 'Agendapunt', vergadering: bronidentificatie },
    order: 'oldest',
    limit: ITEMS,
  });
  const agendapunten = {
    ...self,
    resourceType: 'Agendapunt',
    bronidentificaties: items.map((item) => item.bronidentificatie),
  } as const;
  const [documents, referring, whole, [earlier, next]] = await Promise.all([
    listLinked(pool, 'to', agendapunten, DOCUMENTS),
    listLinked(pool, 'to', self, DOCUMENTS),
    listLinked(pool, 'from', self, 10),
    neighbours(context, organisatiecode, data),
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
  const address = pagePath('Vergadering', resource);
  return {
    title,
    description: `Agenda, documenten en geschiedenis van ${shorten(name, 80)} van ${organisation.naam}.`,
    canonical: `${baseUrl()}${address}`,
    json: jsonAddress(context, 'Vergadering', resource),
    structuredData: event(organisation, data, `${baseUrl()}${address}`),
    path: [
      { href: HOME, text: 'Begin' },
      { href: organisationPath(organisatiecode), text: organisation.naam },
    ],
    body: [
      heading(1, shorten(name, 300)),
      meetingFacts(organisation, data, when),
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

function meetingFacts({ organisatiecode, naam }: FeedOrganisation, data: JsonObject, when: Date | undefined): Html {
  const status = textIn(data, 'vergaderstatus');
  const end = momentIn(data, 'einde') ?? momentIn(data, 'geplandeeinde');
  const body = bodyOf(data);
  const bodyName = textIn(body, 'gremiumnaam');
  const path = organisationPath(organisatiecode);
  const bodyPath = withQuery(path, { gremium: textIn(body, 'gremiumidentificatie') });
  const source = safeUrl(textIn(data, 'webpaginalink'));
  const remark = textIn(data, 'vergadertoelichting');
  return facts([
    ['Wanneer', when === undefined ? 'Nog niet bekend' : whenText(data, when, end)],
    ['Waar', shorten(textIn(data, 'locatie') ?? '', 300)],
    ['Wie', bodyName !== undefined && link(bodyPath, shorten(bodyName, 200))],
    ['Organisatie', link(path, shorten(naam, 200))],
    [
      'Status',
      status !== undefined && [stateBadge(status), meetingState(status) === 'cancelled' && ` ${shorten(status, 100)}`],
    ],
    ['Soort', meetingKind(textIn(data, 'vergaderingstype') ?? '')],
    ['Toelichting', remark !== undefined && html`<span class="kv-pre">${shorten(remark, 3000)}</span>`],
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
  const gremium = textIn(bodyOf(data), 'gremiumidentificatie');
  const moment = meetingDate(data);
  if (gremium === undefined || moment === undefined) return [];
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

/** The body that holds the meeting. */
function bodyOf({ georganiseerddoorgremium: body }: JsonObject): JsonObject {
  return isRecord(body) ? body : {};
}

/** Identifications that a list of references names, in its order. */
function references(list: unknown): string[] {
  return (Array.isArray(list) ? list : [])
    .filter(isRecord)
    .flatMap(({ bronidentificatie }) => (typeof bronidentificatie === 'string' ? bronidentificatie : []));
}

/** @see https://schema.org/Event */
function event({ naam }: FeedOrganisation, data: JsonObject, url: string): object | undefined {
  const start = meetingDate(data);
  if (start === undefined) return undefined;
  const end = momentIn(data, 'einde') ?? momentIn(data, 'geplandeeinde');
  const state = meetingState(textIn(data, 'vergaderstatus'));
  return {
    '@context': 'https://schema.org',
    '@type': 'Event',
    name: shorten(textIn(data, 'naam') ?? 'Vergadering', 300),
    startDate: hasTime(data) ? start : start.slice(0, 10),
    endDate: end?.toISOString(),
    eventStatus: `https://schema.org/Event${state === 'cancelled' ? 'Cancelled' : state === 'moved' ? 'Rescheduled' : 'Scheduled'}`,
    location: { '@type': 'Place', name: shorten(textIn(data, 'locatie') ?? naam, 300) },
    organizer: { '@type': 'GovernmentOrganization', name: shorten(naam, 300) },
    url,
    isAccessibleForFree: true,
  };
}
