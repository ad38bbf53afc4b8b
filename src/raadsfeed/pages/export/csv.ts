/** Lists as CSV that opens in a spreadsheet with Dutch settings: semicolons, and a mark that says UTF-8. Long lists are read at the client's pace. */
import { hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { time } from '../../../html/format.ts';
import { Problem } from '../../../lib/problem.ts';
import { stripControls } from '../../../lib/template.ts';
import { dutchDay } from '../../../lib/time.ts';
import { acceptedEncoding, clientKey, isKnown } from '../../../plugins/headers.ts';
import { createOpenCounter } from '../../../plugins/limits.ts';
import { platformProblems } from '../../../plugins/problems.ts';
import { numberText } from '../agenda.ts';
import type { PagesContext } from '../context.ts';
import { hasTime, TYPE_NAMES, textIn } from '../rows.ts';
import { type Item, readIndexPosition } from '../search/lists.ts';

export const CSV = 'text/csv; charset=utf-8';

type Cell = string | number | null | undefined;
export type Columns<T> = readonly (readonly [name: string, of: (one: T) => Cell])[];

const head = <T>(columns: Columns<T>): string => `\ufeff${line(columns.map(([name]) => name))}`;
const body = <T>(columns: Columns<T>, rows: readonly T[]): string =>
  rows.map((one) => line(columns.map(([, of]) => of(one)))).join('');

export const csv = <T>(columns: Columns<T>, rows: readonly T[]): string => head(columns) + body(columns, rows);

const line = (row: readonly Cell[]): string => `${row.map(cell).join(';')}\r\n`;

/** A text that a spreadsheet would take for a formula gets an apostrophe in front, also where it begins with a blank. */
function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = stripControls(value);
  const safe = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text) ? `'${text}` : text;
  return /[";\r\n,\t']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param addressOf full address of the page of an item */
export const itemColumns = (addressOf: (item: Item) => string): Columns<Item> => [
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
];

/** The agenda of a meeting. @param isPlanned whether its items have the numbers of a published agenda */
export function agendaColumns(isPlanned: boolean): Columns<Item> {
  const numbers = ({ summary }: Item) => ({
    volgnummer: textIn(summary, 'volgnummer') ?? null,
    geplandvolgnummer: textIn(summary, 'geplandvolgnummer') ?? null,
  });
  const yes = (value: unknown): string => (value === true ? 'ja' : '');
  return [
    ['nummer', (item) => numberText(numbers(item), isPlanned)],
    ['naam', ({ titel }) => titel],
    ['hoort bij', ({ summary }) => textIn(summary, 'hoofd')],
    ['begin', ({ summary }) => textIn(summary, 'starttijd') ?? textIn(summary, 'geplandestarttijd')],
    ['besloten', ({ summary }) => yes(summary.indicatiebesloten)],
    ['hamerstuk', ({ summary }) => yes(summary.indicatiehamerstuk)],
    ['behandeld', ({ summary }) => yes(summary.indicatiebehandeld)],
    ['identificatie', ({ bronidentificatie }) => bronidentificatie],
  ];
}

const PART_ROWS = 500;
/** Simultaneous lists for one address: a program that reads several organisations, or an office. */
const AT_ONCE = 8;

export interface CsvList<T> {
  readonly name: string;
  readonly columns: Columns<T>;
  /** The rows after those that were read: at most `limit`, fewer only at the end. */
  readonly read: (limit: number, last: T | undefined, count: number) => Promise<readonly T[]>;
  /** Further sources of the rows beside the feed. */
  readonly also?: string;
  readonly isNeeded?: boolean;
}

/** Sends complete lists of any length, read a part at a time. */
export function createCsvSender({ pool, stateCache, baseUrl }: PagesContext, maxAgeSeconds: number) {
  const countOpen = createOpenCounter(AT_ONCE);
  return async <T>(request: FastifyRequest, reply: FastifyReply, list: CsvList<T>): Promise<FastifyReply> => {
    // Before anything is read: a change in between gives another tag at the next request.
    const state = [await stateCache.current(), await readIndexPosition(pool), list.also, baseUrl(), request.url];
    const etag = `W/"${hash('sha256', JSON.stringify(state), 'base64url').slice(0, 22)}"`;
    reply.headers({ 'cache-control': `public, max-age=${maxAgeSeconds}`, etag, vary: 'Accept-Encoding' });
    if (isKnown(request, etag)) return reply.code(304).send();
    countOpen(clientKey(request), request);
    const first = await list.read(PART_ROWS, undefined, 0);
    if (list.isNeeded === true && first.length === 0) throw new Problem(platformProblems.notFound);
    reply.type(CSV).header('content-disposition', `attachment; filename="${list.name}.csv"`);
    // A body without a reader would be read to its end.
    const stream = Readable.from(request.method === 'HEAD' ? [] : pieces(list, first), { objectMode: false });
    if (acceptedEncoding(request.headers['accept-encoding'], ['gzip']) === 'identity') return reply.send(stream);
    // A fault in either ends the other, and with it the answer, halfway and visibly for the client.
    return reply.header('content-encoding', 'gzip').send(pipeline(stream, createGzip({ level: 5 }), () => undefined));
  };
}

async function* pieces<T>({ columns, read }: CsvList<T>, first: readonly T[]): AsyncGenerator<string> {
  yield head(columns);
  let count = 0;
  for (let rows = first; rows.length > 0; ) {
    yield body(columns, rows);
    count += rows.length;
    rows = rows.length < PART_ROWS ? [] : await read(PART_ROWS, rows.at(-1), count);
  }
}
