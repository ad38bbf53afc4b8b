import type { Config } from '../kernel/config/read-config.ts';
import type { Db } from '../kernel/database/db.ts';
import type { Logger } from '../kernel/log.ts';
import type { FeedState } from './feed-state.ts';
import type { AnswerStore } from './pages/answer-store.ts';
import type { PageStore } from './pages/page-store.ts';

/** What the routes of the feed work with. */
export interface RaadsfeedParts {
  readonly settings: Config['raadsfeed'];
  /** For reads: a replica when there is one. */
  readonly db: Db;
  readonly state: FeedState;
  readonly pages: PageStore;
  readonly answers: AnswerStore;
  /** Address of the mount as clients see it, without a trailing slash. */
  readonly mountUrl: () => string;
  readonly log: Logger;
  /** Fires when the process begins to stop: streams end on it. */
  readonly stopping: AbortSignal;
}
