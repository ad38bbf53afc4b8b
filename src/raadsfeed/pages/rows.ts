import { day, fileSize, TIME_ZONE, time } from '../../html/format.ts';
import { badge, link, type PageLink } from '../../html/page.ts';
import type { ResourceType } from '../../lib/feed/resource.ts';
import type { JsonObject } from '../../lib/json/json-value.ts';
import { type Html, type HtmlValue, html, safeUrl, shorten, withinBytes } from '../../lib/template.ts';
import { dutchDay } from '../../lib/time.ts';
import { pagePath } from './context.ts';
import type { Item } from './search/lists.ts';

export const TITLE_LENGTH = 160;

export const TYPE_NAMES: Readonly<Record<ResourceType, string>> = {
  Vergadering: 'Vergadering',
  Agendapunt: 'Agendapunt',
  Informatieobject: 'Document',
};

export function textIn(summary: JsonObject, name: string): string | undefined {
  const value = summary[name];
  return typeof value === 'string' ? value : undefined;
}

/** A moment of a resource; `undefined` when it is not a valid moment. */
export function momentIn(summary: JsonObject, name: string): Date | undefined {
  const date = new Date(textIn(summary, name) ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Supplier's statuses as shown to visitors; each supplier uses its own words. */
export function meetingState(status: string | undefined): 'cancelled' | 'moved' | undefined {
  // "Niet geannuleerd"
  if (status === undefined || /\bniet\b(?! (?:door|plaats))/i.test(status)) return undefined;
  if (/geannuleerd|vervallen|vervalt|afgelast|afgezegd|ingetrokken|niet (?:door|plaats)|cancel/i.test(status))
    return 'cancelled';
  return /verplaatst|uitgesteld|verdaagd|verschoven/i.test(status) ? 'moved' : undefined;
}

/** A status that adds nothing: planned for a coming meeting, over for a past one. */
const EXPECTED = {
  coming: /^(gepland|ingepland|nieuw|open|bevestigd|planned|scheduled|confirmed)$/i,
  past: /^(afgerond|afgelopen|afgesloten|beëindigd|gehouden|geweest|gesloten|voltooid|definitief|closed|completed|finished|done)$/i,
} as const;

/** The status, if it adds something to the date. */
export function stateBadge(status: string | undefined, moment: Date | null | undefined, now: Date): HtmlValue {
  const state = meetingState(status);
  if (status === undefined) return undefined;
  if (state === 'cancelled') return badge('Gaat niet door', 'danger');
  const isPast = moment !== null && moment !== undefined && dutchDay(moment) < dutchDay(now);
  if (EXPECTED[isPast ? 'past' : 'coming'].test(status.trim())) return undefined;
  return badge(shorten(status, 40), state === 'moved' ? 'warning' : 'neutral');
}

/** Whether a meeting has a time of day, and not only a day. */
export function hasTime(data: JsonObject): boolean {
  return textIn(data, 'aanvang') !== undefined || textIn(data, 'geplandeaanvang') !== undefined;
}

const dayNumber = new Intl.DateTimeFormat('nl-NL', { timeZone: TIME_ZONE, day: 'numeric' });
const monthShort = new Intl.DateTimeFormat('nl-NL', { timeZone: TIME_ZONE, month: 'short' });

interface RowOptions {
  readonly beside?: ((item: Item) => string | undefined) | undefined;
  readonly now: Date;
}

function meetingRow(item: Item, besides: string, now: Date): Html {
  const { datum, summary, titel, gremiumnaam } = item;
  const facts = [
    datum !== null &&
      html`<time datetime="${datum.toISOString()}">${day(datum)}${hasTime(summary) && `, ${time(datum)} uur`}</time>`,
    gremiumnaam !== null && gremiumnaam !== titel && shorten(gremiumnaam, 80),
    shorten(textIn(summary, 'locatie') ?? '', 80),
    besides,
  ];
  return html`<li class="kv-event"><div class="kv-date" aria-hidden="true">${datum === null ? '–' : html`<b>${dayNumber.format(datum)}</b><span>${monthShort.format(datum)}</span>`}</div>
<div><span class="kv-list__title">${link(pagePath(item.resourceType, item), shorten(titel, TITLE_LENGTH))}</span> ${stateBadge(textIn(summary, 'vergaderstatus'), datum, now)}
<p class="kv-list__line">${joined(facts)}</p></div></li>`;
}

/** Shows the document's own date: lists of new documents are sorted by the date they came in. */
function documentRow(item: Item, besides: string): Html {
  const { datum, titel, soort, summary } = item;
  const facts = [
    soort !== null && shorten(soort, 60),
    datum !== null && html`<time datetime="${dutchDay(datum)}">${day(datum)}</time>`,
    besides,
  ];
  return html`<li><span class="kv-list__title">${link(pagePath(item.resourceType, item), shorten(titel, TITLE_LENGTH))}</span> <span class="kv-small">${fileLink(summary)}</span>
<p class="kv-list__line">${joined(facts)}</p></li>`;
}

function itemRow(item: Item, besides: string): Html {
  const { datum, titel, gremiumnaam } = item;
  const facts = [gremiumnaam !== null && shorten(gremiumnaam, 100), datum !== null && day(datum), besides];
  return html`<li>Agendapunt: ${link(pagePath(item.resourceType, item), shorten(titel, TITLE_LENGTH))}
<p class="kv-list__line">${joined(facts)}</p></li>`;
}

const ROWS = { Vergadering: meetingRow, Agendapunt: itemRow, Informatieobject: documentRow } as const;

export const listRow = (item: Item, { beside, now }: RowOptions): Html =>
  ROWS[item.resourceType](item, shorten(beside?.(item) ?? '', 80), now);

interface ListOptions {
  readonly empty?: string;
  readonly bytes?: number;
  readonly all: PageLink;
  readonly isCut?: boolean;
}

/** Rows of a list, as many as fit, with a link to all of them if some do not. @param most rows that are shown, by default all of them */
export function itemList(
  items: readonly Item[],
  { most = items.length, ...options }: ListOptions & RowOptions & { readonly most?: number },
): Html {
  const rows = items.slice(0, most).map((item) => listRow(item, options));
  return boundedList(rows, { ...options, isCut: items.length > most });
}

/** The file itself, as `PDF, 1,2 MB`. A very long address is only on the page of the document. */
export function fileLink(summary: JsonObject): HtmlValue {
  const file = safeUrl(textIn(summary, 'bestandsurl'));
  if (file === undefined || file.length > 300) return html`<span class="kv-quiet">${fileFacts(summary)}</span>`;
  return html`<a class="utrecht-link utrecht-link--html-a" href="${file}" rel="noreferrer">${fileFacts(summary)}</a>`;
}

/** `PDF, 1,2 MB`, or that there is no file. */
export function fileFacts(summary: JsonObject): string {
  if (safeUrl(textIn(summary, 'bestandsurl')) === undefined) return 'geen bestand';
  const { omvang } = summary;
  return [
    formatName(textIn(summary, 'formaat')),
    typeof omvang === 'number' && omvang >= 0 ? fileSize(omvang) : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function formatName(formaat: string | undefined): string {
  if (formaat === undefined) return 'bestand';
  if (/wordprocessing|msword/.test(formaat)) return 'Word';
  if (/spreadsheet|ms-excel/.test(formaat)) return 'Excel';
  if (/presentation|powerpoint/.test(formaat)) return 'PowerPoint';
  return shorten(formaat.replace(/^.*\//, ''), 20).toUpperCase();
}

export function joined(facts: readonly HtmlValue[]): HtmlValue {
  return facts
    .filter((fact) => fact !== false && fact !== undefined && fact !== null && fact !== '')
    .map((fact, i) => (i === 0 ? fact : html` · ${fact}`));
}

/** Bytes of a list: no page is larger than 150 kB. */
const LIST_BYTES = 20_000;

/** The rows that fit, with a link to all of them if some do not; `empty` when there are none. */
export function boundedList(
  rows: readonly Html[],
  { empty = '', bytes = LIST_BYTES, all, isCut = false }: ListOptions,
): Html {
  if (rows.length === 0) return html`<p class="utrecht-paragraph kv-quiet">${empty}</p>`;
  const { items, rest } = withinBytes(rows, bytes);
  return html`<ul class="kv-list">${items}</ul>${(rest > 0 || isCut) && html`<p class="kv-more">${link(all.href, all.text)}</p>`}`;
}

/** Links between the parts of a long page. */
export function pager(
  label: string,
  number: number,
  parts: number,
  at: (part: number) => string,
  word: string,
): HtmlValue {
  if (parts === 1) return undefined;
  const to = (part: number, text: string): HtmlValue => part >= 1 && part <= parts && link(at(part), text);
  return html`<nav class="utrecht-pagination kv-pager" aria-label="${label}">${to(number - 1, `Vorig ${word.toLowerCase()}`)}<span>${word} ${number} van ${parts}</span>${to(number + 1, `Volgend ${word.toLowerCase()}`)}</nav>`;
}

/** A part of a long list, from a position on; as many rows as fit in a page. */
export interface Window {
  readonly rows: readonly Html[];
  /** Positions of the window before and after it. */
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

const WINDOW_ROWS = 100;
const WINDOW_BYTES = 90_000;

/** @param read rows from a position on */
export async function readWindow<T>(
  from: number,
  read: (slice: { readonly offset: number; readonly limit: number }) => Promise<readonly T[]>,
  render: (one: T) => Html,
): Promise<Window> {
  const start = Math.max(0, from - WINDOW_ROWS);
  const [found, before] = await Promise.all([
    read({ offset: from, limit: WINDOW_ROWS + 1 }),
    from === 0 ? [] : read({ offset: start, limit: from - start }),
  ]);
  const { items: rows, rest } = withinBytes(found.slice(0, WINDOW_ROWS).map(render), WINDOW_BYTES);
  const fitting = withinBytes(before.map(render).toReversed(), WINDOW_BYTES).items.length;
  return {
    rows,
    previous: from === 0 ? undefined : Math.max(0, from - Math.max(1, fitting)),
    next: rest > 0 || found.length > WINDOW_ROWS ? from + rows.length : undefined,
  };
}

/** @param at address of the window from a position on */
export function windowList({ rows, previous, next }: Window, empty: string, at: (from: number) => string): Html {
  return html`${rows.length === 0 ? html`<p class="utrecht-paragraph kv-quiet">${empty}</p>` : html`<ul class="kv-list">${rows}</ul>`}${
    (previous ?? next) !== undefined &&
    html`<nav class="utrecht-pagination kv-pager" aria-label="Pagina’s">${previous !== undefined && link(at(previous), 'Vorige')}${next !== undefined && link(at(next), 'Volgende')}</nav>`
  }`;
}
