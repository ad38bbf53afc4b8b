import { once } from 'node:events';
import { reasonOf } from '../src/lib/log.ts';
import { type ProgramOptions, startChild } from './child-program.ts';

interface EndedCommand {
  /** `null` when it was killed or could not be started. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it failed, with the command and its output; undefined when it succeeded. */
  readonly failure: string | undefined;
}

/** Characters shown of a command and of its output. */
const SHOWN = 500;

function endedWith(command: readonly string[], status: number | null, stdout: string, stderr: string): EndedCommand {
  if (status === 0) return { status, stdout, stderr, failure: undefined };
  const how = status === null ? 'could not be run' : `ended with status ${status}`;
  const wrote = `${stderr} ${stdout}`.trim();
  const failure = `\`${command.join(' ').slice(0, SHOWN)}\` ${how}${wrote === '' ? '' : `: ${wrote.slice(0, SHOWN)}`}`;
  return { status, stdout, stderr, failure };
}

/** Characters of standard output that are read. */
const MOST_OUTPUT = 16 * 1024 * 1024;

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
  const failure = await once(child, 'close', { signal: over }).then(
    () => undefined,
    (cause: unknown) => reasonOf(cause),
  );
  kill();
  signal.throwIfAborted();
  if (failure !== undefined)
    return endedWith(command, null, stdout, over.aborted ? `no end within ${timeoutMs / 1000} seconds` : failure);
  const stderr = stdout.length > MOST_OUTPUT ? `more than ${MOST_OUTPUT} characters were written` : errors();
  return endedWith(command, child.exitCode, stdout, stderr);
}
