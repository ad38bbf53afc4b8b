/** The days of the example data. In the files, the next meeting is on a fixed Thursday; when loaded, on the coming one. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dutchDay, offsetMs } from '../lib/time.ts';

const NEXT_MEETING = '2026-03-05';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The moment of the first start of a demo: its data belong to that week. @param home directory of the demo's files */
export async function firstStart(home: string): Promise<Date> {
  const file = join(home, 'first-start');
  const kept = new Date(await readFile(file, 'utf8').catch(() => ''));
  if (!Number.isNaN(kept.getTime())) return kept;
  const now = new Date();
  await mkdir(home, { recursive: true });
  await writeFile(file, now.toISOString());
  return now;
}

/** Moves every day in a text by whole weeks, which preserves weekdays; times of day stay those of the clock in Amsterdam. */
export function asIfThisWeek(text: string, now: Date): string {
  const written = Date.parse(NEXT_MEETING);
  const weeks = Math.floor((Date.parse(dutchDay(now)) - written) / (7 * DAY_MS)) + 1;
  return text.replaceAll(
    /"(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d:\d\d)\+0[12]:00)?"/g,
    (_, day: string, time: string | undefined) => {
      const moved = new Date(Date.parse(day) + weeks * 7 * DAY_MS);
      const date = moved.toISOString().slice(0, 10);
      if (time === undefined) return `"${date}"`;
      // The clock changes at night: the offset of the same time in UTC is that of the day.
      return `"${date}${time}+0${offsetMs(new Date(`${date}${time}Z`)) / HOUR_MS}:00"`;
    },
  );
}
