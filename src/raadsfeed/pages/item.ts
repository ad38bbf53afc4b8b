/** The page of an agenda item: its whole text, all its documents, and its place in the agenda. */

import { dayAndTime } from '../../html/format.ts';
import { facts, heading, link, type Page } from '../../html/page.ts';
import type { Resource } from '../../lib/feed/resource.ts';
import { type HtmlValue, html, shorten } from '../../lib/template.ts';
import { type Agenda, itemBadges, itemFacts, numberText, placePath, readAgenda } from './agenda.ts';
import { fromPath, jsonAddress, pagePath, trail } from './context.ts';
import { historySection } from './history.ts';
import { joined, listRow, readWindow, textIn, windowList } from './rows.ts';
import { type Item, listLinked, listNamed } from './search/lists.ts';
import { FACT_LENGTH, textOf } from './texts.ts';
import { type ResourceView, readData } from './view.ts';

const TEXT_LENGTH = 12_000;

export async function itemPage(view: ResourceView): Promise<Page> {
  const { context, organisation, resource, data, history, from } = view;
  const { pool, baseUrl, clock } = context;
  const { organisatiecode, bronidentificatie } = resource;
  const address = pagePath('Agendapunt', resource);
  const item = (await listNamed(pool, 'Agendapunt', organisatiecode, [bronidentificatie])).get(bronidentificatie);
  const [meeting, agenda] = await meetingOf(view, item);
  const at = agenda?.places.findIndex((place) => place.bronidentificatie === bronidentificatie) ?? -1;
  const place = agenda?.places[at];
  const documents = await readWindow(
    from,
    (slice) => listLinked(pool, 'to', { ...resource, resourceType: 'Agendapunt' }, 'Informatieobject', slice),
    (one) => listRow(one, { now: clock.now() }),
  );
  const name = textIn(data, 'agendapuntnaam') ?? 'Agendapunt';
  const inAgenda = agenda !== undefined && place !== undefined ? placePath(agenda, place) : undefined;
  const summary = item?.summary ?? {};
  return {
    title: meeting === undefined ? name : `${shorten(name, 120)} (${shorten(meeting.titel, 60)})`,
    description: `Agendapunt met documenten van ${organisation.naam}: ${shorten(name, 100)}.`,
    canonical: `${baseUrl()}${fromPath(address, from)}`,
    json: jsonAddress(context, 'Agendapunt', resource),
    path: trail(
      organisation,
      ...(meeting === undefined ? [] : [{ href: inAgenda ?? pagePath('Vergadering', meeting), text: meeting.titel }]),
    ),
    body: [
      heading(1, shorten(name, FACT_LENGTH)),
      html`<p>${itemBadges(summary)}</p>`,
      facts([
        ['Nummer', place !== undefined && agenda !== undefined && numberText(place, agenda.isPlanned)],
        ['Vergadering', meeting !== undefined && link(pagePath('Vergadering', meeting), shorten(meeting.titel, 200))],
        ['Wanneer', meeting?.datum && dayAndTime(meeting.datum)],
        ['Op de agenda', itemFacts(summary).length > 0 && joined(itemFacts(summary))],
        ['Hoort bij', place !== undefined && parentLink(agenda, place.hoofd, resource)],
        ['In de agenda', inAgenda !== undefined && link(inAgenda, 'Toon dit punt in de agenda')],
      ]),
      textOf('Agendapunt', data, TEXT_LENGTH, `${address}/tekst`),
      heading(2, 'Documenten', 'documenten'),
      windowList(
        documents,
        'Bij dit agendapunt zijn geen documenten.',
        (vanaf) => `${fromPath(address, vanaf)}#documenten`,
      ),
      neighbours(agenda, at, resource),
      historySection(history, address),
    ],
  };
}

async function meetingOf(
  { context, resource: { organisatiecode } }: ResourceView,
  item: Item | undefined,
): Promise<readonly [meeting?: Item | undefined, agenda?: Agenda]> {
  if (item === undefined || item.vergadering === null) return [];
  const meeting = { organisatiecode, bronidentificatie: item.vergadering };
  const [found, data] = await Promise.all([
    listNamed(context.pool, 'Vergadering', organisatiecode, [item.vergadering]),
    readData(context, 'Vergadering', meeting),
  ]);
  return data === undefined
    ? [found.get(item.vergadering)]
    : [found.get(item.vergadering), await readAgenda(context.pool, meeting, data)];
}

function parentLink(agenda: Agenda | undefined, hoofd: string | null, { organisatiecode }: Resource): HtmlValue {
  const parent = agenda?.places.find(({ bronidentificatie }) => bronidentificatie === hoofd);
  if (parent === undefined) return undefined;
  const { bronidentificatie, titel } = parent;
  return link(pagePath('Agendapunt', { organisatiecode, bronidentificatie }), titel);
}

function neighbours(agenda: Agenda | undefined, at: number, { organisatiecode }: Resource): HtmlValue {
  if (agenda === undefined || at < 0 || agenda.places.length === 1) return undefined;
  const to = (position: number, word: string): HtmlValue => {
    const place = position < 0 ? undefined : agenda.places[position];
    if (place === undefined) return undefined;
    const { bronidentificatie, titel } = place;
    return link(pagePath('Agendapunt', { organisatiecode, bronidentificatie }), `${word}: ${shorten(titel, 60)}`);
  };
  return html`<nav class="kv-pager" aria-label="Andere agendapunten">${to(at - 1, 'Vorig punt')}${to(at + 1, 'Volgend punt')}</nav>`;
}
