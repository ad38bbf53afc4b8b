/**
 * What all streams hold for clients that have not read it yet, bounded in bytes. What is read for one stream alone counts for its client,
 * who has a share; what is new is in memory once, however many streams it is written to.
 */
import { createSemaphore, type Permit } from '../../lib/scheduling.ts';
import type { OpenStream } from './stream-connection.ts';

/** The part of the memory that one client may hold. */
const CLIENT_SHARE = 1 / 4;
/** The part for what is new. */
const LIVE_SHARE = 1 / 4;
/** A client that has taken nothing for this long is not reading: it makes room for one that waits. */
const NOT_READING_MS = 1000;
/** Reads of the database at once for streams that catch up, so that pages do not wait behind them; one client has half. */
const READS = 4;
/** Longest that a stream waits for memory or its turn to read; it holds nothing meanwhile. */
const WAIT_MS = 60_000;

export interface StreamMemory {
  /**
   * Waits for memory to read something for one stream. Meanwhile streams that are not read are cut, those of the same client first.
   * @throws when there was none in time, or the stream has ended
   */
  acquire(stream: OpenStream, bytes: number): Promise<Permit>;
  /** Reads when it is this stream's turn. @throws as `acquire` */
  read<T>(stream: OpenStream, read: () => Promise<T>): Promise<T>;
  /** Counts bytes until every stream that they are sent to has taken them. @returns sends them to a stream */
  share(bytes: Buffer): (stream: OpenStream) => void;
  /** The stream has ended. */
  forget(stream: OpenStream): void;
}

interface Shared {
  readonly bytes: number;
  /** The streams that have not taken them. */
  readonly holders: Set<OpenStream>;
}

export function createStreamMemory(maxBytes: number): StreamMemory {
  const own = createSemaphore({
    maxBytes: maxBytes * (1 - LIVE_SHARE),
    clientShare: CLIENT_SHARE,
    waitMs: WAIT_MS,
    full: () => new Error('there was no memory for it: too many clients do not read'),
  });
  const turns = createSemaphore({
    ...{ maxBytes: READS, clientShare: 1 / 2, waitMs: WAIT_MS },
    full: () => new Error('it could not read in time: too many streams catch up'),
  });
  /** Streams that hold memory of their own, the first to get it first. */
  const holding = new Set<OpenStream>();
  /** The oldest first. */
  const shared = new Set<Shared>();
  let sharedBytes = 0;

  const makeRoom = (client: string): void => {
    const idle = [...holding].filter((stream) => stream.waitedMs() >= NOT_READING_MS);
    (idle.find((stream) => stream.client === client) ?? idle[0])?.cut();
  };
  const drop = (one: Shared): void => {
    if (shared.delete(one)) sharedBytes -= one.bytes;
  };

  const take = (one: Shared, stream: OpenStream): void => {
    if (one.holders.delete(stream) && one.holders.size === 0) drop(one);
  };

  return {
    async acquire(stream, bytes) {
      const { client } = stream;
      const timer = setInterval(makeRoom, NOT_READING_MS, client);
      try {
        const permit = await own.acquire({ bytes, client }, stream.ended);
        holding.add(stream);
        return {
          ...permit,
          release: () => {
            holding.delete(stream);
            permit.release();
          },
        };
      } finally {
        clearInterval(timer);
      }
    },
    async read({ client, ended }, read) {
      const turn = await turns.acquire({ bytes: 1, client }, ended);
      try {
        return await read();
      } finally {
        turn.release();
      }
    },
    share(bytes) {
      const one = { bytes: bytes.length, holders: new Set<OpenStream>() };
      shared.add(one);
      sharedBytes += one.bytes;
      // Whoever still holds the oldest resumes with `Last-Event-ID`.
      for (const old of shared) {
        if (sharedBytes <= maxBytes * LIVE_SHARE || old === one) break;
        drop(old);
        for (const stream of old.holders) stream.cut();
      }
      return (stream) => {
        one.holders.add(stream);
        stream.send(bytes, () => take(one, stream));
      };
    },
    forget(stream) {
      for (const one of shared) take(one, stream);
    },
  };
}
