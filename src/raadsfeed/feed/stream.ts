/**
 * Streams of server-sent events. A stream first catches up by itself and then joins the live ones, which share one read of the database and
 * one encoding. Numbers are in the order of the commits, so a single number says what a stream has been sent.
 */
import type { ServerResponse } from 'node:http';
import type { Logger } from '../../kernel/log.ts';
import { joinRecord } from '../domain/record-text.ts';
import type { FeedHead } from '../store/feed-row.ts';
import { readEvents, type StoredEvent } from '../store/read-log.ts';
import { type RecordFilter, readFiltered } from '../store/read-texts.ts';
import { type FeedReader, type HeadCache, isSameHistory } from './head.ts';
import { type OpenStream, openStream } from './stream-connection.ts';

export interface StreamsOptions {
  readonly heads: HeadCache;
  readonly reader: FeedReader;
  readonly mountUrl: () => string;
  readonly heartbeatSeconds: number;
  /** Bytes that may wait for a client that does not read. */
  readonly bufferBytes: number;
  /** Milliseconds that a client that catches up may leave what was sent unread. */
  readonly drainTimeoutMs: number;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

export interface Streams {
  /** Sends what comes after a position to an answer whose head was written, until it ends. */
  open(response: ServerResponse, position: number, filter: RecordFilter): void;
  /** Streams that have caught up: the live ones. */
  readonly count: () => number;
  /** Ends all streams. */
  close(): void;
}

/** Records of one read for the live streams, and for one that catches up. */
const READ_LIMIT = 500;
const CATCH_UP_LIMIT = 200;
/** Milliseconds before a read that failed is tried again. */
const RETRY_MS = 500;
/** Characters that are sent at once to a stream that catches up, or one record when that is larger. */
const PIECE = 64 * 1024;
/** A comment line: proxies close idle connections. */
const HEARTBEAT = Buffer.from(':\n\n');

export function createStreams(options: StreamsOptions): Streams {
  const { heads, reader, log } = options;
  /** Every open stream; `live` are those that have caught up. */
  const open = new Set<OpenStream>();
  const live = new Set<OpenStream>();
  /** How far the live streams are, and up to where redactions were applied to every open stream; `undefined`: no stream is open. */
  let position: number | undefined;
  let sending = false;
  let closed = false;
  let known: FeedHead | undefined;
  /** Known once the server listens. */
  let mountUrl = '';

  const unsubscribe = heads.onChange((head) => {
    const before = known;
    known = head;
    if (before !== undefined && !isSameHistory(before, head)) for (const stream of [...open]) stream.discardUnsent();
    // The feed was restored from a backup: its next numbers would be taken for ones that were sent.
    if (before !== undefined && head.head.sequenceNumber < before.head.sequenceNumber) {
      for (const stream of [...open]) stream.cut();
      if (position !== undefined) position = head.head.sequenceNumber;
    }
    void sendNew();
  });
  const heartbeat = setInterval(() => {
    for (const stream of live) stream.send(HEARTBEAT);
    for (const stream of open) stream.notePosition();
  }, options.heartbeatSeconds * 1000);
  heartbeat.unref();

  const sendNew = async (): Promise<void> => {
    if (sending) return;
    sending = true;
    try {
      while (!closed && position !== undefined && position < (known?.head.sequenceNumber ?? 0)) {
        const after = position;
        const { head, events } = await reader.read((db) => readEvents(db, after, READ_LIMIT), after + 1);
        // Something was redacted meanwhile: read again.
        if (!heads.isCurrentHistory(head)) await heads.refreshHead();
        else if (after < head.historyAfter.sequenceNumber) {
          for (const stream of [...live]) stream.cut();
          position = head.historyAfter.sequenceNumber;
        } else if (position === after) sendToAll(events, after);
      }
    } catch (error) {
      log.warn({ err: error }, 'new records could not be read for the streams');
      if (!closed) setTimeout(() => void sendNew(), RETRY_MS).unref();
    } finally {
      sending = false;
    }
  };

  /** The operating system may still hold what was sent lately; a reset drops it. */
  const cutRecipients = (numbers: readonly number[]): void => {
    for (const stream of [...open]) {
      const from = stream.recentPosition();
      if (numbers.some((number) => number > from && number <= stream.position)) stream.cut();
    }
  };

  const sendToAll = (events: readonly StoredEvent[], after: number): void => {
    cutRecipients(events.flatMap(redactedNumbers));
    const texts = events.map((event) => ({ event, text: eventText(event, mountUrl) }));
    // Streams with the same filter and position share the bytes.
    const encoded = new Map<string, Buffer>();
    position = after + events.length;
    for (const stream of [...live]) {
      const { filter } = stream;
      const from = Math.max(stream.position, after);
      const key = `${filter.organisatiecode ?? ''} ${filter.resourceType ?? ''} ${from}`;
      let bytes = encoded.get(key);
      if (bytes === undefined) {
        const wanted = texts.filter(({ event }) => event.sequenceNumber > from && passes(event, filter));
        bytes = Buffer.from(wanted.map(({ text }) => text).join(''));
        encoded.set(key, bytes);
      }
      stream.position = Math.max(stream.position, position);
      if (bytes.length > 0) stream.send(bytes);
    }
  };

  /** Makes a stream live once it was sent everything that the live ones were; false: it must catch up further. */
  const join = (stream: OpenStream): boolean => {
    if (stream.position < (position ?? 0)) return false;
    live.add(stream);
    void sendNew();
    return true;
  };

  const forget = (stream: OpenStream): void => {
    open.delete(stream);
    live.delete(stream);
    if (open.size === 0) position = undefined;
  };

  /** Sends what is in the feed already, in order, without a gap or a repetition before it becomes live. */
  const catchUp = async (stream: OpenStream): Promise<void> => {
    while (!stream.ended.aborted) {
      const { head } = await heads.head();
      if (stream.position >= head.sequenceNumber && join(stream)) return;
      const from = stream.position;
      const read = await readAfter(stream);
      if (from < read.head.historyAfter.sequenceNumber) throw new Error('its history was pruned away meanwhile');
      // In pieces, so that little waits for a slow client however large the records are.
      for (const { text, last } of pieces(read.records, mountUrl)) {
        // The client may have taken minutes: what was redacted meanwhile must not be sent.
        if (!heads.isCurrentHistory(read.head)) break;
        stream.send(Buffer.from(text));
        stream.position = last;
        await stream.drained();
        if (stream.ended.aborted) return;
      }
      if (read.end !== undefined && stream.position === (read.records.at(-1)?.sequenceNumber ?? from))
        stream.position = Math.max(stream.position, read.end);
      // The read is older than what this instance knows.
      if (!heads.isCurrentHistory(read.head)) await heads.refreshHead();
    }
  };

  /** `end`: everything up to there was read. */
  const readAfter = async ({ position: after, filter }: OpenStream) => {
    if (filter.organisatiecode === undefined && filter.resourceType === undefined) {
      const { head, events } = await reader.read((db) => readEvents(db, after, CATCH_UP_LIMIT), after);
      return { head, records: events, end: undefined };
    }
    const read = await reader.read((db) => readFiltered(db, after, CATCH_UP_LIMIT, filter), after);
    return { head: read.head, records: read.records, end: read.isAll ? read.head.head.sequenceNumber : undefined };
  };

  return {
    open(response, from, filter) {
      const stream = openStream(response, { ...options, position: from, filter, onEnd: forget });
      mountUrl = options.mountUrl();
      open.add(stream);
      position ??= known?.head.sequenceNumber ?? from;
      catchUp(stream).catch((error: unknown) => {
        log.warn({ err: error }, 'a stream was cut off: its records could not be read');
        stream.cut();
      });
    },
    count: () => live.size,
    close() {
      closed = true;
      unsubscribe();
      clearInterval(heartbeat);
      for (const stream of [...open]) stream.end();
    },
  };
}

/** A record as a server-sent event, unnamed so that `onmessage` gets it; the text of a record has no line break. */
function eventText(record: Pick<StoredEvent, 'sequenceNumber' | 'prefix' | 'suffix'>, mountUrl: string): string {
  return `id: ${record.sequenceNumber}\ndata: ${joinRecord(record, mountUrl)}\n\n`;
}

function passes(record: Required<RecordFilter>, filter: RecordFilter): boolean {
  return (
    (filter.organisatiecode === undefined || filter.organisatiecode === record.organisatiecode) &&
    (filter.resourceType === undefined || filter.resourceType === record.resourceType)
  );
}

/** The numbers whose content a record redacts. */
function redactedNumbers({ prefix, suffix }: StoredEvent): number[] {
  if (suffix !== null || !prefix.includes('"op":"redact"')) return [];
  const { geredigeerdeSequenceNumbers: numbers }: { geredigeerdeSequenceNumbers?: number[] } = JSON.parse(prefix);
  return numbers ?? [];
}

interface Piece {
  readonly text: string;
  /** Number of its last record. */
  readonly last: number;
}

function* pieces(
  records: readonly Pick<StoredEvent, 'sequenceNumber' | 'prefix' | 'suffix'>[],
  mountUrl: string,
): Generator<Piece> {
  let text = '';
  for (const [i, record] of records.entries()) {
    text += eventText(record, mountUrl);
    if (text.length < PIECE && i < records.length - 1) continue;
    yield { text, last: record.sequenceNumber };
    text = '';
  }
}
