/** Lists as CSV that opens in a spreadsheet with Dutch settings: semicolons, and a mark that says UTF-8. */
import { isoDay, time } from '../../../plugins/html/format.ts';
import { stripControls } from '../../../plugins/html/template.ts';
import { hasPlannedNumbers, numberText } from '../agenda.ts';
import { hasTime, TYPE_NAMES, textIn } from '../rows.ts';
import type { Item } from '../search/lists.ts';

type Cell = string | number | null | undefined;

/** @param rows of texts and numbers, without the header */
export function csv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return `\ufeff${[header, ...rows].map((row) => `${row.map(cell).join(';')}\r\n`).join('')}`;
}

/** A text that a spreadsheet would take for a formula gets an apostrophe in front, also where it begins with a blank. */
function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = stripControls(value);
  const safe = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text) ? `'${text}` : text;
  return /[";\r\n,\t']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param addressOf full address of the page of an item */
export function itemsCsv(items: readonly Item[], addressOf: (item: Item) => string): string {
  return csv(
    [
      'soort',
      'naam',
      'datum',
      'tijd',
      'type',
      'commissie',
      'locatie',
      'status',
      'bestand',
      'formaat',
      'bytes',
      'organisatie',
      'identificatie',
      'pagina',
    ],
    items.map((item) => {
      const { resourceType, titel, datum, soort, gremiumnaam, kort, organisatiecode, bronidentificatie } = item;
      return [
        TYPE_NAMES[resourceType],
        titel,
        datum === null ? undefined : isoDay(datum),
        datum !== null && resourceType === 'Vergadering' && hasTime(kort) ? time(datum) : undefined,
        ...[
          soort,
          gremiumnaam,
          textIn(kort, 'locatie'),
          textIn(kort, 'vergaderstatus'),
          textIn(kort, 'bestandsurl'),
          textIn(kort, 'formaat'),
        ],
        typeof kort.omvang === 'number' ? kort.omvang : undefined,
        organisatiecode,
        bronidentificatie,
        addressOf(item),
      ];
    }),
  );
}

/** The agenda of a meeting, in its order. */
export function agendaCsv(items: readonly Item[]): string {
  const isPlanned = hasPlannedNumbers(items);
  const yes = (value: unknown): string => (value === true ? 'ja' : '');
  return csv(
    ['nummer', 'naam', 'hoort bij', 'begin', 'besloten', 'hamerstuk', 'behandeld', 'identificatie'],
    items.map((item) => {
      const { kort, titel, bronidentificatie } = item;
      return [
        ...[
          numberText(item, isPlanned),
          titel,
          textIn(kort, 'hoofd'),
          textIn(kort, 'starttijd') ?? textIn(kort, 'geplandestarttijd'),
        ],
        ...[yes(kort.indicatiebesloten), yes(kort.indicatiehamerstuk), yes(kort.indicatiebehandeld), bronidentificatie],
      ];
    }),
  );
}
