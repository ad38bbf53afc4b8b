import { type Command, CommanderError } from 'commander';
import { CommandError, OUTPUT_CLOSED, UsageError } from './command-error.ts';
import { reasonOf } from './log.ts';
import type { Terminal } from './terminal.ts';

/** Runs a program with these arguments; the exit status is left in `terminal.exitCode`. */
export async function runCommandLine(program: Command, words: readonly string[], terminal: Terminal): Promise<void> {
  program
    .showHelpAfterError('(see --help for the arguments of this command)')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    });
  inheritSettings(program);
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has written the error; asking for help is not one.
    terminal.exitCode = error.exitCode === 0 ? 0 : 2;
  }
}

/** A separately made subcommand does not inherit its parent's exit handling. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}

/** Turns a failure into an exit status and a sentence on standard error. @param program its name, which begins the sentence */
export async function reportFailure(
  terminal: Pick<Terminal, 'stderr' | 'exitCode'>,
  work: () => Promise<unknown>,
  program = 'koppelvlak',
): Promise<void> {
  try {
    await work();
  } catch (error) {
    terminal.exitCode = error instanceof UsageError ? 2 : 1;
    terminal.stderr.write(`${program}: ${error instanceof CommandError ? error.message : reasonOf(error)}\n`);
  }
}

/** @param work gets a signal that fires on Ctrl-C, on `SIGTERM` and when the reader of the output has closed it (`| head`) */
export async function interruptible(
  terminal: Terminal,
  work: (interrupted: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new CommandError('interrupted'));
  terminal.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  terminal.stdout.on('error', () => interruption.abort(new CommandError(OUTPUT_CLOSED)));
  try {
    await work(interruption.signal);
  } finally {
    terminal.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
