import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { bronAddCommand } from './bron-add.ts';
import { bronCheckCommand } from './bron-check.ts';
import { bronIssuesCommand } from './bron-issues.ts';
import { bronListCommand } from './bron-list.ts';
import { bronPauseCommand, bronRemoveCommand, bronResumeCommand } from './bron-state.ts';
import { bronSwitchCommand } from './bron-switch.ts';
import { bronSyncCommand } from './bron-sync.ts';

/** `koppelvlak bron …`: the sources that an aggregator follows. */
export function bronCommand(terminal: Terminal): Command {
  return new Command('bron')
    .description('the sources of an aggregator')
    .addCommand(bronAddCommand(terminal))
    .addCommand(bronListCommand(terminal))
    .addCommand(bronPauseCommand(terminal))
    .addCommand(bronResumeCommand(terminal))
    .addCommand(bronRemoveCommand(terminal))
    .addCommand(bronSyncCommand(terminal))
    .addCommand(bronCheckCommand(terminal))
    .addCommand(bronIssuesCommand(terminal))
    .addCommand(bronSwitchCommand(terminal));
}
