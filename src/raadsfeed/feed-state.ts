import type { Listener } from '../kernel/database/listen.ts';
import type { Pool } from '../kernel/database/pool.ts';
import { createRepeatedQuery } from '../kernel/database/repeated-query.ts';
import type { Logger } from '../kernel/log.ts';
import { createSharedQuestion } from './shared-question.ts';
import { FEED_CHANNEL } from './store/move-head.ts';
import { FEED_MARK, type FeedRow, readFeedRow } from './store/read-feed-row.ts';

/** What no notification told is found at this interval, in milliseconds: a redaction must reach every instance within a second. */
const POLL_MS = 400;

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

  const current = createSharedQuestion(async (): Promise<FeedRow> => {
    const askedAt = performance.now();
    const mark = (await marks.ask()) ?? '';
    // The row is read after its mark: it can only be newer, and then the next mark is another.
    const row = mark === knownMark && known !== undefined ? known : await readFeedRow(db);
    knownAt = askedAt;
    knownMark = mark;
    if (known !== undefined && (row === known || isSame(known, row))) return known;
    known = row;
    for (const callback of [...callbacks]) callback(row);
    return row;
  });
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
