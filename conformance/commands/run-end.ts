/** A run ends, whatever it meets: a connection that is never closed, a program that never answers, an answer that is worked on for ever. */
import { writeSync } from 'node:fs';
import process from 'node:process';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Terminal } from '../../src/lib/terminal.ts';

/** What a run has to end by itself after its limit or an interruption: undoing what it wrote takes the longest. */
const ENDING_MS = 45_000;
/** What is left to do after the result has been shown, such as closing connections. */
const CLOSING_MS = 5000;
const BEAT_MS = 1000;
/** Milliseconds without a beat that no work of a run takes. */
const SILENT_MS = 30_000;
const WATCHING = 'koppelvlak-conformance-watch';

/** Ends the process if the run continues long after this signal. @returns a function that cancels this */
export function exitAfter(signal: AbortSignal, terminal: Terminal, ms = ENDING_MS): () => void {
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer = setTimeout(() => {
      terminal.stderr.write(
        `koppelvlak-conformance: the run did not end within ${ms / 1000} seconds after it should have\n`,
      );
      terminal.exit(2);
    }, ms);
  };
  signal.addEventListener('abort', begin, { once: true });
  return () => {
    signal.removeEventListener('abort', begin);
    clearTimeout(timer);
  };
}

/** Ends the process with the status that it has, where something that a case left behind still keeps it. */
export function exitSoon(terminal: Terminal): void {
  setTimeout(() => terminal.exit(Number(terminal.exitCode ?? 0)), CLOSING_MS).unref();
}

/**
 * Ends the process from a thread of its own when its first thread does not come round any more: then neither a timer nor a signal reaches it.
 * @returns what stops watching
 */
export function watchProcess(silentMs = SILENT_MS): () => void {
  const data = { for: WATCHING, beats: silentMs / BEAT_MS };
  // Options of the first thread, such as `--eval`, are not for a file.
  const worker = new Worker(new URL(import.meta.url), { workerData: data, execArgv: [] });
  // Without it the run ends all the same, unless it is blocked.
  worker.on('error', () => undefined).unref();
  const beat = setInterval(() => worker.postMessage('beat'), BEAT_MS).unref();
  return () => {
    clearInterval(beat);
    void worker.terminate();
  };
}

/** Beats are counted, not timed: a machine that slept has missed none. */
function watch(port: NonNullable<typeof parentPort>, most: number): void {
  let silent = 0;
  port.on('message', () => {
    silent = 0;
  });
  setInterval(() => {
    silent += 1;
    if (silent <= most) return;
    writeSync(2, 'koppelvlak-conformance: the run is blocked by what it works on, and was ended\n');
    process.kill(process.pid, 'SIGKILL');
  }, BEAT_MS);
}

if (parentPort !== null && workerData?.for === WATCHING) watch(parentPort, Number(workerData.beats));
