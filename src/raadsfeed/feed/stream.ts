/**
 * Streams of server-sent events. A stream first catches up by itself and then joins the live ones, which share one read of the database and
 * one encoding. Numbers are in the order of the commits, so a single number says what a stream has been sent.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../lib/log.ts';
import type { Permit } from '../../lib/scheduling.ts';
import { joinRecord } from '../domain/record-text.ts';
import type { FeedHead } from '../store/feed-row.ts';
import {
  type OctetLimits,
  type Read,
  type RecordFilter,
  readFiltered,
  type StoredRecord,
} from '../store/read-records.ts';
import { type FeedReader, type HeadCache, isSameHistory } from './head.ts';
import { type OpenStream, openStream } from './stream-connection.ts';
import { createStreamMemory } from './stream-memory.ts';

export interface StreamsOptions {
  readonly heads: HeadCache;
  readonly reader: FeedReader;
  readonly mountUrl: () => string;
  readonly heartbeatSeconds: number;
  /** Bytes that may wait for a client of a live stream: with more it catches up by itself. */
  readonly bufferBytes: number;
  /** Bytes that may wait for the clients of all streams together. */
  readonly memoryBytes: number;
  /** Milliseconds that a client may leave what was sent unread; then its stream is cut. */
  readonly drainTimeoutMs: number;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

/** What a stream begins with. */
export interface StreamStart {
  /** It gets what comes after this number. */
  readonly position: number;
  readonly filter: RecordFilter;
  /** Who it counts for. */
  readonly client: string;
}

export interface Streams {
  /** Sends what comes after a position to an answer whose head was written, until it ends. */
  open(response: ServerResponse, start: StreamStart): void;
  /** Streams that have caught up: the live ones. */
  readonly count: () => number;
  /** Ends all streams. */
  close(): void;
}

/** Records of one read for the live streams, and for one that catches up. */
const READ_LIMIT = 500;
const CATCH_UP_LIMIT = 50;
/** Octets that one stream reads at once; a larger record goes out in parts of `record`. */
const CATCH_UP: OctetLimits = { page: 64 * 1024, record: 192 * 1024 };
/** Large records are read whole, and kept for the streams that send them in parts for as long as one of them goes on. */
const WHOLE: OctetLimits = { page: 2 ** 30, record: 2 ** 30 };
const LARGE_RECORDS = { maxSize: 32 * 1024 * 1024, ttl: 2000, updateAgeOnGet: true, ttlAutopurge: true };
/** Milliseconds before a read that failed, or that brought nothing, is tried again. */
const RETRY_MS = 500;
const NOTHING_NEW_MS = 250;
/** How often streams are looked through for clients that do not read. */
const CHECKS_PER_DRAIN = 10;
/** A comment line: proxies close idle connections. */
const HEARTBEAT = Buffer.from(':\n\n');

export function createStreams(options: StreamsOptions): Streams {
  const { heads, reader, log, bufferBytes } = options;
  const memory = createStreamMemory(options.memoryBytes);
  const LIVE: OctetLimits = { page: bufferBytes, record: bufferBytes };
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
  const largeRecords = new LRUCache<number, Read & { readonly bytes: Buffer }>({
    ...LARGE_RECORDS,
    sizeCalculation: ({ bytes }) => bytes.length,
    fetchMethod: async (number) => {
      const { head, records } = await reader.read((db) => readFiltered(db, number - 1, 1, {}, WHOLE), number);
      return { head, bytes: Buffer.from(records.map((record) => eventText(record, mountUrl)).join('')) };
    },
  });

  const unsubscribe = heads.onChange((head) => {
    const before = known;
    known = head;
    if (before !== undefined && !isSameHistory(before, head)) {
      largeRecords.clear();
      // What waits for a client may hold what was redacted.
      for (const stream of [...open]) if (stream.unread() > 0 || stream.isAmidRecord) stream.cut();
    }
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
  const watch = setInterval(() => {
    for (const stream of [...open]) if (stream.waitedMs() > options.drainTimeoutMs) stream.cut();
  }, options.drainTimeoutMs / CHECKS_PER_DRAIN);
  watch.unref();

  const sendNew = async (): Promise<void> => {
    if (sending) return;
    sending = true;
    try {
      while (!closed && position !== undefined && position < (known?.head.sequenceNumber ?? 0)) {
        const after = position;
        const read = await reader.read((db) => readFiltered(db, after, READ_LIMIT, {}, LIVE), after + 1);
        const { head, records, large } = read;
        // Something was redacted meanwhile: read again.
        if (!heads.isCurrentHistory(head)) await heads.refreshHead();
        else if (after < head.historyAfter.sequenceNumber) {
          for (const stream of [...live]) stream.cut();
          position = head.historyAfter.sequenceNumber;
        } else if (position === after && records.length === 0 && large !== undefined) {
          // Each reads it in parts, as its client takes it.
          position = large;
          for (const stream of [...live]) fallBehind(stream);
        } else if (position === after) sendToAll(records.map(toEvent), after);
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

  const sendToAll = (events: readonly LiveEvent[], after: number): void => {
    cutRecipients(events.flatMap(({ redacted }) => redacted));
    // Streams with the same filter and position share the bytes.
    const encoded = new Map<string, (stream: OpenStream) => void>();
    position = after + events.length;
    for (const stream of [...live]) {
      if (stream.unread() > bufferBytes) {
        fallBehind(stream);
        continue;
      }
      const { filter } = stream;
      const from = Math.max(stream.position, after);
      const key = `${filter.organisatiecode ?? ''} ${filter.resourceType ?? ''} ${from}`;
      let send = encoded.get(key);
      if (send === undefined) {
        const wanted = events.filter((event) => event.record.sequenceNumber > from && passes(event, filter));
        const text = wanted.map(({ record }) => eventText(record, mountUrl)).join('');
        send = text === '' ? () => undefined : memory.share(Buffer.from(text));
        encoded.set(key, send);
      }
      stream.position = Math.max(stream.position, position);
      send(stream);
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
    memory.forget(stream);
    if (open.size === 0) position = undefined;
  };

  const startCatchUp = (stream: OpenStream): void => {
    catchUp(stream).catch((error: unknown) => {
      if (stream.ended.aborted) return;
      log.warn({ err: error }, 'a stream was cut off: its records could not be read');
      stream.cut();
    });
  };

  const fallBehind = (stream: OpenStream): void => {
    live.delete(stream);
    startCatchUp(stream);
  };

  /** Sends what is in the feed already, in order, without a gap or a repetition before it becomes live; the next is read once its client has taken it. */
  const catchUp = async (stream: OpenStream): Promise<void> => {
    for (;;) {
      await stream.flushed();
      if (stream.ended.aborted) return;
      const { head } = await heads.head();
      if (stream.position >= head.sequenceNumber && join(stream)) return;
      const from = stream.position;
      const permit = await memory.acquire(stream, CATCH_UP.page + CATCH_UP.record);
      try {
        const large = await sendNext(stream, permit);
        await stream.flushed();
        if (large !== undefined) await sendInParts(stream, large, permit);
        await stream.flushed();
      } finally {
        permit.release();
      }
      if (stream.position === from && !stream.ended.aborted) await sleep(NOTHING_NEW_MS, undefined, { ref: false });
    }
  };

  /** Whether a read may still be sent; when it is older than what this instance knows, or newer, the next one will do. */
  const isCurrent = async ({ head }: Read): Promise<boolean> => {
    if (!heads.isCurrentHistory(head)) await heads.refreshHead();
    return heads.isCurrentHistory(head);
  };

  /** @returns the number that is next, when its record is too large to be sent at once */
  const sendNext = async (stream: OpenStream, permit: Permit): Promise<number | undefined> => {
    const read = await memory.read(stream, () => readAfter(stream));
    if (stream.position < read.head.historyAfter.sequenceNumber)
      throw new Error('its history was pruned away meanwhile');
    if (!(await isCurrent(read)) || stream.ended.aborted) return undefined;
    const bytes = Buffer.from(read.records.map((record) => eventText(record, mountUrl)).join(''));
    permit.resize(bytes.length);
    if (bytes.length > 0) stream.send(bytes);
    stream.position = read.end;
    return read.records.length === 0 ? read.large : undefined;
  };

  /** `end`: everything up to there was read. */
  const readAfter = async ({ position: after, filter }: OpenStream) => {
    const read = await reader.read((db) => readFiltered(db, after, CATCH_UP_LIMIT, filter, CATCH_UP), after);
    const last = read.isAll ? read.head.head.sequenceNumber : (read.records.at(-1)?.sequenceNumber ?? after);
    return { ...read, end: Math.max(after, last) };
  };

  /** Sends one record as its client reads: the next part once the one before was taken. A part is a copy: it does not hold the whole record. */
  const sendInParts = async (stream: OpenStream, number: number, permit: Permit): Promise<void> => {
    const octets = CATCH_UP.record;
    for (let from = 0, isEnd = false; !isEnd; from += octets) {
      permit.resize(octets);
      const record = largeRecords.get(number) ?? (await memory.read(stream, () => largeRecords.fetch(number)));
      if (stream.ended.aborted) return;
      // Its client drops an incomplete event, and resumes before it.
      if (record === undefined || !(await isCurrent(record))) return from === 0 ? undefined : stream.cut();
      isEnd = from + octets >= record.bytes.length;
      stream.isAmidRecord = !isEnd;
      if (isEnd) stream.position = number;
      stream.send(Buffer.copyBytesFrom(record.bytes, from, octets));
      await stream.flushed();
      if (stream.ended.aborted) return;
    }
  };

  return {
    open(response, start) {
      const stream = openStream(response, { ...start, stopping: options.stopping, onEnd: forget });
      mountUrl = options.mountUrl();
      open.add(stream);
      position ??= known?.head.sequenceNumber ?? start.position;
      startCatchUp(stream);
    },
    count: () => live.size,
    close() {
      closed = true;
      unsubscribe();
      clearInterval(heartbeat);
      clearInterval(watch);
      largeRecords.clear();
      for (const stream of [...open]) stream.end();
    },
  };
}

/** A record as a server-sent event, unnamed so that `onmessage` gets it; the text of a record has no line break. */
function eventText(record: StoredRecord, mountUrl: string): string {
  return `id: ${record.sequenceNumber}\ndata: ${joinRecord(record, mountUrl)}\n\n`;
}

/** A new record, with what decides who gets it. */
interface LiveEvent {
  readonly record: StoredRecord;
  readonly organisatiecode: string;
  readonly resourceType: string;
  /** The numbers whose content it redacts. */
  readonly redacted: readonly number[];
}

interface RecordMembers {
  readonly resourceType: string;
  readonly resource: { readonly organisatiecode: string };
  readonly geredigeerdeSequenceNumbers?: readonly number[];
}

function toEvent(record: StoredRecord): LiveEvent {
  const { prefix, suffix } = record;
  // The beginning of an upsert ends within its `resourceUrl`.
  const {
    resourceType,
    resource,
    geredigeerdeSequenceNumbers = [],
  }: RecordMembers = JSON.parse(suffix === null ? prefix : `${prefix}"}`);
  return {
    record,
    ...{ resourceType, organisatiecode: resource.organisatiecode, redacted: geredigeerdeSequenceNumbers },
  };
}

function passes(event: LiveEvent, { organisatiecode, resourceType }: RecordFilter): boolean {
  return (
    (organisatiecode === undefined || organisatiecode === event.organisatiecode) &&
    (resourceType === undefined || resourceType === event.resourceType)
  );
}
