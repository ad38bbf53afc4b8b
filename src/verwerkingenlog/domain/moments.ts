// Moments and days as callers write them. @see RFC 3339
import { moment } from './verwerkingsactie.ts';

const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;

const amsterdam = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Amsterdam', timeZoneName: 'longOffset' });

/**
 * A moment (or a day: then its midnight in the Netherlands) as a UTC text, to the millisecond.
 * @returns undefined when it lies outside the years 1 to 9999 in UTC, where a text would not be RFC 3339 any more
 */
export function toUtc(text: string): string | undefined {
  const day = DAY.exec(text);
  const at = day === null ? new Date(text.toUpperCase()) : midnight(text);
  const year = at.getUTCFullYear();
  return year >= 1 && year <= 9999 ? moment(at) : undefined;
}

/** The offset from UTC that a moment was written with, as it was written; `null` for one in UTC. */
export function offsetOf(text: string): string | null {
  return /[+-]\d\d:\d\d$/.exec(text)?.[0] ?? null;
}

/**
 * A moment in UTC as it was written by who gave it: the standard has a provider convert no time zones.
 * @param utc text of a moment in UTC
 * @param offset as `offsetOf` found it
 */
export function withOffset(utc: string, offset: string | null): string {
  if (offset === null) return utc;
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number);
  const ahead = (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
  return moment(new Date(Date.parse(utc) + ahead * 60_000)).replace('Z', offset);
}

function midnight(day: string): Date {
  const utc = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(utc.getTime())) return utc;
  // The offset of the moment looked for, not that of midnight in UTC: on a day that the clocks change these differ.
  const first = new Date(utc.getTime() - offsetMs(utc));
  return new Date(utc.getTime() - offsetMs(first));
}

function offsetMs(at: Date): number {
  const name = amsterdam.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}
