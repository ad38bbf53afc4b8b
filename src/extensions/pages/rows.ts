/** Meetings and documents as lists show them. */

import type { JsonObject } from '../../lib/json/json-value.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten, withinBytes } from '../../plugins/template.ts';
import type { ResourceType } from '../../raadsfeed/domain/resource.ts';
import { count, day, fileSize, isoDay, TIME_ZONE, time } from '../shared/html/format.ts';
import { badge, link } from '../shared/html/page.ts';
import { pagePath } from './context.ts';
import type { Item } from './search/lists.ts';

/** Longest title in a list, in characters. */
export const TITLE_LENGTH = 160;

export const TYPE_NAMES: Readonly<Record<ResourceType, string>> = {
  Vergadering: 'Vergadering',
  Agendapunt: 'Agendapunt',
  Informatieobject: 'Document',
};

/** A member of `kort` that is text. */
export function textIn(kort: JsonObject, name: string): string | undefined {
  const value = kort[name];
  return typeof value === 'string' ? value : undefined;
}

/** A moment of a resource; `undefined` when it is not a valid moment. */
export function momentIn(kort: JsonObject, name: string): Date | undefined {
  const date = new Date(textIn(kort, name) ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** What a status of a supplier means for who wants to come; suppliers use words of their own. */
export function meetingState(status: string | undefined): 'cancelled' | 'moved' | undefined {
  if (status === undefined) return undefined;
  if (/geannuleerd|vervallen|vervalt|afgelast|afgezegd|ingetrokken|niet door|cancel/i.test(status)) return 'cancelled';
  return /verplaatst|uitgesteld|verdaagd|verschoven/i.test(status) ? 'moved' : undefined;
}

export function stateBadge(status: string | undefined): HtmlValue {
  const state = meetingState(status);
  if (status === undefined) return undefined;
  if (state === 'cancelled') return badge('Gaat niet door', 'danger');
  return badge(shorten(status, 40), state === 'moved' ? 'warning' : 'neutral');
}

/** Whether a meeting has a time of day, and not only a day. */
export function hasTime(data: JsonObject): boolean {
  return textIn(data, 'aanvang') !== undefined || textIn(data, 'geplandeaanvang') !== undefined;
}

const dayNumber = new Intl.DateTimeFormat('nl-NL', { timeZone: TIME_ZONE, day: 'numeric' });
const monthShort = new Intl.DateTimeFormat('nl-NL', { timeZone: TIME_ZONE, month: 'short' });

/** A meeting in a list, with its day in front. @param beside what to say besides */
function meetingRow({ datum, kort, titel, gremiumnaam, ...item }: Item, beside: string | undefined): Html {
  const place = textIn(kort, 'locatie');
  const facts = [
    datum !== null &&
      html`<time datetime="${datum.toISOString()}">${day(datum)}${hasTime(kort) && `, ${time(datum)} uur`}</time>`,
    gremiumnaam !== null && gremiumnaam !== titel && shorten(gremiumnaam, 80),
    place !== undefined && shorten(place, 80),
    beside !== undefined && shorten(beside, 80),
  ];
  return html`<li class="kv-event"><div class="kv-date" aria-hidden="true">${datum === null ? '–' : html`<b>${dayNumber.format(datum)}</b><span>${monthShort.format(datum)}</span>`}</div>
<div><span class="kv-list__title">${link(pagePath(item.resourceType, item), shorten(titel, TITLE_LENGTH))}</span> ${stateBadge(textIn(kort, 'vergaderstatus'))}
<p class="kv-list__line">${joined(facts)}</p></div></li>`;
}

function documentRow({ datum, titel, soort, kort, ...item }: Item, beside: string | undefined): Html {
  const facts = [
    soort !== null && shorten(soort, 60),
    datum !== null && html`<time datetime="${isoDay(datum)}">${day(datum)}</time>`,
    fileFacts(kort),
    beside !== undefined && shorten(beside, 80),
  ];
  return html`<li><span class="kv-list__title">${link(pagePath(item.resourceType, item), shorten(titel, TITLE_LENGTH))}</span>
<p class="kv-list__line">${joined(facts)}</p></li>`;
}

interface ListOptions {
  /** What to say when there are none. */
  readonly empty?: string;
  /** What a row says besides. */
  readonly beside?: (item: Item) => string | undefined;
  readonly bytes?: number;
}

/** Meetings or documents, a row each, as many as fit; and how many did not. */
export function itemList(items: readonly Item[], { empty, beside, bytes }: ListOptions = {}): Html {
  const row = (item: Item): Html =>
    (item.resourceType === 'Vergadering' ? meetingRow : documentRow)(item, beside?.(item));
  return boundedList(items.map(row), empty, bytes);
}

/** `PDF, 1,2 MB`, or that there is no file. */
export function fileFacts(kort: JsonObject): string {
  if (safeUrl(textIn(kort, 'bestandsurl')) === undefined) return 'geen bestand';
  const { omvang } = kort;
  return [formatName(textIn(kort, 'formaat')), typeof omvang === 'number' && omvang >= 0 ? fileSize(omvang) : undefined]
    .filter((part) => part !== undefined)
    .join(', ');
}

/** The name of a media type as people know it. */
function formatName(formaat: string | undefined): string {
  if (formaat === undefined) return 'bestand';
  if (/wordprocessing|msword/.test(formaat)) return 'Word';
  if (/spreadsheet|ms-excel/.test(formaat)) return 'Excel';
  if (/presentation|powerpoint/.test(formaat)) return 'PowerPoint';
  return shorten(formaat.replace(/^.*\//, ''), 20).toUpperCase();
}

/** Facts on one line, with a dot between them. */
export function joined(facts: readonly HtmlValue[]): HtmlValue {
  return facts
    .filter((fact) => fact !== false && fact !== undefined && fact !== null && fact !== '')
    .map((fact, i) => (i === 0 ? fact : html` · ${fact}`));
}

/** Bytes of a list: no page is larger than 150 kB. */
const LIST_BYTES = 20_000;

/** The rows that fit, and how many did not; `empty` when there are none. */
export function boundedList(rows: readonly Html[], empty = '', bytes = LIST_BYTES): Html {
  if (rows.length === 0) return html`<p class="utrecht-paragraph kv-quiet">${empty}</p>`;
  const { items, rest } = withinBytes(rows, bytes);
  return html`<ul class="kv-list">${items}</ul>${rest > 0 && html`<p class="kv-quiet">En nog ${count(rest)}.</p>`}`;
}
