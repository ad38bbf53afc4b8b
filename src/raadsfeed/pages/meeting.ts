import { count, day, dayAndTime, time, weekday } from '../../html/format.ts';
import { facts, heading, link, type Page } from '../../html/page.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten } from '../../lib/template.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { FeedOrganisation } from '../store/state.ts';
import { type Agenda, agendaPart, MOST_ITEMS, readAgenda, references } from './agenda.ts';
import { organisationPath, pagePath, partPath, trail, withQuery } from './context.ts';
import { historySection, readRemovals } from './history.ts';
import { hasTime, meetingState, momentIn, stateBadge, textIn } from './rows.ts';
import { bodyKey, meetingDate } from './search/entry.ts';
import { type Item, listItems, listLinked, listNamed } from './search/lists.ts';
import { FACT_LENGTH, linkedList, type ResourceView, textOf } from './view.ts';

const LIST = { most: 30, bytes: 8000 } as const;
const TEXT_LENGTH = 2500;

/** Dutch for English words of suppliers; other words are shown unchanged. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['council', 'raad'],
  ['committee', 'commissie'],
]);

export async function meetingPage(view: ResourceView): Promise<Page> {
  const { context, organisation, self, data, history, part } = view;
  const { pool, baseUrl, clock } = context;
  const agenda = await readAgenda(pool, self, data);
  if (part > agenda.parts) throw new Problem(platformProblems.notFound);
  const name = textIn(data, 'naam') ?? 'Vergadering';
  const moment = meetingDate(data);
  const when = moment === undefined ? undefined : new Date(moment);
  const title = when === undefined ? name : `${name}, ${weekday(when)}`;
  const address = pagePath(self);
  const now = clock.now();
  const agendaSection = [
    heading(2, part === 1 ? 'Agenda' : `Agenda, deel ${part}`, 'agenda'),
    await agendaPart(pool, agenda, part),
    html`<ul class="kv-links">${agenda.places.length > 0 && html`<li>${link(`${address}/agenda.csv`, 'Agenda als CSV')}</li>`}
${await missingItems(view, agenda)}</ul>`,
  ];
  return {
    title: part === 1 ? title : `${shorten(title, 150)}, deel ${part}`,
    description: `Agenda, documenten en geschiedenis van ${shorten(name, 80)} van ${organisation.naam}.`,
    canonical: `${baseUrl()}${partPath(address, part)}`,
    structuredData: event(organisation, data, `${baseUrl()}${address}`),
    path: trail(organisation, ...(part === 1 ? [] : [{ href: address, text: name }])),
    body:
      part > 1
        ? [heading(1, shorten(title, FACT_LENGTH)), agendaSection]
        : [
            heading(1, shorten(name, FACT_LENGTH)),
            meetingFacts(organisation, data, when, now),
            textOf(view, TEXT_LENGTH),
            await withSurroundings(view, agendaSection),
            historySection(history, address),
          ],
  };
}

const MISSING = 20;

async function missingItems({ context: { pool }, self, data }: ResourceView, { places }: Agenda): Promise<HtmlValue> {
  // The outline of a longer agenda is incomplete.
  if (places.length === MOST_ITEMS) return undefined;
  const known = new Set(places.map(({ bronidentificatie }) => bronidentificatie));
  const missing = references(data.agendapunten).filter((id) => !known.has(id));
  if (missing.length === 0) return undefined;
  const looked = missing.slice(0, MISSING);
  const [elsewhere, removals] = await Promise.all([
    listNamed(pool, 'Agendapunt', self.organisatiecode, looked),
    readRemovals(pool, self.organisatiecode, looked),
  ]);
  const told = looked.flatMap((bronidentificatie) => {
    const address = pagePath({ ...self, resourceType: 'Agendapunt', bronidentificatie });
    const item = elsewhere.get(bronidentificatie);
    if (item !== undefined)
      return html`<li>${link(address, shorten(item.titel, 100))} is verplaatst naar een andere vergadering.</li>`;
    const removal = removals.get(bronidentificatie);
    if (removal === undefined) return [];
    return html`<li>${link(address, `Een agendapunt ${removal.happened}`)} (${day(removal.storedAt)}).</li>`;
  });
  const rest = missing.length - told.length;
  const unknown = rest === 1 ? 'Van 1 agendapunt' : `Van ${count(rest)} agendapunten`;
  return [told, rest > 0 && html`<li class="kv-quiet">${unknown} is hier niets gepubliceerd.</li>`];
}

/** The agenda, after the parts of this meeting, and before its other documents and the neighbouring meetings. */
async function withSurroundings(view: ResourceView, agendaSection: HtmlValue): Promise<HtmlValue> {
  const { pool } = view.context;
  const { self } = view;
  const first = { limit: LIST.most + 1 };
  const [parts, whole, others, around] = await Promise.all([
    listLinked(pool, 'to', self, 'Vergadering', first),
    listLinked(pool, 'from', self, 'Vergadering', { limit: 1 }),
    listLinked(pool, 'to', self, 'Informatieobject', first),
    neighbours(view),
  ]);
  return [
    parts.length > 0 && [
      heading(2, 'Delen van deze vergadering'),
      linkedList(view, parts, 'Vergadering', 'Alle delen van deze vergadering', LIST),
    ],
    whole.length > 0 && [heading(2, 'Deel van'), linkedList(view, whole, 'Vergadering', '', LIST)],
    agendaSection,
    others.length > 0 && [
      heading(2, 'Documenten bij de vergadering'),
      linkedList(view, others, 'Informatieobject', 'Alle documenten bij de vergadering', LIST),
    ],
    around,
  ];
}

function meetingFacts(
  { organisatiecode, naam }: FeedOrganisation,
  data: JsonObject,
  when: Date | undefined,
  now: Date,
): Html {
  const status = textIn(data, 'vergaderstatus');
  const badge = stateBadge(status, when, now);
  const end = momentIn(data, 'einde') ?? momentIn(data, 'geplandeeinde');
  const body = bodyOf(data);
  const bodyName = textIn(body, 'gremiumnaam');
  const path = organisationPath(organisatiecode);
  const bodyPath = withQuery(path, { gremium: bodyKey(body) });
  const kind = textIn(data, 'vergaderingstype') ?? '';
  const source = safeUrl(textIn(data, 'webpaginalink'));
  return facts([
    ['Wanneer', when === undefined ? 'Nog niet bekend' : whenText(data, when, end)],
    ['Waar', shorten(textIn(data, 'locatie') ?? '', 300)],
    ['Wie', bodyName !== undefined && link(bodyPath, shorten(bodyName, 200))],
    ['Organisatie', link(path, shorten(naam, 200))],
    [
      'Status',
      badge !== undefined && [badge, meetingState(status) === 'cancelled' && ` ${shorten(status ?? '', 100)}`],
    ],
    ['Soort', KINDS.get(kind) ?? shorten(kind, 100)],
    ['Bij de bron', source !== undefined && link(source, 'Bekijk deze vergadering op de site van de bron')],
  ]);
}

function whenText(data: JsonObject, when: Date, end: Date | undefined): HtmlValue {
  if (!hasTime(data)) return weekday(when);
  const sameDay = end !== undefined && weekday(end) === weekday(when);
  return html`<time datetime="${when.toISOString()}">${weekday(when)}, ${time(when)} uur</time>${end !== undefined && ` tot ${sameDay ? `${time(end)} uur` : dayAndTime(end)}`}`;
}

/** The meetings of the same body before and after this one. */
async function neighbours({ context: { pool }, self: { organisatiecode }, data }: ResourceView): Promise<HtmlValue> {
  const gremium = bodyKey(bodyOf(data));
  const moment = meetingDate(data);
  if (gremium === undefined || moment === undefined) return undefined;
  const when = new Date(moment);
  const of = { organisatiecode, gremium, resourceType: 'Vergadering', limit: 1 } as const;
  const [[earlier], [next]] = await Promise.all([
    listItems(pool, { ...of, to: when }),
    listItems(pool, { ...of, from: new Date(when.getTime() + 1), order: 'oldest' }),
  ]);
  const to = (word: string, item: Item | undefined): HtmlValue =>
    item?.datum && link(pagePath(item), `${word}: ${weekday(item.datum)}`);
  return (
    (earlier ?? next) !== undefined &&
    html`${heading(2, 'Andere vergaderingen')}<nav class="kv-pager" aria-label="Andere vergaderingen van deze commissie">${to('Vorige', earlier)}${to('Volgende', next)}</nav>`
  );
}

function bodyOf({ georganiseerddoorgremium: body }: JsonObject): JsonObject {
  return isRecord(body) ? body : {};
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
