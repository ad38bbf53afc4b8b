/** One open stream: what is written to its client, and when it is cut. */

import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RecordFilter } from '../store/read-texts.ts';

/** Sent first: milliseconds that a client waits before it connects again. */
const RETRY_LINE = 'retry: 3000\n\n';

/** Heartbeats after which what was sent counts as received: with the default a minute. */
const RECENT_HEARTBEATS = 4;

export interface OpenStream {
  readonly filter: RecordFilter;
  /** Everything up to here has been sent, or does not pass the filter. */
  position: number;
  /** Remembers the position; called at every heartbeat. */
  notePosition(): void;
  /** The position of some heartbeats ago: what was sent since may not have arrived. */
  recentPosition(): number;
  /** Writes bytes; a stream whose client does not read is cut. */
  send(bytes: Buffer): void;
  /** Something was redacted: the stream is cut when anything still waits for the client. */
  discardUnsent(): void;
  /** Resolves when the client has taken what was sent; a client that takes too long is cut. */
  drained(): Promise<void>;
  /** Fires when the stream has ended. */
  readonly ended: AbortSignal;
  /** Resets the connection: the client connects again and resumes. */
  cut(): void;
  /** Ends the response in good order. */
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

/** Makes a stream of a response whose head was written. */
export function openStream(response: ServerResponse, options: OpenStreamOptions): OpenStream {
  const { bufferBytes, drainTimeoutMs, onEnd, stopping } = options;
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
      // A client that does not read is cut, and resumes with Last-Event-ID. Checked before the write: one large record must reach a
      // client that reads.
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
    // Only a TCP connection can be reset.
    socket.destroy();
  }
}

/** Waits until little is left to be sent; a client that takes too long is cut. */
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
