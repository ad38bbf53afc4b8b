/** The program: which words it knows. What each does stands in a file of its own, loaded when it is asked for. */
import { Command, CommanderError } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { bronCommand } from './bron.ts';
import { raadsfeedCommand } from './feed.ts';
import { gegevensCommand } from './gegevens.ts';
import { verwerkingenlogCommand } from './log.ts';
import { registerCommand } from './register.ts';
import { configCommand, demoCommand, migrateCommand, serveCommand } from './service.ts';

/** Runs the program with these words to its end; the exit status is left in `terminal.exitCode`. */
export async function runProgram(words: readonly string[], terminal: Terminal): Promise<void> {
  const program = new Command('koppelvlak')
    .description('One server, three national interfaces: gegevens, verwerkingenlog, raadsfeed')
    .showHelpAfterError('(add --help for the words that this command takes)')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    });
  for (const command of [
    serveCommand(terminal),
    migrateCommand(terminal),
    demoCommand(terminal),
    configCommand(terminal),
    gegevensCommand(terminal),
    verwerkingenlogCommand(terminal),
    raadsfeedCommand(terminal),
    bronCommand(terminal),
    registerCommand(terminal),
  ])
    program.addCommand(command);
  inheritExit(program);
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has said what is wrong; help that was asked for is no fault.
    terminal.exitCode = error.exitCode === 0 ? 0 : 2;
  }
}

/** Subcommands made on their own do not take over how their parent ends. */
function inheritExit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritExit(child);
  }
}
