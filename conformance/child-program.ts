/**
 * A tester's program and everything it starts. They are killed together, because one that forks or ignores a signal
 * would outlive the run.
 */
import { spawn } from 'node:child_process';

export interface ProgramOptions {
  /** Words of the command; the first is the program. No shell reads them. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Milliseconds for it to end, or for one answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Number of characters of standard error to keep: the last ones. */
const KEPT_ERRORS = 2000;

export function startChild({
  command: [name = '', ...args],
  env,
  cwd,
}: Pick<ProgramOptions, 'command' | 'env' | 'cwd'>) {
  // Detached, so that it leads its own process group.
  const child = spawn(name, args, { env: { ...env }, cwd, stdio: 'pipe', detached: true });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-KEPT_ERRORS);
  });
  // A program that does not read its input exits, and its status says so.
  child.stdin.on('error', () => undefined);
  return {
    process: child,
    errors: (): string => errors.trim(),
    /** Kills it and its descendants at once, and stops reading their output. */
    kill(): void {
      endGroup(child.pid);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}

function endGroup(id: number | undefined): void {
  // A program that was not started has no id.
  if (id === undefined) return;
  try {
    process.kill(-id, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}
