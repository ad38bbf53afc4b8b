/**
 * A tester's program and everything it starts. They are killed together, because one that forks or ignores a signal
 * would outlive the run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { reasonOf } from '../src/lib/log.ts';

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
/** Characters of standard output that are read. */
const MOST_OUTPUT = 16 * 1024 * 1024;
/** Characters shown of a command and of its output. */
const SHOWN = 500;

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
      try {
        // A program that was not started has no id.
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}

interface EndedCommand {
  /** `null` when it was killed or could not be started. */
  readonly status: number | null;
  readonly stdout: string;
  /** Or why it did not finish. */
  readonly stderr: string;
  /** Why it failed, with the command and its output; undefined when it succeeded. */
  readonly failure: string | undefined;
}

/** @throws the signal's reason */
export async function runCommand(line: ProgramOptions & { readonly input?: string }): Promise<EndedCommand> {
  const { command, input = '', timeoutMs, signal } = line;
  const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const { process: child, errors, kill } = startChild(line);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.length > MOST_OUTPUT) kill();
  });
  child.stdin.end(input);
  const unfinished = await once(child, 'close', { signal: over }).then(
    () => undefined,
    (cause: unknown) => (over.aborted ? `no end within ${timeoutMs / 1000} seconds` : reasonOf(cause)),
  );
  kill();
  signal.throwIfAborted();
  const status = unfinished === undefined ? child.exitCode : null;
  const tooMuch = stdout.length > MOST_OUTPUT ? `more than ${MOST_OUTPUT} characters were written` : undefined;
  const stderr = unfinished ?? tooMuch ?? errors();
  if (status === 0) return { status, stdout, stderr, failure: undefined };
  const wrote = `${stderr} ${stdout}`.trim().slice(0, SHOWN);
  const how = status === null ? 'could not be run' : `ended with status ${status}`;
  const failure = `\`${command.join(' ').slice(0, SHOWN)}\` ${how}${wrote === '' ? '' : `: ${wrote}`}`;
  return { status, stdout, stderr, failure };
}
