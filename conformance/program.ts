/** `koppelvlak-conformance SUITE …`: tests any implementation of these interfaces. */
import { Command } from 'commander';
import { runCommandLine } from '../src/lib/command-line.ts';
import { packageVersion } from '../src/lib/package-version.ts';
import type { Terminal } from '../src/lib/terminal.ts';
import { badgeCommand, compareCommand } from './commands/reports.ts';
import { gegevensCommand } from './gegevens/command.ts';
import { ldvCommand } from './ldv/command.ts';
import { raadsfeedCommand } from './raadsfeed/command.ts';
import { raadsfeedConsumerCommand } from './raadsfeed-consumer/command.ts';
import { requesterCommand } from './requester/command.ts';
import { signatureCommand } from './signature/command.ts';
import { verwerkingenlogCommand } from './verwerkingenlog/command.ts';

const COMMANDS = [
  gegevensCommand,
  requesterCommand,
  signatureCommand,
  raadsfeedCommand,
  raadsfeedConsumerCommand,
  verwerkingenlogCommand,
  ldvCommand,
  badgeCommand,
  compareCommand,
];

/** Runs the program with these arguments and sets `terminal.exitCode`. */
export async function runConformance(words: readonly string[], terminal: Terminal): Promise<void> {
  await runCommandLine(createConformance(terminal), words, terminal);
}

export function createConformance(terminal: Terminal): Command {
  const program = new Command('koppelvlak-conformance')
    .version(packageVersion(), '--version', 'print the version')
    .description('Test an implementation of the Dutch interfaces gegevens, verwerkingenlog and raadsfeed');
  for (const command of COMMANDS) program.addCommand(command(terminal));
  return program;
}
