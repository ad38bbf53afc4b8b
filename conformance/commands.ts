/** `koppelvlak conformance …`: tests anybody's implementation of these interfaces. */
import { Command } from 'commander';
import type { Terminal } from '../src/lib/terminal.ts';
import { badgeCommand, compareCommand } from './commands/reports.ts';
import { gegevensCommand } from './gegevens/command.ts';
import { ldvCommand } from './ldv/command.ts';
import { raadsfeedCommand } from './raadsfeed/command.ts';
import { raadsfeedConsumerCommand } from './raadsfeed-consumer/command.ts';
import { requesterCommand } from './requester/command.ts';
import { signatureCommand } from './signature/command.ts';
import { verwerkingenlogCommand } from './verwerkingenlog/command.ts';

const SUITES = [
  gegevensCommand,
  requesterCommand,
  signatureCommand,
  raadsfeedCommand,
  raadsfeedConsumerCommand,
  verwerkingenlogCommand,
  ldvCommand,
];

export function conformanceCommand(terminal: Terminal): Command {
  const conformance = new Command('conformance').description('test an implementation of these interfaces');
  for (const command of [...SUITES, badgeCommand, compareCommand]) conformance.addCommand(command(terminal));
  return conformance;
}
