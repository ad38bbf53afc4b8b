import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { importCommand } from './gegevens/import.ts';
import { journalCommand } from './gegevens/journal.ts';
import { listCommand } from './gegevens/list.ts';
import { pruneCommand } from './gegevens/prune.ts';
import { removeCommand } from './gegevens/remove.ts';
import { requestCommand } from './gegevens/request.ts';
import { showCommand } from './gegevens/show.ts';

export function gegevensCommand(terminal: Terminal): Command {
  const command = new Command('gegevens').description('the data exchange: what is delivered, and what was');
  const subcommands = [
    importCommand(terminal),
    listCommand(terminal),
    showCommand(terminal),
    removeCommand(terminal),
    pruneCommand(terminal),
    journalCommand(terminal),
    requestCommand(terminal),
  ];
  for (const subcommand of subcommands) command.addCommand(subcommand);
  return command;
}
