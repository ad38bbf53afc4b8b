import { Command } from 'commander';
import { importCommand } from './gegevens/import.ts';
import { journalCommand } from './gegevens/journal.ts';
import { listCommand } from './gegevens/list.ts';
import { pruneCommand } from './gegevens/prune.ts';
import { removeCommand } from './gegevens/remove.ts';
import { requestCommand } from './gegevens/request.ts';
import { showCommand } from './gegevens/show.ts';

export function gegevensCommand(): Command {
  const command = new Command('gegevens').description('the data exchange: what is delivered, and what was');
  const subcommands = [
    importCommand(),
    listCommand(),
    showCommand(),
    removeCommand(),
    pruneCommand(),
    journalCommand(),
    requestCommand(),
  ];
  for (const subcommand of subcommands) command.addCommand(subcommand);
  return command;
}
