import { Command } from 'commander';
import { importCommand } from './gegevens/import.ts';

export function gegevensCommand(): Command {
  const command = new Command('gegevens').description('the data exchange: what is delivered, and what was');
  for (const subcommand of [importCommand()]) command.addCommand(subcommand);
  return command;
}
