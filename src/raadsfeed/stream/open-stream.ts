import type { ServerResponse } from 'node:http';
import type { RecordFilter } from '../store/read-records.ts';
import type { LiveStream } from './hub.ts';
import { RETRY_LINE } from './stream-event.ts';

export interface StreamOptions {
  readonly filter: RecordFilter;
  readonly position: number;
  /** Bytes that may wait for a client that does not read. */
  readonly bufferBytes: number;
  /** Time in milliseconds that a client may leave what was sent unread while it catches up. */
  readonly drainTimeoutMs: number;
  /** Called once, however the stream ends. */
  readonly onEnd: (stream: LiveStream) => void;
  readonly stopping: AbortSignal;
}

export interface OpenedStream {
  readonly stream: LiveStream;
  readonly drained: () => Promise<void>;
  readonly ended: AbortSignal;
  /** Ends it hard: the client connects again and resumes. */
  readonly cut: () => void;
}

/** Makes a stream of an answer whose head was written. */
export function openStream(response: ServerResponse, options: StreamOptions): OpenedStream {
  const { bufferBytes, drainTimeoutMs, onEnd, stopping } = options;
  const ending = new AbortController();
  const cut = (): void => {
    response.destroy();
  };
  const stream: LiveStream = {
    filter: options.filter,
    position: options.position,
    send(bytes) {
      if (ending.signal.aborted) return;
      // What waits grows without end for a client that does not read: it resumes with Last-Event-ID. Looked at before the write, for
      // one large record must reach a client that does.
      if (response.writableLength > bufferBytes) cut();
      else response.write(bytes);
    },
    forget() {
      if (response.writableLength > 0) cut();
    },
    end() {
      response.end();
    },
  };
  const end = (): void => stream.end();
  response.on('error', cut);
  response.once('close', () => {
    stopping.removeEventListener('abort', end);
    ending.abort();
    onEnd(stream);
  });
  stopping.addEventListener('abort', end, { once: true });
  response.write(RETRY_LINE);
  if (stopping.aborted) end();
  return { stream, ended: ending.signal, cut, drained: () => drained(response, drainTimeoutMs, ending.signal, cut) };
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
