import type { Config } from '../kernel/config/read-config.ts';
import type { Logger } from '../kernel/log.ts';
import type { PageSource } from './feed/page.ts';
import type { ResponseCache } from './feed/response-cache.ts';

/** What the routes of the feed work with. */
export interface RaadsfeedServices extends PageSource {
  readonly settings: Config['raadsfeed'];
  readonly responses: ResponseCache;
  readonly log: Logger;
  /** Fires when the process begins to stop: streams end then. */
  readonly stopping: AbortSignal;
}
