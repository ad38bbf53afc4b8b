import { type FeedClientOptions, FollowError, getFeedJson } from './feed-client.ts';

/** Where a feed is. */
export interface FeedLocation {
  readonly service: string;
  readonly feedUrl: string;
  readonly snapshotUrl: string;
}

/**
 * Finds a feed by the address of its service document, or by a host that has the well-known address.
 * @throws {FollowError}
 */
export async function findFeed(address: string, options: FeedClientOptions): Promise<FeedLocation> {
  const given = new URL(address);
  const candidates =
    given.pathname === '/' && given.search === ''
      ? ['/.well-known/council-feed', '/.well-known/ori-feed', '/'].map((path) => new URL(path, given).href)
      : [given.href];
  let last: unknown;
  for (const service of candidates) {
    try {
      const { body } = await getFeedJson(service, undefined, options);
      const { feedUrl, snapshotUrl } = body ?? {};
      if (typeof feedUrl === 'string' && typeof snapshotUrl === 'string') {
        return { service, feedUrl: new URL(feedUrl, service).href, snapshotUrl: new URL(snapshotUrl, service).href };
      }
      last = new FollowError('NOT_A_FEED', `${service} is not the service document of a feed`);
    } catch (error) {
      if (!(error instanceof FollowError)) throw error;
      last = error;
    }
  }
  throw last;
}
