/** The page of an agenda item: its whole text, all its documents, and its place in the agenda. */
import { dayAndTime } from '../../html/format.ts';
import { facts, heading, link, type Page } from '../../html/page.ts';
import { type HtmlValue, html, shorten } from '../../lib/template.ts';
import { itemBadges, itemFacts, numberText, placePath, readAgenda } from './agenda.ts';
import { fromPath, pagePath, type Subject, trail } from './context.ts';
import { historySection } from './history.ts';
import { joined, listRow, readWindow, textIn, windowList } from './rows.ts';
import { type Item, listLinked, listNamed } from './search/lists.ts';
import { FACT_LENGTH, type ResourceView, readData, textOf } from './view.ts';

const TEXT_LENGTH = 12_000;

export async function itemPage(view: ResourceView): Promise<Page> {
  const { context, organisation, self, data, history, from } = view;
  const { pool, baseUrl, clock } = context;
  const { organisatiecode, bronidentificatie } = self;
  const address = pagePath(self);
  const item = (await listNamed(pool, 'Agendapunt', organisatiecode, [bronidentificatie])).get(bronidentificatie);
  const { meeting, agenda } = await meetingOf(view, item);
  const places = agenda?.places ?? [];
  const at = places.findIndex((place) => place.bronidentificatie === bronidentificatie);
  const place = places[at];
  const documents = await readWindow(
    from,
    (slice) => listLinked(pool, 'to', self, 'Informatieobject', slice),
    (one) => listRow(one, { now: clock.now() }),
  );
  const name = textIn(data, 'agendapuntnaam') ?? 'Agendapunt';
  const inAgenda = agenda && place && placePath(agenda, place);
  const parent = place && places.find((one) => one.bronidentificatie === place.hoofd);
  const summary = item?.summary ?? {};
  const toItem = (bronidentificatie: string, text: string): HtmlValue =>
    link(pagePath({ ...self, bronidentificatie }), text);
  const neighbour = (position: number, word: string): HtmlValue => {
    const other = position < 0 ? undefined : places[position];
    return other && toItem(other.bronidentificatie, `${word}: ${shorten(other.titel, 60)}`);
  };
  return {
    title: meeting === undefined ? name : `${shorten(name, 120)} (${shorten(meeting.titel, 60)})`,
    description: `Agendapunt met documenten van ${organisation.naam}: ${shorten(name, 100)}.`,
    canonical: `${baseUrl()}${fromPath(address, from)}`,
    path: trail(
      organisation,
      ...(meeting === undefined ? [] : [{ href: inAgenda ?? pagePath(meeting), text: meeting.titel }]),
    ),
    body: [
      heading(1, shorten(name, FACT_LENGTH)),
      html`<p>${itemBadges(summary)}</p>`,
      facts([
        ['Nummer', agenda && place && numberText(place, agenda.isPlanned)],
        ['Vergadering', meeting && link(pagePath(meeting), shorten(meeting.titel, 200))],
        ['Wanneer', meeting?.datum && dayAndTime(meeting.datum)],
        ['Op de agenda', itemFacts(summary).length > 0 && joined(itemFacts(summary))],
        ['Hoort bij', parent && toItem(parent.bronidentificatie, parent.titel)],
        ['In de agenda', inAgenda !== undefined && link(inAgenda, 'Toon dit punt in de agenda')],
      ]),
      textOf(view, TEXT_LENGTH),
      heading(2, 'Documenten', 'documenten'),
      windowList(
        documents,
        'Bij dit agendapunt zijn geen documenten.',
        (vanaf) => `${fromPath(address, vanaf)}#documenten`,
      ),
      place !== undefined &&
        places.length > 1 &&
        html`<nav class="kv-pager" aria-label="Andere agendapunten">${neighbour(at - 1, 'Vorig punt')}${neighbour(at + 1, 'Volgend punt')}</nav>`,
      historySection(history, address),
    ],
  };
}

async function meetingOf({ context, self: { organisatiecode } }: ResourceView, item: Item | undefined) {
  if (item === undefined || item.vergadering === null) return {};
  const self: Subject = { organisatiecode, resourceType: 'Vergadering', bronidentificatie: item.vergadering };
  const [found, data] = await Promise.all([
    listNamed(context.pool, 'Vergadering', organisatiecode, [item.vergadering]),
    readData(context, self),
  ]);
  const meeting = found.get(item.vergadering);
  return data === undefined ? { meeting } : { meeting, agenda: await readAgenda(context.pool, self, data) };
}
