/** Texts of a resource that are too long for its page, in pieces that fit on one. */

import { link } from '../../html/page.ts';
import type { ResourceType } from '../../lib/feed/resource.ts';
import type { JsonObject } from '../../lib/json/json-value.ts';
import { type Html, type HtmlValue, html, inPieces, shorten } from '../../lib/template.ts';
import { textIn } from './rows.ts';

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
function wholeText(type: ResourceType, data: JsonObject): string {
  return TEXTS[type]
    .flatMap(([name, word]) => {
      const text = textIn(data, name)?.trim() ?? '';
      const isHere = text !== '' && (RUNNING.includes(name) || text.length > FACT_LENGTH);
      return isHere ? [word === undefined ? text : `${word}: ${text}`] : [];
    })
    .join('\n\n');
}

export const textPieces = (type: ResourceType, data: JsonObject): string[] =>
  inPieces(wholeText(type, data), PIECE_LENGTH);

/** The text as its page shows it: whole up to `length` characters, else its beginning with a link. @param address of the whole */
export function textOf(type: ResourceType, data: JsonObject, length: number, address: string): HtmlValue {
  const text = wholeText(type, data);
  if (text === '') return undefined;
  const cut = shorten(text, length);
  return [paragraph(cut), cut !== text && html`<p class="kv-more">${link(address, 'Lees de hele tekst')}</p>`];
}

export const paragraph = (text: string): Html => html`<p class="utrecht-paragraph kv-text kv-pre">${text}</p>`;
