/**
 * Sends every new record to every open stream. One read of the database and one encoding serve all of them.
 *
 * A stream first catches up by itself (`follow.ts`) and then joins here. Numbers are given in the order of the commits, so a single
 * number says what a stream has had: who joins before the hub's place catches up further, who joins after it skips until his own.
 */
import type { Db } from '../../kernel/database/db.ts';
import type { Logger } from '../../kernel/log.ts';
import type { FeedState } from '../feed-state.ts';
import { readEvents, type StoredEvent } from '../store/read-events.ts';
import type { FeedRow } from '../store/read-feed-row.ts';
import type { RecordFilter } from '../store/read-records.ts';
import { eventText, HEARTBEAT, passes } from './stream-event.ts';

/** An open stream, as the hub sees it. */
export interface LiveStream {
  readonly filter: RecordFilter;
  /** Everything up to here has been sent, or was kept back by the filter. */
  position: number;
  /** Writes bytes; a stream whose client does not read ends itself. */
  send(bytes: Buffer): void;
  /** What still waits for its client must not be sent any more: it connects again and resumes. */
  forget(): void;
  /** Ends the answer in good order. */
  end(): void;
}

export interface Hub {
  /** Takes a stream in when it has had everything that the hub has sent; false: catch up further. */
  join(stream: LiveStream): boolean;
  leave(stream: LiveStream): void;
  /** `redactions` of the feed as it was last seen; undefined: it was not seen yet. */
  readonly redactions: () => number | undefined;
  /** Streams that have caught up. */
  readonly count: () => number;
  /** Ends all streams. */
  close(): void;
}

export interface HubOptions {
  readonly db: Db;
  readonly state: FeedState;
  readonly mountUrl: () => string;
  readonly heartbeatSeconds: number;
  readonly log: Logger;
}

/** Records of one read, when many were published at once. */
const READ_LIMIT = 500;
/** Wait in milliseconds before a read that failed is tried again. */
const RETRY_MS = 500;

export function createHub({ db, state, mountUrl, heartbeatSeconds, log }: HubOptions): Hub {
  const streams = new Set<LiveStream>();
  let position: number | undefined;
  let wanted = 0;
  let redactions: number | undefined;
  let sending = false;
  let closed = false;

  const unsubscribe = state.onChange((feed: FeedRow) => {
    wanted = feed.head.sequenceNumber;
    if (redactions !== undefined && redactions !== feed.redactions) for (const stream of streams) stream.forget();
    redactions = feed.redactions;
    // A feed that was restored from a backup: its next numbers would be taken for ones that were sent.
    if (position !== undefined && wanted < position) endAll();
    void sendNew();
  });
  const heartbeat = setInterval(() => {
    for (const stream of streams) stream.send(HEARTBEAT);
  }, heartbeatSeconds * 1000);
  heartbeat.unref();

  const endAll = (): void => {
    for (const stream of [...streams]) stream.end();
    streams.clear();
    position = undefined;
  };

  const sendNew = async (): Promise<void> => {
    if (sending) return;
    sending = true;
    try {
      while (!closed && streams.size > 0 && position !== undefined && position < wanted) {
        const { found: events } = await readEvents(db, position, wanted, READ_LIMIT);
        position = events.at(-1)?.sequenceNumber ?? wanted;
        fanOut(events, position);
      }
      if (streams.size === 0) position = undefined;
    } catch (error) {
      log.warn({ err: error }, 'new records could not be read for the streams');
      if (!closed) setTimeout(() => void sendNew(), RETRY_MS).unref();
    } finally {
      sending = false;
    }
  };

  const fanOut = (events: readonly StoredEvent[], upTo: number): void => {
    const texts = events.map((event) => ({ event, text: eventText(event, mountUrl()) }));
    // Streams with the same filter that are equally far get the very same bytes.
    const encoded = new Map<string, Buffer>();
    for (const stream of [...streams]) {
      const { filter } = stream;
      const after = Math.max(stream.position, (events[0]?.sequenceNumber ?? 1) - 1);
      const key = `${filter.organisatiecode ?? ''} ${filter.resourceType ?? ''} ${after}`;
      let bytes = encoded.get(key);
      if (bytes === undefined) {
        const mine = texts.filter(({ event }) => event.sequenceNumber > after && passes(event, filter));
        bytes = Buffer.from(mine.map(({ text }) => text).join(''));
        encoded.set(key, bytes);
      }
      stream.position = Math.max(stream.position, upTo);
      if (bytes.length > 0) stream.send(bytes);
    }
  };

  return {
    join(stream) {
      if (closed) {
        stream.end();
        return true;
      }
      // With nobody there the hub stands nowhere: it begins at the place of the first who comes.
      position ??= stream.position;
      if (stream.position < position) return false;
      streams.add(stream);
      void sendNew();
      return true;
    },
    leave(stream) {
      streams.delete(stream);
      if (streams.size === 0 && !sending) position = undefined;
    },
    redactions: () => redactions,
    count: () => streams.size,
    close() {
      closed = true;
      unsubscribe();
      clearInterval(heartbeat);
      endAll();
    },
  };
}
