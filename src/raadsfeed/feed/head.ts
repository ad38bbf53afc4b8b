/**
 * The head of the feed, as far as this instance knows. It is read from the database; notifications announce changes, and a poll makes up for lost
 * notifications. Readers answer from it, and from memory, while it was confirmed within the last second.
 */
import type { Listener } from '../../database/listen.ts';
import type { Db } from '../../database/transaction.ts';
import type { Logger } from '../../lib/log.ts';
import { withTimeout } from '../../lib/scheduling.ts';
import { FEED_CHANNEL, type FeedHead, parseFeedHead, type Read, readFeedRow } from '../store/records.ts';

/** Milliseconds between polls: a redaction must reach every instance within a second even when its notification is lost. */
const POLL_MS = 400;
/** Milliseconds for which a confirmed head may be used. */
const FRESH_MS = 1000;
/** Milliseconds that a read of the head may take. */
const READ_TIMEOUT_MS = 2000;

export interface HeadCache {
  /** The head if it was confirmed within the last second; the same object until something changes. */
  cachedHead(): FeedHead | undefined;
  /** The same, refreshed if necessary. @throws when it cannot be read */
  head(): Promise<FeedHead>;
  /** The same, also refreshed when a client has seen a higher number. @throws when it cannot be read */
  headAtLeast(sequenceNumber: number): Promise<FeedHead>;
  /** Reads the head with a statement that starts after this call; concurrent calls share one. @throws when it cannot be read */
  refreshHead(): Promise<FeedHead>;
  /** Accepts a head that a statement read; `since`: when it started, by `now()` of this cache. */
  observe(head: FeedHead, since: number): void;
  /** Whether rows read under this head may still be served. */
  isCurrentHistory(head: FeedHead): boolean;
  /** The last known head, however old, for metrics. */
  knownHead(): FeedHead | undefined;
  /** @returns a function that unsubscribes */
  onChange(callback: (head: FeedHead) => void): () => void;
  readonly now: () => number;
  close(): void;
}

interface HeadCacheOptions {
  readonly db: Db;
  readonly listener: Listener;
  readonly log: Logger;
  /** Milliseconds; only differences count. */
  readonly now?: () => number;
}

export function createHeadCache({ db, listener, log, now = () => performance.now() }: HeadCacheOptions): HeadCache {
  const callbacks = new Set<(head: FeedHead) => void>();
  let known: FeedHead | undefined;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let changedAt = Number.NEGATIVE_INFINITY;

  const replace = (head: FeedHead): void => {
    known = head;
    changedAt = now();
    for (const callback of [...callbacks]) {
      try {
        callback(head);
      } catch (error) {
        log.error({ err: error }, 'a change of the feed could not be handled');
      }
    }
  };
  /** A feed only moves forward. An older head is a stale read, unless it was read after the newer one: then a backup was restored. */
  const observe = (head: FeedHead, since: number): void => {
    const isForward = known === undefined || isAtLeast(head, known);
    if (!isForward && since < changedAt) return;
    confirmedAt = Math.max(confirmedAt, since);
    if (known === undefined || !isSameHead(head, known)) {
      replace(head);
    }
  };
  const refreshHead = coalesce(async (): Promise<FeedHead> => {
    const since = now();
    observe(await withTimeout(READ_TIMEOUT_MS, 'the head of the feed', readFeedRow(db)), since);
    if (known === undefined) throw new Error('the head of the feed was not accepted');
    return known;
  });
  const refreshInBackground = (): void => {
    refreshHead().catch((error: unknown) => log.warn({ err: error }, 'the head of the feed cannot be read'));
  };
  const cachedHead = (): FeedHead | undefined => (now() - confirmedAt < FRESH_MS ? known : undefined);

  const unsubscribe = listener.subscribe(FEED_CHANNEL, (payload) => {
    const notified = parseFeedHead(payload ?? '');
    // A notification does not confirm the head: it may have waited in a buffer.
    if (notified !== undefined && known !== undefined && isAtLeast(notified, known)) {
      if (!isSameHead(notified, known)) replace(notified);
    } else refreshInBackground();
  });
  const poll = setInterval(refreshInBackground, POLL_MS);
  poll.unref();

  return {
    cachedHead,
    head: async () => cachedHead() ?? (await refreshHead()),
    async headAtLeast(sequenceNumber) {
      const head = cachedHead();
      return head !== undefined && head.head.sequenceNumber >= sequenceNumber ? head : await refreshHead();
    },
    refreshHead,
    observe,
    isCurrentHistory: (head) => known !== undefined && isSameHistory(head, known),
    knownHead: () => known,
    onChange(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    now,
    close() {
      unsubscribe();
      clearInterval(poll);
      callbacks.clear();
    },
  };
}

/** Whether feed, redactions and start of the history are equal. */
export function isSameHistory(a: FeedHead, b: FeedHead): boolean {
  return (
    a.feedId === b.feedId &&
    a.redactions === b.redactions &&
    a.historyAfter.sequenceNumber === b.historyAfter.sequenceNumber
  );
}

/** Whether the history of `a` is that of `b` or a later one of the same feed. */
function hasHistoryOf(a: FeedHead, b: FeedHead): boolean {
  return (
    a.feedId === b.feedId &&
    a.redactions >= b.redactions &&
    a.historyAfter.sequenceNumber >= b.historyAfter.sequenceNumber
  );
}

export function isSameHead(a: FeedHead, b: FeedHead): boolean {
  return isSameHistory(a, b) && a.head.sequenceNumber === b.head.sequenceNumber && a.head.epoch === b.head.epoch;
}

/** Whether `a` is `b` or a later state of the same feed. */
export function isAtLeast(a: FeedHead, b: FeedHead): boolean {
  if (!hasHistoryOf(a, b) || a.head.sequenceNumber < b.head.sequenceNumber) return false;
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

export interface FeedReader {
  /** Runs a read, and observes the head that it found. */
  read<T extends Read>(query: (db: Db) => Promise<T>): Promise<T>;
}

export function createFeedReader(db: Db, heads: HeadCache): FeedReader {
  return {
    async read(query) {
      const since = heads.now();
      const found = await query(db);
      heads.observe(found.head, since);
      return found;
    },
  };
}
