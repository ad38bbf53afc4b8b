/** A program of the person who tests, and whatever that starts: ended together, for one that forks or ignores a signal would outlive the run. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

interface ChildOptions {
  /** Words of the command; the first is the program. No shell reads them. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
}

/** Characters of standard error that are kept: the last ones. */
const KEPT_ERRORS = 2000;

export interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** The end of its standard error. */
  errors(): string;
  /** Ends it and what it started, at once, and reads no more of them. */
  kill(): void;
}

export function startChild({ command: [name = '', ...args], env, cwd }: ChildOptions): Child {
  // Detached: it leads a group of processes of its own.
  const child = spawn(name, args, { env: { ...env }, cwd, stdio: 'pipe', detached: true });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-KEPT_ERRORS);
  });
  // Who does not read its input ends, and that is said by its status.
  child.stdin.on('error', () => undefined);
  return {
    process: child,
    errors: () => errors.trim(),
    kill() {
      endGroup(child.pid);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}

function endGroup(id: number | undefined): void {
  // One that was not started has no id.
  if (id === undefined) return;
  try {
    process.kill(-id, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}
