/** What the page of a resource shows: the resource as the feed has it, and its texts, in pieces that fit on a page. */
import { link } from '../../html/page.ts';
import type { ResourceType } from '../../lib/feed/resource.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { type Html, type HtmlValue, html, inPieces, shorten } from '../../lib/template.ts';
import { type FeedOrganisation, readCurrent } from '../store/state.ts';
import { linkedPath, type PagesContext, pagePath, type Subject } from './context.ts';
import type { History } from './history.ts';
import { type ItemList, itemList, textIn } from './rows.ts';
import type { Item } from './search/lists.ts';

export interface ResourceView {
  readonly context: PagesContext;
  readonly organisation: FeedOrganisation;
  readonly self: Subject;
  readonly data: JsonObject;
  readonly history: History;
  /** Part of the agenda or the text, from 1. */
  readonly part: number;
  readonly from: number;
}

export async function readData(
  { pool }: PagesContext,
  { organisatiecode, resourceType, bronidentificatie }: Subject,
): Promise<JsonObject | undefined> {
  const { found } = await readCurrent(pool, { organisatiecode, resourceType }, { bronidentificatie });
  const data: unknown = JSON.parse(found[0]?.dataText ?? 'null');
  return isRecord(data) ? data : undefined;
}

/** Resources that refer to this one or that it refers to; those that do not fit are on a page of their own. */
export const linkedList = (
  { context: { clock }, self }: ResourceView,
  items: readonly Item[],
  wanted: ResourceType,
  text: string,
  options: Pick<ItemList, 'most' | 'bytes' | 'beside'>,
): Html => itemList(items, { ...options, now: clock.now(), all: { href: linkedPath(self, wanted), text } });

/** Characters of a name or a fact on the page of its resource. */
export const FACT_LENGTH = 300;
const PIECE_LENGTH = 15_000;

/** Members in the order in which people read them, with a label where the text alone is unclear. */
const TEXTS: Readonly<Record<ResourceType, readonly (readonly [name: string, word?: string])[]>> = {
  Vergadering: [['naam'], ['vergadertoelichting'], ['locatie', 'Plaats']],
  Agendapunt: [['agendapuntnaam'], ['tussenkop'], ['omschrijving'], ['overig', 'Verder'], ['locatie', 'Plaats']],
  Informatieobject: [['titel'], ['omschrijving'], ['auteur', 'Auteur'], ['bronorganisatie', 'Afkomstig van']],
};

/** Texts that the page shows at any length. */
const RUNNING = ['vergadertoelichting', 'omschrijving', 'overig'];

/** The texts beside the name and the facts: running texts, and those too long for their own place. */
function wholeText({ self, data }: ResourceView): string {
  return TEXTS[self.resourceType]
    .flatMap(([name, word]) => {
      const text = textIn(data, name)?.trim() ?? '';
      const isHere = text !== '' && (RUNNING.includes(name) || text.length > FACT_LENGTH);
      return isHere ? [word === undefined ? text : `${word}: ${text}`] : [];
    })
    .join('\n\n');
}

export const textPieces = (view: ResourceView): string[] => inPieces(wholeText(view), PIECE_LENGTH);

/** The text as its page shows it: whole up to `length` characters, else its beginning with a link. */
export function textOf(view: ResourceView, length: number): HtmlValue {
  const text = wholeText(view);
  if (text === '') return undefined;
  const cut = shorten(text, length);
  const more = html`<p class="kv-more">${link(`${pagePath(view.self)}/tekst`, 'Lees de hele tekst')}</p>`;
  return [textParagraph(cut), cut !== text && more];
}

export const textParagraph = (text: string): Html => html`<p class="utrecht-paragraph kv-text kv-pre">${text}</p>`;
