import { setTimeout as wait } from 'node:timers/promises';
import { checkRecords, type ReceivedRecord } from './check-page.ts';
import { type FeedClientOptions, FollowError, getFeedJson } from './feed-client.ts';

/** How far a follower is; kept between runs. */
export interface FollowState {
  /** Address of the service document. */
  readonly service: string;
  readonly feedUrl: string;
  readonly snapshotUrl: string;
  /** The filters that the cursor was reached with: with others the state held would not be whole. */
  readonly query: string;
  readonly phase: 'snapshot' | 'feed';
  /** Of the snapshot or of the feed, by `phase`. */
  readonly cursor: string | null;
  /** Where the feed goes on after the snapshot. */
  readonly feedCursor: string | null;
  /** The last number of the feed that was seen. */
  readonly lastNumber: number | null;
}

export interface FollowOptions extends FeedClientOptions {
  /** End when the feed has been caught up with. */
  readonly once: boolean;
  /** Takes a page; when it returns, `state` may be kept. */
  readonly page: (records: readonly ReceivedRecord[], state: FollowState) => Promise<void>;
  readonly fault: (text: string) => void;
  /** Hears when there was nothing more. */
  readonly caughtUp: (state: FollowState) => void;
}

const DEFAULT_WAIT_SECONDS = 5;

/**
 * Follows a feed: the snapshot to its end, then the feed for ever. A page is handed over before the place after it is kept, so after a
 * crash something may come twice, and nothing is missed.
 * @throws {FollowError}
 * @throws the signal's reason
 */
export async function followFeed(begin: FollowState, options: FollowOptions): Promise<FollowState> {
  let state = begin;
  let etag: string | undefined;
  for (;;) {
    const inSnapshot = state.phase === 'snapshot';
    const answer = await getFeedJson(pageUrl(state), etag, options);
    etag = undefined;
    if (answer.body !== undefined) {
      const next = advance(state, answer.body, options.fault);
      await options.page(next.records, next.state);
      const moved = next.state.cursor !== state.cursor || next.state.phase !== state.phase;
      state = next.state;
      if (inSnapshot || next.hasMore) {
        if (!moved)
          throw new FollowError('NOT_A_FEED', `${state.feedUrl} says that there is more, but does not move on`);
        continue;
      }
      if (!moved) etag = answer.etag;
    }
    options.caughtUp(state);
    if (options.once) return state;
    await wait(Math.max(1, answer.maxAgeSeconds ?? DEFAULT_WAIT_SECONDS) * 1000, undefined, { signal: options.signal });
  }
}

function pageUrl({ phase, cursor, feedUrl, snapshotUrl, query }: FollowState): string {
  const url = new URL(phase === 'snapshot' ? snapshotUrl : feedUrl);
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  if (cursor !== null) url.searchParams.set('cursor', cursor);
  return url.href;
}

function advance(
  state: FollowState,
  body: Readonly<Record<string, unknown>>,
  fault: (text: string) => void,
): { records: ReceivedRecord[]; state: FollowState; hasMore: boolean } {
  const { cursor, hasMore, head, feedCursor } = body;
  if (typeof hasMore !== 'boolean') throw new FollowError('NOT_A_FEED', 'a page does not say whether there is more');
  if (state.phase === 'snapshot') {
    if (typeof feedCursor !== 'string') throw new FollowError('NOT_A_FEED', 'a snapshot without a feedCursor');
    if (state.feedCursor !== null && state.feedCursor !== feedCursor) fault('feedCursor changed within one snapshot');
    const records = checkRecords(body.records, { after: undefined, gapless: false, fault });
    if (records.some(({ op }) => op !== 'upsert')) fault('a snapshot holds something else than upserts');
    const start = state.feedCursor ?? feedCursor;
    if (hasMore && typeof cursor !== 'string')
      throw new FollowError('NOT_A_FEED', 'a snapshot has more, but no cursor');
    return hasMore && typeof cursor === 'string'
      ? { records, hasMore, state: { ...state, cursor, feedCursor: start } }
      : { records, hasMore, state: { ...state, phase: 'feed', cursor: start, feedCursor: start } };
  }
  if (typeof cursor !== 'string') throw new FollowError('NOT_A_FEED', 'a page of the feed has no cursor');
  const gapless = state.query === '';
  const records = checkRecords(body.records, { after: state.lastNumber ?? undefined, gapless, fault });
  const lastNumber = records.at(-1)?.sequenceNumber ?? state.lastNumber;
  if (typeof head !== 'number') fault('a page of the feed has no head');
  else if (lastNumber !== null && head < lastNumber) fault(`head ${head} is lower than number ${lastNumber}`);
  else if (lastNumber !== null && gapless && !hasMore && head > lastNumber)
    fault(`says to be at the end, but head is ${head}`);
  return { records, hasMore, state: { ...state, cursor, lastNumber } };
}
