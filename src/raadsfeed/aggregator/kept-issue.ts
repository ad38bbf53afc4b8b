import type { DateWindow, SourceIssue } from './source-adapter.ts';

/** An issue as it is kept with its source; `times` is how often in all. */
export interface KeptIssue extends SourceIssue {
  /** The window in which it was met. */
  readonly window: DateWindow;
  /** When it was met first; UTC. */
  readonly since: string;
  readonly lastSeen: string;
  /** When a full reading of the same window did not meet it any more; `null` while it lasts. */
  readonly resolved: string | null;
}
