import type { Failing, WorkStep } from '../plugins/repeated-work.ts';
import type { FeedReader, HeadCache } from './feed/head.ts';
import type { ResponseCache } from './feed/response-cache.ts';
import type { SourceCompleteness } from './store/state.ts';

/** What the routes of the feed and its features build on: `app.feed`. */
export interface Feed {
  readonly heads: HeadCache;
  readonly reader: FeedReader;
  readonly responses: ResponseCache;
  /** Address of the feed's API as clients see it, without a trailing slash. */
  readonly mountUrl: () => string;
  /** Takes records in from when the server listens until it closes. @param name as a log line says it @returns whether that fails */
  follow(name: string, step: WorkStep): Pick<Failing, 'text'>;
  /** How complete the data of an organisation is that comes from elsewhere; undefined when nothing is followed here. */
  completenessOf(organisatiecode: string): Promise<SourceCompleteness | undefined>;
  /** Says how that is known. */
  knowCompleteness(read: Feed['completenessOf']): void;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly feed: Feed;
  }
}
