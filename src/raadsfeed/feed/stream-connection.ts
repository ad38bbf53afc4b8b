/** One open stream: what is written to its client, and when it is cut off. */

import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RecordFilter } from '../store/read-texts.ts';

/** The first thing on a stream: how long a client waits before it connects again, in milliseconds. */
const RETRY_LINE = 'retry: 3000\n\n';

/** Heartbeats after which what was sent counts as received: with the default a minute. */
const RECENT_HEARTBEATS = 4;

export interface OpenStream {
  readonly filter: RecordFilter;
  /** Everything up to here has been sent, or was kept back by the filter. */
  position: number;
  /** Notes the position of now; called at every heartbeat. */
  notePosition(): void;
  /** Where it was some heartbeats ago: what was sent after that may not have arrived. */
  recentPosition(): number;
  /** Writes bytes; a stream whose client does not read is cut. */
  send(bytes: Buffer): void;
  /** What still waits for the client must not reach it any more: when something does, the stream is cut. */
  discardUnsent(): void;
  /** Resolves when the client has taken what was sent; one that takes longer than it may is cut. */
  drained(): Promise<void>;
  /** Fires when the stream has ended. */
  readonly ended: AbortSignal;
  /** Ends it hard, with what is on its way: the client connects again and resumes. */
  cut(): void;
  /** Ends the answer in good order. */
  end(): void;
}

export interface OpenStreamOptions {
  readonly filter: RecordFilter;
  readonly position: number;
  readonly bufferBytes: number;
  readonly drainTimeoutMs: number;
  readonly stopping: AbortSignal;
  /** Called once, however the stream ends. */
  readonly onEnd: (stream: OpenStream) => void;
}

/** Makes a stream of an answer whose head was written. */
export function openStream(response: ServerResponse, options: OpenStreamOptions): OpenStream {
  const { bufferBytes, drainTimeoutMs, onEnd, stopping } = options;
  const ending = new AbortController();
  const ended = ending.signal;
  const cut = (): void => {
    // A reset also drops what the system holds for the client.
    if (response.socket instanceof Socket && !response.socket.destroyed) reset(response.socket);
    response.destroy();
  };
  const end = (): void => {
    response.end();
  };
  const earlier: number[] = [options.position];
  const stream: OpenStream = {
    filter: options.filter,
    position: options.position,
    ended,
    cut,
    end,
    notePosition() {
      earlier.push(stream.position);
      if (earlier.length > RECENT_HEARTBEATS) earlier.shift();
    },
    recentPosition: () => earlier[0] ?? options.position,
    send(bytes) {
      if (ended.aborted) return;
      // What waits grows without end for a client that does not read: it resumes with Last-Event-ID. Looked at before the write, for
      // one large record must reach a client that does.
      if (response.writableLength > bufferBytes) cut();
      else response.write(bytes);
    },
    discardUnsent() {
      if (response.writableLength > 0) cut();
    },
    drained: () => drained(response, drainTimeoutMs, ended, cut),
  };
  response.on('error', cut);
  response.once('close', () => {
    stopping.removeEventListener('abort', end);
    ending.abort();
    onEnd(stream);
  });
  stopping.addEventListener('abort', end, { once: true });
  response.write(RETRY_LINE);
  if (stopping.aborted) end();
  return stream;
}

function reset(socket: Socket): void {
  try {
    socket.resetAndDestroy();
  } catch {
    // Only a connection of TCP can be reset.
    socket.destroy();
  }
}

/** Waits until little is left to be sent; a client that takes longer than it may is cut off. */
function drained(response: ServerResponse, timeoutMs: number, ended: AbortSignal, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (!response.writableNeedDrain || ended.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      response.off('drain', done);
      ended.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(cut, timeoutMs);
    response.once('drain', done);
    ended.addEventListener('abort', done, { once: true });
  });
}
