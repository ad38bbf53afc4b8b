import type { Failing, WorkStep } from '../plugins/repeated-work.ts';
import type { ResponseCache } from './feed/response-cache.ts';
import type { FeedStateCache } from './feed/state-cache.ts';
import type { SourceCompleteness } from './store/state.ts';

/** `app.feed`, for the routes of the feed and its features. */
export interface Feed {
  readonly stateCache: FeedStateCache;
  readonly responses: ResponseCache;
  /** Address of the feed's API as clients see it, without a trailing slash. */
  readonly mountUrl: () => string;
  /** Follows the feed while the server listens. @param name for log lines @returns why it fails, if it does */
  follow(name: string, step: WorkStep): Pick<Failing, 'text'>;
  /** Completeness of an organisation's data from other sources: the aggregator replaces it. */
  completenessOf: (organisatiecode: string) => Promise<SourceCompleteness | undefined>;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly feed: Feed;
  }
}
