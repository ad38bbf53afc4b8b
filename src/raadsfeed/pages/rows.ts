import { day, fileSize, formatter, time } from '../../html/format.ts';
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

const dayNumber = formatter({ day: 'numeric' });
const monthShort = formatter({ month: 'short' });

interface RowOptions {
  readonly beside?: ((item: Item) => string | undefined) | undefined;
  readonly now: Date;
}

export function listRow(item: Item, { beside, now }: RowOptions): Html {
  const { resourceType, datum, summary, titel, soort, gremiumnaam } = item;
  const title = link(pagePath(item), shorten(titel, TITLE_LENGTH));
  const besides = shorten(beside?.(item) ?? '', 80);
  if (resourceType === 'Agendapunt') {
    const facts = [gremiumnaam !== null && shorten(gremiumnaam, 100), datum !== null && day(datum), besides];
    return html`<li>Agendapunt: ${title}
<p class="kv-list__line">${joined(facts)}</p></li>`;
  }
  if (resourceType === 'Informatieobject') {
    // The document's own date: lists of new documents are sorted by the date they came in.
    const date = datum !== null && html`<time datetime="${dutchDay(datum)}">${day(datum)}</time>`;
    return html`<li><span class="kv-list__title">${title}</span> <span class="kv-small">${fileLink(summary)}</span>
<p class="kv-list__line">${joined([soort !== null && shorten(soort, 60), date, besides])}</p></li>`;
  }
  const facts = [
    datum !== null &&
      html`<time datetime="${datum.toISOString()}">${day(datum)}${hasTime(summary) && `, ${time(datum)} uur`}</time>`,
    gremiumnaam !== null && gremiumnaam !== titel && shorten(gremiumnaam, 80),
    shorten(textIn(summary, 'locatie') ?? '', 80),
    besides,
  ];
  return html`<li class="kv-event"><div class="kv-date" aria-hidden="true">${datum === null ? '–' : html`<b>${dayNumber(datum)}</b><span>${monthShort(datum)}</span>`}</div>
<div><span class="kv-list__title">${title}</span> ${stateBadge(textIn(summary, 'vergaderstatus'), datum, now)}
<p class="kv-list__line">${joined(facts)}</p></div></li>`;
}

interface ListOptions {
  readonly empty?: string;
  readonly bytes?: number;
  readonly all: PageLink;
}

export interface ItemList extends ListOptions, RowOptions {
  /** Rows that are shown, by default all of them. */
  readonly most?: number;
}

export function itemList(items: readonly Item[], options: ItemList): Html {
  const rows = items.map((item) => listRow(item, options));
  return boundedList(rows, options.most ?? items.length, options);
}

/** Bytes of a list: no page is larger than 150 kB. */
const LIST_BYTES = 20_000;

/** The first `most` rows, as many as fit, with a link to all of them if some do not; `empty` when there are none. */
export function boundedList(
  rows: readonly Html[],
  most: number,
  { empty = '', bytes = LIST_BYTES, all }: ListOptions,
): Html {
  if (rows.length === 0) return quiet(empty);
  const { items } = withinBytes(rows.slice(0, most), bytes);
  return html`<ul class="kv-list">${items}</ul>${items.length < rows.length && html`<p class="kv-more">${link(all.href, all.text)}</p>`}`;
}

/** The file itself, as `PDF, 1,2 MB`. A very long address is only on the page of the document. */
export function fileLink(summary: JsonObject): HtmlValue {
  const file = safeUrl(textIn(summary, 'bestandsurl'));
  if (file === undefined || file.length > 300) return html`<span class="kv-quiet">${fileFacts(summary)}</span>`;
  return html`<a class="utrecht-link utrecht-link--html-a" href="${file}" rel="noreferrer">${fileFacts(summary)}</a>`;
}

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

export function pager(label: string, number: number, parts: number, at: (part: number) => string): HtmlValue {
  if (parts === 1) return undefined;
  const to = (part: number, text: string): HtmlValue => part >= 1 && part <= parts && link(at(part), text);
  return html`<nav class="utrecht-pagination kv-pager" aria-label="${label}">${to(number - 1, 'Vorig deel')}<span>Deel ${number} van ${parts}</span>${to(number + 1, 'Volgend deel')}</nav>`;
}

const WINDOW_ROWS = 100;
const WINDOW_BYTES = 90_000;

/** A part of a long list, from a position on: as many rows as fit in a page, and the positions of the parts before and after it. */
export async function readWindow<T>(
  from: number,
  read: (slice: { readonly offset: number; readonly limit: number }) => Promise<readonly T[]>,
  render: (one: T) => Html,
) {
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

export function windowList(
  { rows, previous, next }: Awaited<ReturnType<typeof readWindow>>,
  empty: string,
  at: (from: number) => string,
): Html {
  const list = rows.length === 0 ? quiet(empty) : html`<ul class="kv-list">${rows}</ul>`;
  return html`${list}${
    (previous ?? next) !== undefined &&
    html`<nav class="utrecht-pagination kv-pager" aria-label="Pagina’s">${previous !== undefined && link(at(previous), 'Vorige')}${next !== undefined && link(at(next), 'Volgende')}</nav>`
  }`;
}

export const quiet = (text: string): Html => html`<p class="utrecht-paragraph kv-quiet">${text}</p>`;
