import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Listener } from '../kernel/database/listen.ts';
import type { Pool } from '../kernel/database/pool.ts';
import { createRepeatedQuery } from '../kernel/database/repeated-query.ts';
import type { Logger } from '../kernel/log.ts';
import { FEED_CHANNEL } from './store/move-head.ts';
import { FEED_MARK, type FeedRow, readFeedRow } from './store/read-feed-row.ts';

/** What no notification told is found at this interval, in milliseconds: a redaction must reach every instance within a second. */
const POLL_MS = 400;

/**
 * Least time in milliseconds between two questions: with few connections that ask without a pause, every third request would else have its own
 * question. No request that comes alone waits for it.
 */
const GAP_MS = 0.5;

/** How the feed stands, as far as this process knows. */
export interface FeedState {
  /** Asked of the database after this call; the same object as long as nothing has changed. All who wait share one question. */
  current(): Promise<FeedRow>;
  /** For showing only: it may be old. */
  knownHead(): number | undefined;
  /** Calls back whenever the head has moved or something earlier has changed. Returns the end of it. */
  onChange(callback: (row: FeedRow) => void): () => void;
  close(): void;
}

/** @param options.db the database that pages are read from: the head must not run ahead of them on a replica */
export function createFeedState(options: { db: Pool; listener: Listener; log: Logger }): FeedState {
  const { db, listener, log } = options;
  const callbacks = new Set<(row: FeedRow) => void>();
  const marks = createRepeatedQuery(db, FEED_MARK);
  let known: FeedRow | undefined;
  let knownMark = '';
  let knownAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<FeedRow> | undefined;
  let next: Promise<FeedRow> | undefined;

  const ask = async (now: number): Promise<FeedRow> => {
    const mark = (await marks.ask()) ?? '';
    // The row is read after its mark: it can only be newer, and then the next mark is another.
    const row = mark === knownMark && known !== undefined ? known : await readFeedRow(db);
    knownAt = now;
    knownMark = mark;
    if (known !== undefined && (row === known || isSame(known, row))) return known;
    known = row;
    for (const callback of [...callbacks]) callback(row);
    return row;
  };
  const askNext = async (): Promise<FeedRow> => {
    // What is under way may have begun before a commit that a caller knows of.
    await running?.catch(() => undefined);
    // All requests that have come by now are read before the question is asked: it serves them all.
    do await nextTurn();
    while (performance.now() - askedAt < GAP_MS);
    next = undefined;
    askedAt = performance.now();
    running = ask(askedAt);
    return running;
  };
  const current = (): Promise<FeedRow> => {
    next ??= askNext();
    return next;
  };
  const look = (): void => {
    current().catch((error: unknown) => log.warn({ err: error }, 'the head of the feed cannot be read'));
  };
  const unsubscribe = listener.subscribe(FEED_CHANNEL, look);
  const poll = setInterval(() => {
    if (performance.now() - knownAt > POLL_MS / 2) look();
  }, POLL_MS);
  poll.unref();

  return {
    current,
    knownHead: () => known?.head.sequenceNumber,
    onChange: (callback) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    close: () => {
      unsubscribe();
      clearInterval(poll);
      callbacks.clear();
      marks.close();
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
