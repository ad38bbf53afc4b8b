/**
 * Streams of server-sent events. Each stream reads on from its own position as its client keeps up; pages that several streams need are read and
 * encoded once, and new records once for all filters. Numbers are in the order of the commits, so a single number says how far a stream has come.
 */
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../lib/log.ts';
import { createSemaphore } from '../../lib/scheduling.ts';
import {
  filterableValues,
  filterParameters,
  isFiltered,
  joinRecord,
  type OctetLimits,
  passesFilter,
  type Read,
  type RecordFilter,
  readAfter,
  type StoredRecord,
} from '../store/records.ts';
import { type FeedStateCache, isAtLeast, isSameHistory } from './state-cache.ts';

interface StreamsOptions {
  readonly stateCache: FeedStateCache;
  readonly mountUrl: () => string;
  readonly heartbeatSeconds: number;
  /** Bytes that may wait for the clients of all streams together, apart from small parts. */
  readonly memoryBytes: number;
  /** Milliseconds that a client may leave data unread before its stream is cut. */
  readonly drainTimeoutMs: number;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

interface StreamStart {
  readonly position: number;
  readonly filter: RecordFilter;
  readonly client: string;
}

export type Streams = ReturnType<typeof createStreams>;

interface OpenStream extends StreamStart {
  /** Everything up to here has been sent, or does not pass the filter. */
  position: number;
  sentAt: number;
  wake?: (() => void) | undefined;
  /** Resolves when the client has read the bytes, or the stream has ended. */
  send(bytes: Buffer): Promise<void>;
  readonly ended: AbortSignal;
  /** Resets the connection: the client connects again and resumes. */
  cut(): void;
  end(): void;
}

/** Records after a position that pass a filter, as events; everything up to `end` was read. */
interface Page extends Read {
  readonly bytes: Buffer;
  readonly end: number;
  /** Of an unfiltered page: each record with its part of the bytes. */
  readonly events: readonly { readonly values: RecordFilter; readonly bytes: Buffer }[];
}

const PAGE_RECORDS = 500;
const PAGE: OctetLimits = { page: 64 * 1024, record: 192 * 1024 };
const WHOLE: OctetLimits = { page: 2 ** 30, record: 2 ** 30 };
/** Pages in memory: those of streams at the same position, and of a large record while it goes out in parts. */
const PAGES = {
  maxSize: 32 * 1024 * 1024,
  ttl: 2000,
  updateAgeOnGet: true,
  ttlAutopurge: true,
  ignoreFetchAbort: true,
};
/** Bytes of one write: a client that reads this much within the drain time keeps up. */
const PART = 64 * 1024;
/** Smaller parts, such as new records, do not wait for memory: the number of streams bounds them. */
const SMALL_PART = 8 * 1024;
const CLIENT_SHARE = 1 / 4;
/** Concurrent reads of the database, so that pages do not wait behind them; one client has half. */
const READS = 4;
/** Longest wait for memory or a turn to read; the stream holds nothing meanwhile. */
const WAIT_MS = 60_000;
const NOTHING_NEW_MS = 250;
/** Milliseconds after which sent data counts as received: the operating system may still buffer it. */
const RECENT_MS = 120_000;
/** Sent first: milliseconds before a client reconnects. No blank line follows it or a comment: some clients take that for an event. */
const RETRY_LINE = Buffer.from('retry: 3000\n');
/** A comment line: proxies close idle connections. */
const HEARTBEAT = Buffer.from(':\n');

export function createStreams(options: StreamsOptions) {
  const { stateCache, log, mountUrl, memoryBytes, drainTimeoutMs, stopping } = options;
  const open = new Set<OpenStream>();
  const memory = createSemaphore({
    maxWeight: memoryBytes,
    smallWeight: SMALL_PART,
    clientShare: CLIENT_SHARE,
    waitMs: WAIT_MS,
    full: () => new Error('there was no memory for it: too many clients do not read'),
  });
  const turns = createSemaphore({
    maxWeight: READS,
    clientShare: 1 / 2,
    waitMs: WAIT_MS,
    full: () => new Error('it could not read in time: too many streams catch up'),
  });
  const pages = new LRUCache<string, Page, StreamStart>({
    ...PAGES,
    sizeCalculation: ({ bytes }) => bytes.length + 1,
    fetchMethod: async (_key, _stale, { context: { client, position, filter } }) => {
      const turn = await turns.acquire({ weight: 1, client }, stopping);
      try {
        return await readPage(position, filter);
      } finally {
        turn.release();
      }
    },
  });

  const fetchPage = async (start: StreamStart): Promise<Page | undefined> => {
    const isNew = (stateCache.known()?.head.sequenceNumber ?? 0) <= start.position + PAGE_RECORDS;
    // New records are read once for all filters: otherwise each publication would cost a read per filter.
    const filter = isNew ? {} : start.filter;
    const page = await pages.fetch(keyOf({ ...start, filter }), { context: { ...start, filter } });
    return page === undefined || filter === start.filter ? page : filterPage(page, start.filter);
  };

  const readPage = async (after: number, filter: RecordFilter): Promise<Page> => {
    const read = (octets: OctetLimits) =>
      stateCache.read((db) => readAfter(db, after, octets === WHOLE ? 1 : PAGE_RECORDS, filter, octets));
    const some = await read(PAGE);
    const { state, records, isAll } = some.records.length === 0 && some.large !== undefined ? await read(WHOLE) : some;
    // The event has no name, so that `onmessage` gets it; the text of a record has no line break.
    const texts = records.map((record) => `id: ${record.sequenceNumber}\ndata: ${joinRecord(record, mountUrl())}\n\n`);
    const bytes = Buffer.from(texts.join(''));
    const last = isAll ? state.head.sequenceNumber : (records.at(-1)?.sequenceNumber ?? after);
    let from = 0;
    const toEvent = (record: StoredRecord, i: number) => {
      const begin = from;
      from += Buffer.byteLength(texts[i] ?? '');
      return { values: valuesOf(record), bytes: bytes.subarray(begin, from) };
    };
    return { state, bytes, end: Math.max(after, last), events: isFiltered(filter) ? [] : records.map(toEvent) };
  };

  let known = stateCache.known();
  const unsubscribe = stateCache.onChange((state) => {
    const before = known ?? state;
    known = state;
    // Records after a restored backup would be mistaken for records that were sent.
    const isForward = isAtLeast(state, before);
    if (!isForward || !isSameHistory(before, state)) {
      pages.clear();
      // Data that waits for a client may hold redacted content.
      for (const stream of [...open]) if (!isForward || performance.now() - stream.sentAt < RECENT_MS) stream.cut();
    }
    for (const { wake } of open) wake?.();
  });
  const heartbeat = setInterval(() => {
    for (const { wake, send } of open) if (wake !== undefined) void send(HEARTBEAT);
  }, options.heartbeatSeconds * 1000);
  heartbeat.unref();

  /** The next page of a stream; `undefined` when its history is no longer the known one, or it brings nothing. */
  const nextPage = async (stream: OpenStream): Promise<Page | undefined> => {
    const { position, filter, client } = stream;
    const page = await fetchPage({ position, filter, client });
    if (page === undefined) return undefined;
    if (position < page.state.historyAfter.sequenceNumber) throw new Error('its history was pruned away meanwhile');
    const isCurrent = stateCache.isCurrentHistory(page.state);
    if (isCurrent && page.end > position) return page;
    for (const one of [filter, {}]) pages.delete(keyOf({ position, filter: one }));
    if (isCurrent) await sleep(NOTHING_NEW_MS, undefined, { ref: false });
    else await stateCache.refresh();
    return undefined;
  };

  /** The next bytes of a stream within its page. A part is a copy, so it does not retain the whole page. */
  const nextPart = async (stream: OpenStream, sent: number) => {
    const page = await nextPage(stream);
    const part = page && Buffer.copyBytesFrom(page.bytes, sent, PART);
    return part && { part, end: sent + part.length === page.bytes.length ? page.end : undefined };
  };

  /** Sends everything after the position of a stream, and then new records. While waiting for memory or its client it holds no page. */
  const serve = async (stream: OpenStream): Promise<void> => {
    await stream.send(RETRY_LINE);
    for (let sent = 0; !stream.ended.aborted; ) {
      await stateCache.current();
      if (stream.position >= (stateCache.known()?.head.sequenceNumber ?? 0)) {
        await new Promise<void>((resolve) => {
          stream.wake = resolve;
        });
        stream.wake = undefined;
        continue;
      }
      const bytes = (await nextPart(stream, sent))?.part.length;
      if (bytes === undefined) continue;
      const permit = await memory.acquire({ weight: bytes, client: stream.client }, stream.ended);
      try {
        const next = await nextPart(stream, sent);
        if (next === undefined) continue;
        const { part, end } = next;
        permit.resize(part.length);
        if (part.length > 0) {
          stream.sentAt = performance.now();
          await stream.send(part);
        }
        sent = end === undefined ? sent + part.length : 0;
        stream.position = end ?? stream.position;
      } finally {
        permit.release();
      }
    }
  };

  const endAll = (): void => {
    for (const stream of [...open]) stream.end();
  };
  stopping.addEventListener('abort', endAll, { once: true });

  return {
    /** Sends the records after a position to a response whose head was written, until it ends. */
    open(response: ServerResponse, start: StreamStart): void {
      const stream = toStream(response, start, drainTimeoutMs);
      open.add(stream);
      stream.ended.addEventListener('abort', () => {
        open.delete(stream);
        stream.wake?.();
      });
      if (stopping.aborted) stream.end();
      serve(stream).catch((error: unknown) => {
        if (stream.ended.aborted || stopping.aborted) return;
        log.warn({ err: error }, 'a stream was cut off: its records could not be read');
        stream.cut();
      });
    },
    count: (): number => open.size,
    close(): void {
      unsubscribe();
      clearInterval(heartbeat);
      pages.clear();
      endAll();
    },
  };
}

function keyOf({ position, filter }: Pick<StreamStart, 'position' | 'filter'>): string {
  return `${position} ${filterParameters(filter)}`;
}

function valuesOf({ prefix, suffix }: StoredRecord): RecordFilter {
  // The beginning of an upsert ends within its `resourceUrl`.
  const text = suffix === null ? prefix : `${prefix}"}`;
  return filterableValues(JSON.parse(text));
}

function filterPage(page: Page, filter: RecordFilter): Page {
  const events = page.events.filter(({ values }) => passesFilter(values, filter));
  return events.length === page.events.length
    ? page
    : { ...page, events, bytes: Buffer.concat(events.map(({ bytes }) => bytes)) };
}

function toStream(response: ServerResponse, start: StreamStart, drainTimeoutMs: number): OpenStream {
  const ending = new AbortController();
  const cut = (): void => {
    // A reset also drops what the operating system still holds for the client; only a TCP connection can be reset.
    if (response.socket instanceof Socket && response.socket.remoteFamily !== undefined)
      response.socket.resetAndDestroy();
    response.destroy();
  };
  response.on('error', cut).once('close', () => ending.abort());
  return {
    ...start,
    sentAt: Number.NEGATIVE_INFINITY,
    ended: ending.signal,
    cut,
    end: () => void response.end(),
    send: (bytes) =>
      new Promise((resolve) => {
        const timer = setTimeout(cut, drainTimeoutMs);
        const done = (): void => {
          clearTimeout(timer);
          response.off('close', done);
          resolve();
        };
        response.once('close', done).write(bytes, done);
      }),
  };
}
