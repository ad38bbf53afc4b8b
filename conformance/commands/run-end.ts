/**
 * Makes every run end, even with a connection that is never closed, a program that never answers, or a computation that
 * never finishes.
 */
import { addAbortListener } from 'node:events';
import { writeSync } from 'node:fs';
import process from 'node:process';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Terminal } from '../../src/lib/terminal.ts';

/** Time for a run to finish after its limit or an interruption; undoing its changes takes longest. */
const ENDING_MS = 45_000;
/** Time for the rest after showing the result, such as closing connections. */
const CLOSING_MS = 5000;
const BEAT_MS = 1000;
/** Milliseconds without a heartbeat, longer than any work of a run takes. */
const SILENT_MS = 30_000;
const WATCHING = 'koppelvlak-conformance-watch';

/** Exits if the run continues long after this signal, until disposed. */
export function exitAfter(signal: AbortSignal, terminal: Terminal): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const listening = addAbortListener(signal, () => {
    timer = setTimeout(() => {
      terminal.stderr.write(
        `koppelvlak-conformance: the run did not end within ${ENDING_MS / 1000} seconds after it should have\n`,
      );
      terminal.exit(2);
    }, ENDING_MS);
  });
  return {
    [Symbol.dispose]() {
      listening[Symbol.dispose]();
      clearTimeout(timer);
    },
  };
}

/** Exits with the current status even when a case left something open. */
export function exitSoon(terminal: Terminal): void {
  setTimeout(() => terminal.exit(Number(terminal.exitCode ?? 0)), CLOSING_MS).unref();
}

/**
 * Exits from a second thread when the main thread is blocked, which stops its timers and signal handlers.
 * @returns a function that stops watching
 */
export function watchProcess(silentMs = SILENT_MS): () => void {
  const data = { for: WATCHING, beats: silentMs / BEAT_MS };
  // The main thread's options, such as `--eval`, do not apply to a file.
  const worker = new Worker(new URL(import.meta.url), { workerData: data, execArgv: [] });
  // Without a watcher the run still ends, unless it is blocked.
  worker.on('error', () => undefined).unref();
  const beat = setInterval(() => worker.postMessage('beat'), BEAT_MS).unref();
  return () => {
    clearInterval(beat);
    void worker.terminate();
  };
}

/** Counts heartbeats instead of time: a machine that slept has missed none. */
function watch(port: NonNullable<typeof parentPort>, most: number): void {
  let silent = 0;
  port.on('message', () => {
    silent = 0;
  });
  setInterval(() => {
    silent += 1;
    if (silent <= most) return;
    writeSync(2, 'koppelvlak-conformance: the run was blocked and has been stopped\n');
    process.kill(process.pid, 'SIGKILL');
  }, BEAT_MS);
}

if (parentPort !== null && workerData?.for === WATCHING) watch(parentPort, Number(workerData.beats));
