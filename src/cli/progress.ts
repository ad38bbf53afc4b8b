import type { Terminal } from '../kernel/terminal.ts';

const TERMINAL_EVERY_MS = 100;
const LINE_EVERY_MS = 5000;
const BAR = 30;

/** Progress on standard error: a bar on a terminal, elsewhere a line every few seconds. */
export interface Progress {
  /** Passes a source on, and counts its bytes. */
  counting(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Says how many bytes have been read, when they do not come through `counting`. */
  reached(bytes: number): void;
  /** @param count of what is done */
  tell(count: number): void;
  end(): void;
}

/** @param totalBytes of all files; absent when it is not known how much there is */
export function createProgress(
  { stderr }: Pick<Terminal, 'stderr'>,
  word: string,
  totalBytes: number | undefined,
): Progress {
  const every = stderr.isTTY ? TERMINAL_EVERY_MS : LINE_EVERY_MS;
  let told = performance.now();
  let doneBytes = 0;
  let drawn = false;
  return {
    async *counting(source) {
      for await (const chunk of source) {
        doneBytes += chunk.length;
        yield chunk;
      }
    },
    reached(bytes) {
      doneBytes = bytes;
    },
    tell(count) {
      const now = performance.now();
      if (now - told < every) return;
      told = now;
      const part = totalBytes === undefined || totalBytes === 0 ? undefined : Math.min(1, doneBytes / totalBytes);
      const percentage = part === undefined ? '' : ` (${Math.floor(part * 100)} %)`;
      if (stderr.isTTY) {
        const filled = Math.round((part ?? 0) * BAR);
        const bar = part === undefined ? '' : `[${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] `;
        stderr.write(`\r\u001b[K${bar}${count} ${word}${percentage}`);
        drawn = true;
      } else stderr.write(`${count} ${word}${percentage}\n`);
    },
    end() {
      if (drawn) stderr.write('\r\u001b[K');
    },
  };
}
