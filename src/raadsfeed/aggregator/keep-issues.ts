import type { DateWindow, SourceIssue, WindowReading } from './source-adapter.ts';

/** An issue as it is kept with its source. */
export interface KeptIssue extends SourceIssue {
  /** The window in which it was met. */
  readonly window: DateWindow;
  /** When it was met first; UTC. */
  readonly since: string;
  readonly lastSeen: string;
  /** When a reading of the same window did not meet it any more; `null` while it lasts. */
  readonly resolved: string | null;
}

/**
 * What is kept after a reading: how often in all, and what is over. Only a full reading can say that something is over, since a
 * quick one does not look at what did not change. An issue that comes back counts on.
 */
export function keepIssues(
  kept: readonly KeptIssue[],
  reading: Pick<WindowReading, 'window' | 'depth' | 'issues'>,
  now: Date,
): readonly KeptIssue[] {
  const { window, depth } = reading;
  const time = now.toISOString();
  const result = new Map<string, KeptIssue>();
  for (const issue of kept) {
    const over = depth === 'full' && issue.resolved === null && isWithin(issue.window, window);
    result.set(keyOf(issue.window, issue), over ? { ...issue, resolved: time } : issue);
  }
  for (const issue of reading.issues) {
    const key = keyOf(window, issue);
    const known = result.get(key);
    result.set(key, {
      ...issue,
      window,
      times: (known?.times ?? 0) + issue.times,
      since: known?.since ?? time,
      lastSeen: time,
      resolved: null,
    });
  }
  return [...result.values()];
}

function keyOf(window: DateWindow, { what, where, detail }: SourceIssue): string {
  return JSON.stringify([window.from, window.to, what, where, detail]);
}

function isWithin(inner: DateWindow, outer: DateWindow): boolean {
  return inner.from >= outer.from && inner.to <= outer.to;
}
