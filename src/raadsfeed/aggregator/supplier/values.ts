/** Reads times and addresses in suppliers' notation. */
import { dutchDay, offsetMs } from '../../../lib/time.ts';
import type { IssueSink } from './issue-log.ts';

export interface Moment {
  /** RFC 3339 in UTC; absent when only a day was given. */
  readonly utc?: string;
  readonly day: string;
}

type MomentReading = { readonly moment?: Moment; readonly fault?: string };

const FORM = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** A time without an offset is Dutch. Empty, zero and impossible dates are absent; anything else is a fault. */
export function readMoment(value: unknown): MomentReading {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'string') return { fault: `a time was expected, not ${typeof value}` };
  const text = value.trim();
  if (text === '') return {};
  const found = FORM.exec(text);
  if (found === null) return { fault: `not a time: ${JSON.stringify(text.slice(0, 40))}` };
  const [, day = '', time, second = '00', offset] = found;
  // As if it were UTC: an impossible time is not a moment, or one of another day.
  const local = Date.parse(`${day}T${time ?? '00:00'}:${second}Z`);
  const isPossible = day >= '1900' && !Number.isNaN(local) && new Date(local).toISOString().startsWith(day);
  if (!isPossible) return {};
  if (time === undefined) return { moment: { day } };
  if (offset === undefined) return { moment: { utc: toUtc(fromAmsterdam(local)), day } };
  const zone = offset.toUpperCase().replace(/(\d{2})(\d{2})/, '$1:$2');
  const instant = Date.parse(`${day}T${time}:${second}${zone}`);
  return Number.isNaN(instant) ? {} : { moment: { utc: toUtc(instant), day: dutchDay(new Date(instant)) } };
}

function toUtc(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}

export function momentOf(value: unknown, name: string, issue: IssueSink): Moment | undefined {
  const { moment, fault } = readMoment(value);
  if (fault !== undefined) issue('unusable-value', `${name}: ${fault}`);
  return moment;
}

/** As `momentOf`, for a member that needs a time of day. */
export function timeOf(value: unknown, name: string, issue: IssueSink): string | undefined {
  const moment = momentOf(value, name, issue);
  if (moment !== undefined && moment.utc === undefined) issue('unusable-value', `${name}: a date without a time`);
  return moment?.utc;
}

const TIME_OF_DAY = /^\d{1,2}:\d{2}(?::\d{2})?$/;
const MIDNIGHT = /^0?0:00(?::00(?:[.,]0+)?)?$/;

/** A date, perhaps with a time in it or beside it. Midnight means that only the day is known. */
export function dutchMoment(date: unknown, time: unknown, name: string, issue: IssueSink): Moment | undefined {
  const compact = typeof date === 'string' ? date.trim().replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3') : date;
  const own = momentOf(compact, name, issue);
  if (own === undefined) return undefined;
  const beside = typeof time === 'string' ? time.trim() : '';
  if (TIME_OF_DAY.test(beside)) {
    if (MIDNIGHT.test(beside)) return { day: own.day };
    const moment = momentOf(`${own.day} ${beside.replace(/^(?=\d:)/, '0')}`, name, issue);
    if (moment !== undefined) return moment;
  } else if (beside !== '') {
    issue('unusable-value', `${name}: not a time of day: ${JSON.stringify(beside.slice(0, 40))}`);
  }
  const [, clock = ''] = /[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)/.exec(String(compact)) ?? [];
  return MIDNIGHT.test(clock) ? { day: own.day } : own;
}

const HOUR = 3_600_000;

/** The first instant in the hour that occurs twice; in the skipped hour, as if the clock had not moved yet. @param local as if it were UTC (ms) */
function fromAmsterdam(local: number): number {
  const before = offsetMs(new Date(local - 3 * HOUR));
  const after = offsetMs(new Date(local + 3 * HOUR));
  const instants = [local - Math.max(before, after), local - Math.min(before, after)];
  return instants.find((instant) => instant + offsetMs(new Date(instant)) === local) ?? local - before;
}

/** Repairs `httphttp://`, spaces and a missing scheme. */
export function fixUrl(value: string): string | undefined {
  const bare = value
    .trim()
    .replaceAll(/\s/g, '%20')
    .replace(/^(?:https?:?\/{0,2})*(https?):\/{1,2}(?=[^/])/i, '$1://');
  const schemed = /^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `https://${bare.replace(/^\/+/, '')}`;
  if (!URL.canParse(schemed)) return undefined;
  const url = new URL(schemed);
  const { hostname } = url;
  if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  return hostname.includes('.') || hostname === 'localhost' || hostname.startsWith('[') ? url.href : undefined;
}

/** As `fixUrl`; reports a failure without the text, which may be confidential. */
export function addressOf(value: string | undefined, name: string, issue: IssueSink): string | undefined {
  if (value === undefined) return undefined;
  const fixed = fixUrl(value);
  if (fixed === undefined) issue('unusable-value', `${name} is not a web address`);
  return fixed;
}
