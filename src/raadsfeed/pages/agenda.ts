/**
 * The agenda of a meeting as a tree: items with their sub-items, in the order of their numbers. A long one is divided into parts that fit on a page;
 * the part of an item follows from the outline of all items, without reading their texts.
 */
import { createHash } from 'node:crypto';
import type { Pool } from '../../database/pool.ts';
import { count, time } from '../../html/format.ts';
import { badge, link } from '../../html/page.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { type Html, type HtmlValue, html, shorten, withinBytes } from '../../lib/template.ts';
import { linkedPath, pagePath, partPath, type Subject } from './context.ts';
import { fileLink, joined, momentIn, pager, quiet, TITLE_LENGTH, textIn } from './rows.ts';
import { type Item, type Linked, listDocumentsOf, listNamed, listOutline, type Outline } from './search/lists.ts';

export type Agenda = Awaited<ReturnType<typeof readAgenda>>;
type Place = Agenda['places'][number];

/** No real meeting has as many; a plain list shows all items of a faulty source. */
export const MOST_ITEMS = 10_000;
/** Approximate size of a part; a larger one is rendered with shorter texts. */
const PART_BYTES = 100_000;
const MOST_BYTES = 92_000;
const INDEX_BYTES = 16_000;
/** Approximate bytes of an item and a document without their texts. */
const ROW_BYTES = 450;
/** Documents per item; the item's own page has all. */
const DOCUMENTS = 50;
/** Deeper items are shown at this depth: no screen is wider. */
const DEPTH = 5;
const DESCRIPTION = 280;
const WORTH_AN_INDEX = 6;

/** The anchor of an item on the page of its meeting: its identification where that can be one, else a hash of it. */
export function anchorOf({ bronidentificatie }: Pick<Item, 'bronidentificatie'>): string {
  const isPlain = /^[A-Za-z0-9_-]{1,80}$/.test(bronidentificatie);
  return `punt-${isPlain ? bronidentificatie : createHash('sha256').update(bronidentificatie).digest('hex').slice(0, 16)}`;
}

/**
 * Every item in the order of the agenda, with the part that it is in, from 1.
 * @param data the meeting as the feed has it; absent: its items are in the order of their numbers alone
 */
export async function readAgenda(pool: Pool, meeting: Subject, data: JsonObject = {}) {
  const outline = await listOutline(pool, meeting, MOST_ITEMS);
  let part = 1;
  let bytes = 0;
  const places = flatten(outline, references(data.agendapunten)).map((place) => {
    const size = bytesOf(place);
    if (bytes > 0 && bytes + size > PART_BYTES) {
      part += 1;
      bytes = 0;
    }
    bytes += size;
    return { ...place, part };
  });
  // With the numbers of a published agenda.
  const isPlanned = outline.some(({ geplandvolgnummer }) => geplandvolgnummer !== null);
  return { meeting, places, parts: part, isPlanned };
}

function bytesOf({ bronidentificatie, bytes, documenten, documentBytes }: Outline): number {
  const shown = documenten === 0 ? 0 : Math.min(1, DOCUMENTS / documenten);
  const ofDocuments = shown * (ROW_BYTES * documenten + 3 * documentBytes);
  // Percent-encoded, a byte takes three.
  return 2 * ROW_BYTES + bytes + 6 * Buffer.byteLength(bronidentificatie) + ofDocuments;
}

/** Identifications that a list of references names, in its order. */
export function references(list: unknown): string[] {
  return (Array.isArray(list) ? list : [])
    .filter(isRecord)
    .flatMap(({ bronidentificatie }) => (typeof bronidentificatie === 'string' ? bronidentificatie : []));
}

type Deep = Outline & { readonly depth: number };

/** Items under their parents. Those whose parent is not there, or that are their own ancestors, are at the top. */
function flatten(items: readonly Outline[], order: readonly string[]): Deep[] {
  const place = new Map(order.map((id, i) => [id, i]));
  const known = new Set(items.map(({ bronidentificatie }) => bronidentificatie));
  const byParent = Map.groupBy(items, ({ hoofd }) => (hoofd !== null && known.has(hoofd) ? hoofd : ''));
  const reached = new Set<string>();
  const found: Deep[] = [];
  // Without recursion: sub-items may go deeper than the stack.
  for (const roots of [byParent.get('') ?? [], items]) {
    const waiting = inOrder(roots, place)
      .map((item) => ({ ...item, depth: 1 }))
      .toReversed();
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      if (reached.has(item.bronidentificatie)) continue;
      reached.add(item.bronidentificatie);
      found.push(item);
      const { depth } = item;
      for (const child of inOrder(byParent.get(item.bronidentificatie) ?? [], place).toReversed())
        waiting.push({ ...child, depth: depth + 1 });
    }
  }
  return found;
}

const natural = new Intl.Collator('nl', { numeric: true });

/** In the order in which they were dealt with where all have such a number, else in the order of the meeting. */
function inOrder(items: readonly Outline[], place: ReadonlyMap<string, number>): Outline[] {
  const isNumbered = items.every(({ volgnummer }) => volgnummer !== null);
  const placeOf = ({ bronidentificatie }: Outline): number => place.get(bronidentificatie) ?? place.size;
  return items.toSorted((a, b) => {
    const byNumber = isNumbered ? natural.compare(a.volgnummer ?? '', b.volgnummer ?? '') : 0;
    return byNumber !== 0 ? byNumber : placeOf(a) - placeOf(b);
  });
}

type Numbers = Partial<Pick<Outline, 'volgnummer' | 'geplandvolgnummer'>>;

/**
 * The number that people know an item by: that of the published agenda. Where a meeting has such numbers, an item without one is a heading or came
 * later, and its position would only confuse.
 */
export function numberText({ volgnummer, geplandvolgnummer }: Numbers, isPlanned: boolean): string {
  return shorten((isPlanned ? geplandvolgnummer : volgnummer) ?? '', 12);
}

export const placePath = ({ meeting }: Agenda, place: Place): string =>
  `${partPath(pagePath(meeting), place.part)}#${anchorOf(place)}`;

export async function agendaPart(pool: Pool, agenda: Agenda, part: number): Promise<Html> {
  const { meeting, places, parts } = agenda;
  if (places.length === 0) return quiet('Er is geen agenda gepubliceerd.');
  const shown = places.filter((place) => place.part === part);
  const ids = shown.map(({ bronidentificatie }) => bronidentificatie);
  const [items, documents] = await Promise.all([
    listNamed(pool, 'Agendapunt', meeting.organisatiecode, ids),
    listDocumentsOf(pool, meeting.organisatiecode, ids, DOCUMENTS),
  ]);
  const byItem = Map.groupBy(documents, ({ to }) => to);
  const render = (isShort: boolean): Html =>
    nested(
      shown.flatMap((place) => {
        const item = items.get(place.bronidentificatie);
        const own = byItem.get(place.bronidentificatie) ?? [];
        return item === undefined ? [] : { place, row: itemHtml(agenda, place, item, own, isShort) };
      }),
    );
  const whole = render(false);
  const list = Buffer.byteLength(whole.markup) > MOST_BYTES ? render(true) : whole;
  const others = pager('Delen van de agenda', part, parts, (other) => `${partPath(pagePath(meeting), other)}#agenda`);
  return html`<div class="kv-indexed">${index(agenda, part)}${list}${others}</div>${places.length === MOST_ITEMS && html`<p class="kv-more">Dit zijn de eerste ${count(MOST_ITEMS)} agendapunten. ${link(linkedPath(meeting, 'Agendapunt'), 'Alle agendapunten')}</p>`}`;
}

/** Stays in view while the agenda is read. If there are more items than fit, it has those of its part. */
function index(agenda: Agenda, part: number): HtmlValue {
  const { places, isPlanned } = agenda;
  if (places.length < WORTH_AN_INDEX) return undefined;
  const row = (place: Place): Html =>
    html`<li><a href="${place.part === part ? `#${anchorOf(place)}` : placePath(agenda, place)}"><span>${numberText(place, isPlanned)}</span> ${shorten(place.titel, 80)}</a></li>`;
  const all = withinBytes(places.map(row), INDEX_BYTES);
  const rows = all.rest === 0 ? all : withinBytes(places.filter((place) => place.part === part).map(row), INDEX_BYTES);
  return html`<details class="kv-index"><summary>Ga naar een agendapunt <span class="kv-quiet">(${count(places.length)})</span></summary><ol>${rows.items}</ol></details>`;
}

interface Row {
  readonly place: Place;
  readonly row: Html;
}

/** Rows as nested lists. A part may begin with a sub-item, which is then at the top. */
function nested(rows: readonly Row[]): Html {
  interface Node extends Row {
    readonly depth: number;
    readonly below: Node[];
  }
  const top: Node[] = [];
  const above: Node[] = [];
  for (const one of rows) {
    const node = { ...one, depth: Math.min(one.place.depth, DEPTH), below: [] };
    while ((above.at(-1)?.depth ?? 0) >= node.depth) above.pop();
    (above.at(-1)?.below ?? top).push(node);
    above.push(node);
  }
  const nodeHtml = ({ place, row, below }: Node): Html =>
    html`<li id="${anchorOf(place)}">${row}${below.length > 0 && html`<ol>${below.map(nodeHtml)}</ol>`}</li>`;
  return html`<ol class="kv-agenda">${top.map(nodeHtml)}</ol>`;
}

function itemHtml(
  { isPlanned }: Agenda,
  place: Place,
  item: Item,
  documents: readonly Linked[],
  isShort: boolean,
): Html {
  const { summary, titel } = item;
  const address = pagePath(item);
  const header = textIn(summary, 'tussenkop');
  const description = textIn(summary, 'omschrijving') ?? '';
  const cut = shorten(description, DESCRIPTION);
  const facts = itemFacts(summary);
  const text = isShort
    ? undefined
    : [
        header !== undefined && header !== titel && html`<p class="kv-list__line">${shorten(header, TITLE_LENGTH)}</p>`,
        facts.length > 0 && html`<p class="kv-list__line">${joined(facts)}</p>`,
        cut !== '' &&
          html`<p class="kv-list__text kv-pre">${cut}${cut !== description && html` ${link(address, html`Lees verder<span class="kv-hidden"> over ${shorten(titel, 60)}</span>`)}`}</p>`,
      ];
  return html`<div class="kv-item"><span class="kv-item__number">${numberText(place, isPlanned)}</span><div><span class="kv-item__name">${link(address, shorten(titel, isShort ? 40 : TITLE_LENGTH))}</span> ${itemBadges(summary)}${text}${documentList(address, place, isShort ? [] : documents)}</div></div>`;
}

export function itemFacts(summary: JsonObject): HtmlValue[] {
  const [start, end, planned] = ['starttijd', 'eindtijd', 'geplandestarttijd'].map((name) => momentIn(summary, name));
  const begins = start ?? planned;
  const place = textIn(summary, 'locatie');
  return [
    begins !== undefined &&
      html`<time datetime="${begins.toISOString()}">${time(begins)}${end !== undefined && ` tot ${time(end)}`} uur</time>`,
    place !== undefined && shorten(place, 80),
  ].filter((fact) => fact !== false);
}

export function itemBadges(summary: JsonObject): HtmlValue {
  return [
    summary.indicatiebesloten === true && [badge('Besloten', 'warning'), ' '],
    summary.indicatiehamerstuk === true && [badge('Hamerstuk'), ' '],
    summary.indicatiebehandeld === true && badge('Behandeld', 'success'),
  ];
}

function documentList(address: string, { documenten }: Place, documents: readonly Linked[]): HtmlValue {
  if (documenten === 0) return undefined;
  const rows = documents.map(
    (item) =>
      html`<li>${link(pagePath(item), shorten(item.titel, TITLE_LENGTH))} <span class="kv-small">${fileLink(item.summary)}</span></li>`,
  );
  const { items } = withinBytes(rows, MOST_BYTES / 2);
  const isAll = items.length === documents.length && documenten <= DOCUMENTS && documents.length > 0;
  const all = documenten === 1 ? 'Het document' : `Alle ${count(documenten)} documenten`;
  return html`<ul class="kv-docs">${items}${!isAll && html`<li>${link(`${address}#documenten`, html`${all}<span class="kv-hidden"> bij dit agendapunt</span>`)}</li>`}</ul>`;
}
