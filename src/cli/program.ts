/** The program and its commands; each group has a file, which loads what it runs when it is called. */
import { Command, CommanderError } from 'commander';
import { conformanceCommand } from '../../conformance/commands.ts';
import { gegevensCommand } from '../gegevens/commands.ts';
import { packageVersion } from '../lib/package-version.ts';
import type { Terminal } from '../lib/terminal.ts';
import { proofCommand } from '../proof/commands.ts';
import type { ProvenLog } from '../proof/proof-log.ts';
import { raadsfeedCommands } from '../raadsfeed/commands.ts';
import { verwerkingenlogCommand } from '../verwerkingenlog/commands.ts';
import { configCommand, demoCommand, migrateCommand, serveCommand } from './service.ts';

/** Runs the program with these arguments; the exit status is left in `terminal.exitCode`. */
export async function runProgram(words: readonly string[], terminal: Terminal): Promise<void> {
  try {
    const program = createProgram(terminal);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has written the error; asking for help is not one.
    terminal.exitCode = error.exitCode === 0 ? 0 : 2;
  }
}

/** All commands with their options. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('koppelvlak')
    .version(packageVersion(), '--version', 'print the version')
    .description('One server, three national interfaces: gegevens, verwerkingenlog, raadsfeed')
    .showHelpAfterError('(add --help to see what this command takes)')
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
    ...raadsfeedCommands(terminal),
    proofCommand(terminal, loadProvenLogs),
    conformanceCommand(terminal),
  ])
    program.addCommand(command);
  inheritExit(program);
  return program;
}

/** The proof logs of the areas; loaded when a command reads them. */
async function loadProvenLogs(): Promise<readonly ProvenLog[]> {
  const [{ verwerkingenProofLog }, { leveringenProofLog }, { raadsfeedProofLog }] = await Promise.all([
    import('../verwerkingenlog/proof-log.ts'),
    import('../gegevens/proof-log.ts'),
    import('../raadsfeed/proof-log.ts'),
  ]);
  return [verwerkingenProofLog, leveringenProofLog, raadsfeedProofLog];
}

/** A subcommand that is made separately does not inherit how its parent exits. */
function inheritExit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritExit(child);
  }
}
