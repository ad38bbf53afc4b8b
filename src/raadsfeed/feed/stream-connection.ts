/** One open stream: what is written to its client, and when it is cut. */

import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RecordFilter } from '../store/read-records.ts';

/** Sent first: milliseconds that a client waits before it connects again. */
const RETRY_LINE = Buffer.from('retry: 3000\n\n');

/** Heartbeats after which what was sent counts as received: with the default a minute. */
const RECENT_HEARTBEATS = 4;

/** Bytes of one write: a client that takes so much within the drain time is reading. */
const WRITE = 64 * 1024;

export interface OpenStream {
  readonly filter: RecordFilter;
  /** Who it counts for. */
  readonly client: string;
  /** Everything up to here has been sent, or does not pass the filter. */
  position: number;
  /** Of a record that goes out in parts and is not complete yet: what follows `position`. */
  isAmidRecord: boolean;
  /** Remembers the position; called at every heartbeat. */
  notePosition(): void;
  /** The position of some heartbeats ago: what was sent since may not have arrived. */
  recentPosition(): number;
  /** Bytes that wait for the client. */
  readonly unread: () => number;
  /** Milliseconds since the client has last taken anything; 0 when nothing waits for it. */
  readonly waitedMs: () => number;
  /** Writes bytes. @param taken called once nothing of them is held any more, unless the stream ends before */
  send(bytes: Buffer, taken?: () => void): void;
  /** Resolves when the client has taken everything, or the stream has ended. */
  flushed(): Promise<void>;
  /** Fires when the stream has ended. */
  readonly ended: AbortSignal;
  /** Resets the connection: the client connects again and resumes. */
  cut(): void;
  /** Ends the response in good order. */
  end(): void;
}

export interface OpenStreamOptions {
  readonly filter: RecordFilter;
  readonly client: string;
  readonly position: number;
  readonly stopping: AbortSignal;
  /** Called once, however the stream ends. */
  readonly onEnd: (stream: OpenStream) => void;
}

/** Makes a stream of a response whose head was written. */
export function openStream(response: ServerResponse, options: OpenStreamOptions): OpenStream {
  const { client, filter, onEnd, stopping } = options;
  const ending = new AbortController();
  const ended = ending.signal;
  const cut = (): void => {
    // A reset also drops what the operating system still holds for the client.
    if (response.socket instanceof Socket && !response.socket.destroyed) reset(response.socket);
    response.destroy();
  };
  const end = (): void => {
    response.end();
  };
  const earlier: number[] = [options.position];
  let unread = 0;
  let progressAt = 0;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  const write = (bytes: Buffer, taken: () => void): void => {
    response.write(bytes, () => {
      unread -= bytes.length;
      progressAt = performance.now();
      taken();
      if (unread === 0) wake();
    });
  };
  const stream: OpenStream = {
    ...{ filter, client, ended, cut, end },
    position: options.position,
    isAmidRecord: false,
    notePosition() {
      earlier.push(stream.position);
      if (earlier.length > RECENT_HEARTBEATS) earlier.shift();
    },
    recentPosition: () => earlier[0] ?? options.position,
    unread: () => unread,
    waitedMs: () => (unread === 0 ? 0 : performance.now() - progressAt),
    send(bytes, taken = () => undefined) {
      if (ended.aborted) return;
      if (unread === 0) progressAt = performance.now();
      unread += bytes.length;
      for (let from = 0; from < bytes.length; from += WRITE) {
        const isLast = from + WRITE >= bytes.length;
        write(bytes.subarray(from, from + WRITE), isLast ? taken : () => undefined);
      }
    },
    flushed: () => (unread === 0 || ended.aborted ? Promise.resolve() : new Promise((done) => waiting.push(done))),
  };
  response.on('error', cut);
  response.once('close', () => {
    stopping.removeEventListener('abort', end);
    ending.abort();
    wake();
    onEnd(stream);
  });
  stopping.addEventListener('abort', end, { once: true });
  stream.send(RETRY_LINE);
  if (stopping.aborted) end();
  return stream;
}

function reset(socket: Socket): void {
  try {
    socket.resetAndDestroy();
  } catch {
    // Only a TCP connection can be reset.
    socket.destroy();
  }
}
