/** Lists as CSV that opens in a spreadsheet with Dutch settings: semicolons, and a mark that says UTF-8. */

import { time } from '../../../html/format.ts';
import { stripControls } from '../../../lib/template.ts';
import { dutchDay } from '../../../lib/time.ts';
import { numberText } from '../agenda.ts';
import { hasTime, TYPE_NAMES, textIn } from '../rows.ts';
import type { Item } from '../search/lists.ts';

type Cell = string | number | null | undefined;

export const csvLine = (row: readonly Cell[]): string => `${row.map(cell).join(';')}\r\n`;
export const csvHead = (header: readonly string[]): string => `\ufeff${csvLine(header)}`;

export const csv = (header: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  `${csvHead(header)}${rows.map(csvLine).join('')}`;

export interface Table<T> {
  readonly header: readonly string[];
  readonly row: (one: T) => readonly Cell[];
}

/** A text that a spreadsheet would take for a formula gets an apostrophe in front, also where it begins with a blank. */
function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = stripControls(value);
  const safe = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text) ? `'${text}` : text;
  return /[";\r\n,\t']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Columns = readonly (readonly [name: string, of: (item: Item) => Cell])[];

const tableOf = (columns: Columns): Table<Item> => ({
  header: columns.map(([name]) => name),
  row: (item) => columns.map(([, of]) => of(item)),
});

export function itemsCsv(items: readonly Item[], addressOf: (item: Item) => string): string {
  const { header, row } = itemTable(addressOf);
  return csv(header, items.map(row));
}

/** @param addressOf full address of the page of an item */
export function itemTable(addressOf: (item: Item) => string): Table<Item> {
  return tableOf([
    ['soort', ({ resourceType }) => TYPE_NAMES[resourceType]],
    ['naam', ({ titel }) => titel],
    ['datum', ({ datum }) => datum && dutchDay(datum)],
    ['tijd', ({ datum, summary }) => (datum !== null && hasTime(summary) ? time(datum) : undefined)],
    ['type', ({ soort }) => soort],
    ['commissie', ({ gremiumnaam }) => gremiumnaam],
    ['locatie', ({ summary }) => textIn(summary, 'locatie')],
    ['status', ({ summary }) => textIn(summary, 'vergaderstatus')],
    ['bestand', ({ summary }) => textIn(summary, 'bestandsurl')],
    ['formaat', ({ summary }) => textIn(summary, 'formaat')],
    ['bytes', ({ summary: { omvang } }) => (typeof omvang === 'number' ? omvang : undefined)],
    ['organisatie', ({ organisatiecode }) => organisatiecode],
    ['identificatie', ({ bronidentificatie }) => bronidentificatie],
    ['pagina', addressOf],
  ]);
}

/** The agenda of a meeting. @param isPlanned whether its items have the numbers of a published agenda */
export function agendaTable(isPlanned: boolean): Table<Item> {
  const numbers = (item: Item) => ({
    volgnummer: textIn(item.summary, 'volgnummer') ?? null,
    geplandvolgnummer: textIn(item.summary, 'geplandvolgnummer') ?? null,
  });
  const yes = (value: unknown): string => (value === true ? 'ja' : '');
  return tableOf([
    ['nummer', (item) => numberText(numbers(item), isPlanned)],
    ['naam', ({ titel }) => titel],
    ['hoort bij', ({ summary }) => textIn(summary, 'hoofd')],
    ['begin', ({ summary }) => textIn(summary, 'starttijd') ?? textIn(summary, 'geplandestarttijd')],
    ['besloten', ({ summary }) => yes(summary.indicatiebesloten)],
    ['hamerstuk', ({ summary }) => yes(summary.indicatiehamerstuk)],
    ['behandeld', ({ summary }) => yes(summary.indicatiebehandeld)],
    ['identificatie', ({ bronidentificatie }) => bronidentificatie],
  ]);
}
