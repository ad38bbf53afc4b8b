/** Runs a command of the person who tests, to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { reasonOf } from '../../lib/log.ts';

export interface EndedCommand {
  /** `null` when it was ended, or could not be started. */
  readonly status: number | null;
  readonly stdout: string;
  /** Its end. */
  readonly stderr: string;
}

interface CommandLine {
  /** Words of the command; the first is the program. No shell reads them. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly cwd?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Characters of standard output that are read. */
const MOST_OUTPUT = 16 * 1024 * 1024;
const MOST_ERRORS = 2000;

/** @throws the signal's reason */
export async function runCommand(line: CommandLine): Promise<EndedCommand> {
  const { command, env, input = '', cwd, timeoutMs, signal } = line;
  const [name = '', ...args] = command;
  const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const child = spawn(name, args, {
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
    signal: over,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.length > MOST_OUTPUT) child.kill();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MOST_ERRORS);
  });
  // Who does not read its input ends, and its status says how.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const failure = await once(child, 'close').then(
    () => undefined,
    (cause: unknown) => reasonOf(cause),
  );
  signal.throwIfAborted();
  if (failure !== undefined)
    return { status: null, stdout, stderr: over.aborted ? `no end within ${timeoutMs / 1000} seconds` : failure };
  return { status: child.exitCode, stdout, stderr: stderr.trim() };
}
