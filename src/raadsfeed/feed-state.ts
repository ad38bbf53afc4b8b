import type { Listener } from '../kernel/database/listen.ts';
import type { Pool } from '../kernel/database/pool.ts';
import type { Logger } from '../kernel/log.ts';
import { HOLDS_MS, settled } from './settling.ts';
import { createSharedQuestion } from './shared-question.ts';
import { FEED_CHANNEL } from './store/move-head.ts';
import { type FeedRow, readFeedRow } from './store/read-feed-row.ts';

/** What no notification told is found at this interval, in milliseconds: a redaction must reach every instance within a second. */
const POLL_MS = 400;

/** How the feed stands, as far as this process may say (`settling.ts`). */
export interface FeedState {
  /** How it stands now, when a look of a moment ago still holds; else `undefined`, and `current` finds out. */
  present(): FeedRow | undefined;
  /** How it stands at a moment between this call and its answer; the same object as long as nothing has changed. */
  current(): Promise<FeedRow>;
  /** As `current`, by a look that begins after this call: whatever the caller has read by then may be shown. */
  afresh(): Promise<FeedRow>;
  /** For showing only: it may be old. */
  knownHead(): number | undefined;
  /** Calls back whenever the head has moved or something earlier has changed. Returns the end of it. */
  onChange(callback: (row: FeedRow) => void): () => void;
  close(): void;
}

export interface FeedStateOptions {
  /** The database that pages are read from: the head must not run ahead of them on a replica. */
  readonly db: Pool;
  readonly listener: Listener;
  readonly log: Logger;
  /** Milliseconds; only differences count. */
  readonly now?: () => number;
}

interface Seen {
  readonly row: FeedRow;
  /** When the last look began that saw it. */
  at: number;
  /** Resolves when it may be shown, and is. */
  readonly shown: Promise<void>;
}

export function createFeedState({ db, listener, log, now = () => performance.now() }: FeedStateOptions): FeedState {
  const callbacks = new Set<(row: FeedRow) => void>();
  /** Seen last, and shown last: they differ while a change is kept quiet. */
  let last: Seen | undefined;
  let shown: Seen | undefined;

  const look = createSharedQuestion(async (): Promise<Seen> => {
    const at = now();
    const row = await readFeedRow(db);
    if (last !== undefined && isSame(last.row, row)) {
      last.at = at;
      return last;
    }
    const before = last?.shown;
    const seen: Seen = {
      row,
      at,
      shown: settled(performance.now())
        .then(() => before)
        .then(() => show(seen)),
    };
    last = seen;
    return seen;
  });
  const show = (seen: Seen): void => {
    shown = seen;
    for (const callback of [...callbacks]) {
      try {
        callback(seen.row);
      } catch (error) {
        log.error({ err: error }, 'a change of the feed was not taken in');
      }
    }
  };
  const afresh = async (): Promise<FeedRow> => {
    const seen = await look();
    await seen.shown;
    return seen.row;
  };

  const lookBeside = async (): Promise<void> => {
    try {
      await look();
    } catch (error) {
      log.warn({ err: error }, 'the head of the feed cannot be read');
    }
  };
  let isRenewing = false;
  const renew = (): void => {
    if (isRenewing) return;
    isRenewing = true;
    void lookBeside().then(() => {
      isRenewing = false;
    });
  };
  const present = (): FeedRow | undefined => {
    if (shown === undefined) return undefined;
    const age = now() - shown.at;
    if (age >= HOLDS_MS) return undefined;
    // So that whoever comes when this one is over need not wait.
    if (age >= HOLDS_MS / 2) renew();
    return shown.row;
  };

  const unsubscribe = listener.subscribe(FEED_CHANNEL, () => void lookBeside());
  const poll = setInterval(() => {
    if (last === undefined || now() - last.at > POLL_MS / 2) void lookBeside();
  }, POLL_MS);
  poll.unref();

  return {
    present,
    current: async () => present() ?? (await afresh()),
    afresh,
    knownHead: () => shown?.row.head.sequenceNumber,
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
