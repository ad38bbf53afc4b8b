import type { Db } from '../kernel/database/db.ts';
import type { Listener } from '../kernel/database/listen.ts';
import type { Logger } from '../kernel/log.ts';
import { FEED_CHANNEL } from './store/move-head.ts';
import { type FeedRow, readFeedRow } from './store/read-feed-row.ts';

/** Older than this, in milliseconds, what is known of the head is asked anew before an answer is built on it. */
const FRESH_MS = 10;
/** Older than this it is asked anew beside an answer, so that under load no answer waits. */
const RENEW_MS = 4;
/** What no notification told is found at this interval, in milliseconds: a redaction must reach every instance within a second. */
const POLL_MS = 400;

/** How the feed stands, as far as this process knows. */
export interface FeedState {
  /** At most 10 ms old, and never older than the last notification: under load one look serves many. */
  current(): FeedRow | Promise<FeedRow>;
  /** The same when it needs no look; the same object as long as nothing has changed. */
  fresh(): FeedRow | undefined;
  /** For showing only: it may be old. */
  knownHead(): number | undefined;
  /** Asked after this call. */
  refresh(): Promise<FeedRow>;
  /** Calls back whenever the head has moved or something earlier has changed. Returns the end of it. */
  onChange(callback: (row: FeedRow) => void): () => void;
  close(): void;
}

/** @param options.db the database that pages are read from: the head must not run ahead of them on a replica */
export function createFeedState(options: { db: Db; listener: Listener; log: Logger }): FeedState {
  const { db, listener, log } = options;
  const callbacks = new Set<(row: FeedRow) => void>();
  let known: FeedRow | undefined;
  let knownAt = Number.NEGATIVE_INFINITY;
  let notifiedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<FeedRow> | undefined;
  let next: Promise<FeedRow> | undefined;

  const ask = async (): Promise<FeedRow> => {
    const askedAt = performance.now();
    const row = await readFeedRow(db);
    knownAt = askedAt;
    if (known !== undefined && isSame(known, row)) return known;
    known = row;
    for (const callback of [...callbacks]) callback(row);
    return row;
  };
  const run = (): Promise<FeedRow> => {
    running = ask().finally(() => {
      running = undefined;
    });
    return running;
  };
  const refresh = (): Promise<FeedRow> => {
    if (running === undefined) return run();
    // What is under way may have begun before the change that is looked for: one more, shared by all who wait.
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
  const fresh = (): FeedRow | undefined => {
    const age = performance.now() - knownAt;
    if (age >= FRESH_MS || knownAt < notifiedAt) return undefined;
    if (age >= RENEW_MS && running === undefined) look();
    return known;
  };
  const look = (): void => {
    refresh().catch((error: unknown) => log.warn({ err: error }, 'the head of the feed cannot be read'));
  };
  const unsubscribe = listener.subscribe(FEED_CHANNEL, () => {
    // What was asked before now is old, even when its answer is still to come.
    notifiedAt = performance.now();
    look();
  });
  const poll = setInterval(() => {
    if (performance.now() - knownAt > POLL_MS / 2) look();
  }, POLL_MS);
  poll.unref();

  return {
    current: () => fresh() ?? refresh(),
    fresh,
    knownHead: () => known?.head.sequenceNumber,
    refresh,
    onChange: (callback) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    close: () => {
      unsubscribe();
      clearInterval(poll);
      callbacks.clear();
    },
  };
}

function isSame(a: FeedRow, b: FeedRow): boolean {
  return (
    a.head.sequenceNumber === b.head.sequenceNumber &&
    a.head.merk === b.head.merk &&
    a.redactions === b.redactions &&
    a.historyAfter.sequenceNumber === b.historyAfter.sequenceNumber &&
    a.feedId.equals(b.feedId)
  );
}
