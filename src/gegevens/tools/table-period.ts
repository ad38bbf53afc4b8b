/** The period of tables. A mapping is reused every quarter, so the file itself is examined too. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Mapping } from '../../lib/exchange-model/mapping.ts';
import { valueAt } from '../../lib/json/json-value.ts';
import type { Terminal } from '../../lib/terminal.ts';
import { dayAfter, isDay } from '../../lib/time.ts';
import type { Period } from '../model/selection.ts';

/** First and last day of a quarter. @param quarter from 1 */
function quarterOf(year: number, quarter: number): Period {
  const first = (at: number): string => new Date(Date.UTC(year, at * 3, 1)).toISOString().slice(0, 10);
  return { start: first(quarter - 1), end: dayAfter(first(quarter), -1) };
}

/** The quarter of a day, `YYYY-MM-DD`. */
export function quarterAround(day: string): Period {
  return quarterOf(Number(day.slice(0, 4)), Math.ceil(Number(day.slice(5, 7)) / 3));
}

const DATES = /(?<!\d)(\d{4})-?(\d{2})-?(\d{2})\D{1,7}(\d{4})-?(\d{2})-?(\d{2})(?!\d)/;
const YEAR = /(?<!\d)20\d\d(?!\d)/g;
const NUMBERED = /(?<!\p{L})(?:q|k|kw|kwartaal|quarter)[\s_.-]?([1-4])(?!\d)/giu;
const ORDINALS = ['eerste', 'tweede', 'derde', 'vierde'];
const NAMED = new RegExp(
  `(?<![\\p{L}\\d])([1-4])(?:e|ste|de)?[\\s_.-]?kwartaal|(${ORDINALS.join('|')})[\\s_.-]?kwartaal`,
  'giu',
);

/**
 * The period in the name of a file: two dates, or a quarter (`2026-q2`, `Q2 2026`, `2e kwartaal`).
 * @param context for a name without a year: the year of this period, or else the last such quarter that has begun
 * @returns undefined when the name has none, or more than one
 */
export function periodInName(name: string, context: Period | undefined, now: Date): Period | undefined {
  const [, ...dates] = DATES.exec(name) ?? [];
  if (dates.length > 0) {
    const [start, end] = [dates.slice(0, 3).join('-'), dates.slice(3).join('-')];
    return isDay(start) && isDay(end) && start <= end ? { start, end } : undefined;
  }
  const quarters = new Set([
    ...[...name.matchAll(NUMBERED)].map(([, number]) => Number(number)),
    ...[...name.matchAll(NAMED)].map(([, number, word = '']) =>
      number === undefined ? ORDINALS.indexOf(word.toLowerCase()) + 1 : Number(number),
    ),
  ]);
  const years = new Set([...name.matchAll(YEAR)].map(([year]) => Number(year)));
  const [quarter] = quarters;
  if (quarter === undefined || quarters.size > 1 || years.size > 1) return undefined;
  const today = now.toISOString().slice(0, 10);
  const [year = context === undefined ? Number(today.slice(0, 4)) : Number(context.start.slice(0, 4))] = years;
  const found = quarterOf(year, quarter);
  const isAhead = years.size === 0 && context === undefined && found.start > today;
  return isAhead ? quarterOf(year - 1, quarter) : found;
}

/** The days on which records begin, as far as they indicate the period. */
export class BeginDays {
  readonly #begin: Mapping['levering']['record']['begin'];
  readonly #period: Period | undefined;
  readonly #today: string;
  #last = '';
  isWithin = false;

  constructor({ levering }: Mapping, period: Period | undefined, now: Date) {
    this.#begin = levering.record.begin;
    this.#period = period;
    this.#today = now.toISOString().slice(0, 10);
  }

  add(record: unknown): void {
    const day = this.#begin && valueAt(record, this.#begin);
    if (typeof day !== 'string' || !isDay(day) || day > this.#today) return;
    if (day > this.#last) this.#last = day;
    if (this.#period !== undefined && day >= this.#period.start && day <= this.#period.end) this.isWithin = true;
  }

  /** The quarter in which the last record begins; absent: no record has a begin. */
  get quarter(): Period | undefined {
    return this.#last === '' ? undefined : quarterAround(this.#last);
  }
}

/** The periods according to a mapping and a file. */
export interface Said {
  readonly mapping: Period | undefined;
  readonly file: Period | undefined;
  readonly by: 'name' | 'dates';
}

/** Asks on a terminal which period is meant; an empty answer selects that of the file. @returns instructions, elsewhere or without a usable answer */
export async function askPeriod(
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
  { file, said, signal }: { readonly file: string; readonly said: Said; readonly signal: AbortSignal },
): Promise<Period | string> {
  const reason = reasonOf(said);
  const found = said.file && textOf(said.file);
  if (stdin.isTTY !== true || stderr.isTTY !== true) {
    const which = [found, said.mapping && textOf(said.mapping)].filter((each) => each !== undefined);
    return `${reason}; pass --period ${which.join(' or --period ') || 'START/END'}`;
  }
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    const question = `${file}: ${reason}.\nPeriod${found === undefined ? ', such as 2026-01-01/2026-03-31' : ` [${found}]`}: `;
    const closed = once(lines, 'close', { signal }).then(() => undefined);
    const answer = await Promise.race([lines.question(question, { signal }), closed]);
    const period = answer?.trim() === '' ? said.file : readPeriod(answer?.trim() ?? '');
    return period ?? `${reason}, and no period was given, such as 2026-01-01/2026-03-31`;
  } finally {
    lines.close();
  }
}

function reasonOf({ mapping, file, by }: Said): string {
  const says = by === 'name' ? 'the name of the file says' : 'the newest records are of';
  const found = file === undefined ? '' : `${says} ${textOf(file)}`;
  if (mapping === undefined) return `the mapping has no period${found === '' ? '' : `; ${found}`}`;
  return `the period of the mapping is ${textOf(mapping)}, but ${by === 'dates' ? 'no record begins in it: ' : ''}${found}`;
}

function textOf({ start, end }: Period): string {
  return `${start}/${end}`;
}

/** Two days with a slash between them, as in ISO 8601. @returns undefined when it is no period */
export function readPeriod(text: string): Period | undefined {
  const [, start, end] = /^(\d{4}-\d{2}-\d{2})\/(\d{4}-\d{2}-\d{2})$/.exec(text) ?? [];
  if (start === undefined || end === undefined || !isDay(start) || !isDay(end)) return undefined;
  return start > end ? undefined : { start, end };
}
