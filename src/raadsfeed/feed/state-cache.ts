/**
 * The state of the feed, as far as this instance knows: read from the database when a notification or a poll asks for it. Readers answer from it, and
 * from memory, while it was confirmed within the last second.
 */
import type { Listener } from '../../database/listen.ts';
import type { Db } from '../../database/transaction.ts';
import type { Logger } from '../../lib/log.ts';
import { withTimeout } from '../../lib/scheduling.ts';
import { FEED_CHANNEL, type FeedState, parseFeedState, type Read, readFeedRow } from '../store/records.ts';

/** Milliseconds between polls: a redaction must reach every instance within a second even when its notification is lost. */
const POLL_MS = 400;
const FRESH_MS = 1000;
const READ_TIMEOUT_MS = 2000;

export type FeedStateCache = ReturnType<typeof createFeedStateCache>;

interface FeedStateCacheOptions {
  readonly db: Db;
  readonly listener: Listener;
  readonly log: Logger;
  readonly now?: () => number;
}

export function createFeedStateCache({ db, listener, log, now = () => performance.now() }: FeedStateCacheOptions) {
  const callbacks = new Set<(state: FeedState) => void>();
  let known: FeedState | undefined;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let changedAt = Number.NEGATIVE_INFINITY;

  const replace = (state: FeedState): void => {
    known = state;
    changedAt = now();
    for (const callback of [...callbacks]) {
      try {
        callback(state);
      } catch (error) {
        log.error({ err: error }, 'a change of the feed could not be handled');
      }
    }
  };
  /** @param since when the read started. An older state is a stale read, unless it was read after the newer one: then a backup was restored. */
  const observe = (state: FeedState, since: number): void => {
    const isForward = known === undefined || isAtLeast(state, known);
    if (!isForward && since < changedAt) return;
    confirmedAt = Math.max(confirmedAt, since);
    if (known === undefined || !isSameState(state, known)) replace(state);
  };
  /** Reads the state with a statement that starts after the call; concurrent calls share one. @throws when it cannot be read */
  const refresh = coalesce(async (): Promise<FeedState> => {
    const since = now();
    observe(await withTimeout(READ_TIMEOUT_MS, 'the head of the feed', readFeedRow(db)), since);
    if (known === undefined) throw new Error('the head of the feed was not accepted');
    return known;
  });
  const refreshInBackground = (): void => {
    refresh().catch((error: unknown) => log.warn({ err: error }, 'the head of the feed cannot be read'));
  };
  /** The state if it was confirmed within the last second; the same object until something changes. */
  const fresh = (): FeedState | undefined => (now() - confirmedAt < FRESH_MS ? known : undefined);

  const unsubscribe = listener.subscribe(FEED_CHANNEL, (payload) => {
    const notified = parseFeedState(payload ?? '');
    // A notification does not confirm the state: it may have waited in a buffer.
    if (notified !== undefined && known !== undefined && isAtLeast(notified, known)) {
      if (!isSameState(notified, known)) replace(notified);
    } else refreshInBackground();
  });
  const poll = setInterval(refreshInBackground, POLL_MS);
  poll.unref();

  return {
    fresh,
    /** As `fresh`, refreshed if necessary. @throws when it cannot be read */
    current: async (): Promise<FeedState> => fresh() ?? (await refresh()),
    /** The same, also refreshed when a client has seen a higher number. @throws when it cannot be read */
    async currentAtLeast(sequenceNumber: number): Promise<FeedState> {
      const state = fresh();
      return state !== undefined && state.head.sequenceNumber >= sequenceNumber ? state : await refresh();
    },
    refresh,
    async read<T extends Read>(query: (db: Db) => Promise<T>): Promise<T> {
      const since = now();
      const found = await query(db);
      observe(found.state, since);
      return found;
    },
    /** Whether rows read under this state may still be served. */
    isCurrentHistory: (state: FeedState): boolean => known !== undefined && isSameHistory(state, known),
    known: (): FeedState | undefined => known,
    onChange(callback: (state: FeedState) => void): () => void {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    now,
    close(): void {
      unsubscribe();
      clearInterval(poll);
      callbacks.clear();
    },
  };
}

export function isSameHistory(a: FeedState, b: FeedState): boolean {
  return (
    a.feedId === b.feedId &&
    a.redactions === b.redactions &&
    a.historyAfter.sequenceNumber === b.historyAfter.sequenceNumber
  );
}

export function isSameState(a: FeedState, b: FeedState): boolean {
  return isSameHistory(a, b) && a.head.sequenceNumber === b.head.sequenceNumber && a.head.epoch === b.head.epoch;
}

/** Whether `a` is `b` or a later state of the same feed. */
export function isAtLeast(a: FeedState, b: FeedState): boolean {
  const hasHistory =
    a.feedId === b.feedId &&
    a.redactions >= b.redactions &&
    a.historyAfter.sequenceNumber >= b.historyAfter.sequenceNumber;
  if (!hasHistory || a.head.sequenceNumber < b.head.sequenceNumber) return false;
  return a.head.sequenceNumber > b.head.sequenceNumber || a.head.epoch === b.head.epoch;
}

/** Runs one call at a time; callers that arrive meanwhile share the next one, because the running one may have read too early for them. */
function coalesce<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const result = read();
    last = result.catch(() => undefined);
    return result;
  };
  return () => {
    next ??= last.then(begin);
    return next;
  };
}
