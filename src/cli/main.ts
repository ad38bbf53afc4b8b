#!/usr/bin/env node
/** The program: which words it knows. What each does stands in a file of its own, loaded when it is asked for. */
import process from 'node:process';
import { Command, CommanderError } from 'commander';
import { bronCommand } from './bron.ts';
import { configCommand } from './config.ts';
import { demoCommand } from './demo.ts';
import { gegevensCommand } from './gegevens.ts';
import { migrateCommand } from './migrate.ts';
import { raadsfeedCommand } from './raadsfeed.ts';
import { registerCommand } from './register.ts';
import { serveCommand } from './serve.ts';
import { verwerkingenlogCommand } from './verwerkingenlog.ts';

const program = new Command('koppelvlak')
  .description('One server, three national interfaces: gegevens, verwerkingenlog, raadsfeed')
  .showHelpAfterError('(add --help for the words that this command takes)')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

for (const command of [
  serveCommand(),
  migrateCommand(),
  demoCommand(),
  configCommand(),
  gegevensCommand(),
  verwerkingenlogCommand(),
  raadsfeedCommand(),
  bronCommand(),
  registerCommand(),
])
  program.addCommand(command);
inheritExit(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Commander has said what is wrong; help that was asked for is no fault.
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

/** Subcommands made on their own do not take over how their parent ends. */
function inheritExit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritExit(child);
  }
}
