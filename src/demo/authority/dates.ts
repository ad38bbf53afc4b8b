/** `thisUpdate` and `nextUpdate` of an answer. */
export interface Dates {
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
}

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

/** The dates that go with a behaviour, in whole seconds. */
export function answerDates(behaviour: string, now: Date, lifeSeconds: number): Dates {
  const start = Math.floor(now.getTime() / 1000) * 1000;
  const life = lifeSeconds * 1000;
  const dates = (offset: number, length: number): Dates => ({
    thisUpdate: new Date(start + offset),
    nextUpdate: new Date(start + offset + length),
  });
  if (behaviour === 'stale') return dates(-3 * hourMs, 2 * hourMs);
  if (behaviour === 'years-old') return dates(-6 * yearMs, 20 * yearMs);
  if (behaviour === 'future') return dates(2 * hourMs, life);
  if (behaviour.endsWith('no-end')) return { thisUpdate: new Date(start), nextUpdate: undefined };
  return dates(0, life);
}
