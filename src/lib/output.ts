import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Terminal } from './terminal.ts';

export type Output = ReturnType<typeof createOutput>;

/** Results go to standard output, progress and faults to standard error. @param json whether one machine-readable result is wanted */
export function createOutput({ stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>, json: boolean) {
  const write = (text: string): void => {
    stdout.write(`${text}\n`);
  };
  return {
    json,
    /** A line for people; nothing with `--json`. */
    line: (text: string): void => {
      if (!json) write(text);
    },
    /** The one result: printed as JSON with `--json`, else through `people`. */
    result: (value: unknown, people: () => void): void => {
      if (json) write(JSON.stringify(value));
      else people();
    },
    progress: (text: string): void => {
      stderr.write(`${text}\n`);
    },
  };
}

export async function written(stdout: Writable, piece: string | Uint8Array, signal: AbortSignal): Promise<void> {
  if (stdout.write(piece)) return;
  await once(stdout, 'drain', { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const render = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [render(head), render(widths.map((width) => '-'.repeat(width))), ...rows.map(render)].join('\n');
}

const TERMINAL_EVERY_MS = 100;
const LINE_EVERY_MS = 5000;
const BAR = 30;

/** A bar on a terminal, elsewhere a line every few seconds. @param totalBytes of all files; absent when unknown */
export function createProgress({ stderr }: Pick<Terminal, 'stderr'>, word: string, totalBytes: number | undefined) {
  const every = stderr.isTTY ? TERMINAL_EVERY_MS : LINE_EVERY_MS;
  let shownAt = performance.now();
  let doneBytes = 0;
  let drawn = false;
  return {
    reached(bytes: number): void {
      doneBytes = bytes;
    },
    update(count: number): void {
      const now = performance.now();
      if (now - shownAt < every) return;
      shownAt = now;
      const part = totalBytes === undefined || totalBytes === 0 ? undefined : Math.min(1, doneBytes / totalBytes);
      const percentage = part === undefined ? '' : ` (${Math.floor(part * 100)} %)`;
      if (stderr.isTTY) {
        const filled = Math.round((part ?? 0) * BAR);
        const bar = part === undefined ? '' : `[${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] `;
        stderr.write(`\r\u001b[K${bar}${count} ${word}${percentage}`);
        drawn = true;
      } else stderr.write(`${count} ${word}${percentage}\n`);
    },
    end(): void {
      if (drawn) stderr.write('\r\u001b[K');
    },
  };
}
