/** The agenda of a meeting as a tree: items with their sub-items, in the order of their numbers. */
import { createHash } from 'node:crypto';
import { type Html, type HtmlValue, html, shorten, withinBytes } from '../../plugins/template.ts';
import { count, time } from '../shared/html/format.ts';
import { badge, link } from '../shared/html/page.ts';
import { pagePath } from './context.ts';
import { fileFacts, joined, momentIn, TITLE_LENGTH, textIn } from './rows.ts';
import type { Item, Linked } from './search/lists.ts';

interface Node {
  readonly item: Item;
  readonly children: readonly Node[];
}

interface View {
  readonly documents: ReadonlyMap<string, readonly Linked[]>;
  readonly isPlanned: boolean;
}

/** Items deeper than this are shown at the depth of their parent: no screen is that wide. */
const DEPTH = 5;
const BYTES = 90_000;

/** The anchor of an item on the page of its meeting: its identification where that can be one, else a hash of it. */
export function anchorOf({ bronidentificatie }: Pick<Item, 'bronidentificatie'>): string {
  const isPlain = /^[A-Za-z0-9_-]{1,80}$/.test(bronidentificatie);
  return `punt-${isPlain ? bronidentificatie : createHash('sha256').update(bronidentificatie).digest('hex').slice(0, 16)}`;
}

/**
 * @param order identifications of the items, as the meeting lists them
 * @param documents by the item that they refer to
 */
export function agenda(items: readonly Item[], order: readonly string[], documents: readonly Linked[]): Html {
  if (items.length === 0) return html`<p class="utrecht-paragraph kv-quiet">Er is nog geen agenda.</p>`;
  const byItem = Map.groupBy(documents, ({ naar }) => naar);
  const { items: shown, rest } = withinBytes(
    tree(items, order).map((node) => nodeHtml(node, { documents: byItem, isPlanned: hasPlannedNumbers(items) }, 1)),
    BYTES,
  );
  return html`<ol class="kv-agenda">${shown}</ol>${rest > 0 && html`<p class="kv-quiet">En nog ${count(rest)} agendapunten.</p>`}`;
}

/** Items under their parents. Those whose parent is not there, or that are their own ancestors, are at the top. */
function tree(items: readonly Item[], order: readonly string[]): Node[] {
  const place = new Map(order.map((id, i) => [id, i]));
  const known = new Set(items.map(({ bronidentificatie }) => bronidentificatie));
  const byParent = Map.groupBy(items, ({ kort }) => {
    const parent = textIn(kort, 'hoofd');
    return parent !== undefined && known.has(parent) ? parent : '';
  });
  const reached = new Set<string>();
  const nodesOf = (some: readonly Item[]): Node[] => {
    const nodes = some.flatMap((item) => {
      const { bronidentificatie: id } = item;
      if (reached.has(id)) return [];
      reached.add(id);
      return [{ item, children: nodesOf(byParent.get(id) ?? []) }];
    });
    return sortNodes(nodes, place);
  };
  return [...nodesOf(byParent.get('') ?? []), ...nodesOf(items)];
}

const natural = new Intl.Collator('nl', { numeric: true });

/** As they were dealt with where all have such a number, else in the order of the meeting. */
function sortNodes(nodes: Node[], place: ReadonlyMap<string, number>): Node[] {
  const dealtWith = ({ item }: Node): string | undefined => textIn(item.kort, 'volgnummer');
  const numbered = nodes.every((node) => dealtWith(node) !== undefined);
  const last = place.size;
  const placeOf = ({ item }: Node): number => place.get(item.bronidentificatie) ?? last;
  return nodes.sort((a, b) => {
    const byNumber = numbered ? natural.compare(dealtWith(a) ?? '', dealtWith(b) ?? '') : 0;
    return byNumber !== 0 ? byNumber : placeOf(a) - placeOf(b);
  });
}

/**
 * The number that people know an item by: that of the published agenda. Where a meeting has such numbers, an item without one is a heading
 * or came later, and the position that it has besides would only confuse.
 */
export function numberText({ kort }: Item, isPlanned: boolean): string {
  return textIn(kort, isPlanned ? 'geplandvolgnummer' : 'volgnummer') ?? '';
}

/** Whether the items have the numbers of a published agenda. */
export function hasPlannedNumbers(items: readonly Item[]): boolean {
  return items.some(({ kort }) => textIn(kort, 'geplandvolgnummer') !== undefined);
}

function nodeHtml({ item, children }: Node, view: View, depth: number): Html {
  const below = children.map((child) => nodeHtml(child, view, depth + 1));
  const row = html`<div class="kv-item"><span class="kv-item__number">${shorten(numberText(item, view.isPlanned), 12)}</span><div>${itemText(item)}${documentList(view.documents.get(item.bronidentificatie) ?? [])}</div></div>`;
  if (below.length === 0 || depth > DEPTH) return html`<li id="${anchorOf(item)}">${row}</li>${below}`;
  return html`<li id="${anchorOf(item)}">${row}<ol>${below}</ol></li>`;
}

function itemText(item: Item): HtmlValue {
  const { kort } = item;
  const [start, end, planned] = ['starttijd', 'eindtijd', 'geplandestarttijd'].map((name) => momentIn(kort, name));
  const begins = start ?? planned;
  const facts = [
    begins !== undefined &&
      html`<time datetime="${begins.toISOString()}">${time(begins)}${end !== undefined && ` tot ${time(end)}`} uur</time>`,
    textIn(kort, 'locatie') !== undefined && shorten(textIn(kort, 'locatie') ?? '', 80),
  ].filter((fact) => fact !== false);
  const header = textIn(kort, 'tussenkop');
  const description = textIn(kort, 'omschrijving');
  return [
    header !== undefined &&
      header !== item.titel &&
      html`<p class="kv-list__line">${shorten(header, TITLE_LENGTH)}</p>`,
    html`<span class="kv-item__name">${shorten(item.titel, TITLE_LENGTH)}</span> `,
    kort.indicatiebesloten === true && [badge('Besloten', 'warning'), ' '],
    kort.indicatiehamerstuk === true && [badge('Hamerstuk'), ' '],
    kort.indicatiebehandeld === true && badge('Behandeld', 'success'),
    facts.length > 0 && html`<p class="kv-list__line">${joined(facts)}</p>`,
    description !== undefined && html`<p class="kv-list__text kv-pre">${shorten(description, 280)}</p>`,
  ];
}

/** Documents of one item. */
function documentList(documents: readonly Linked[]): HtmlValue {
  if (documents.length === 0) return undefined;
  const { items, rest } = withinBytes(
    documents.map(
      (item) =>
        html`<li>${link(pagePath(item.resourceType, item), shorten(item.titel, TITLE_LENGTH))} <span class="kv-quiet kv-small">(${fileFacts(item.kort)})</span></li>`,
    ),
    20_000,
  );
  return html`<ul class="kv-docs">${items}${rest > 0 && html`<li class="kv-quiet">En nog ${count(rest)} documenten.</li>`}</ul>`;
}
