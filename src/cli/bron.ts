import { Command } from 'commander';
import { bronAddCommand } from './bron-add.ts';
import { bronCheckCommand } from './bron-check.ts';
import { bronIssuesCommand } from './bron-issues.ts';
import { bronListCommand } from './bron-list.ts';
import { bronPauseCommand, bronRemoveCommand, bronResumeCommand } from './bron-state.ts';
import { bronSwitchCommand } from './bron-switch.ts';
import { bronSyncCommand } from './bron-sync.ts';

/** `koppelvlak bron …`: the sources that an aggregator follows. */
export function bronCommand(): Command {
  return new Command('bron')
    .description('the sources of an aggregator')
    .addCommand(bronAddCommand())
    .addCommand(bronListCommand())
    .addCommand(bronPauseCommand())
    .addCommand(bronResumeCommand())
    .addCommand(bronRemoveCommand())
    .addCommand(bronSyncCommand())
    .addCommand(bronCheckCommand())
    .addCommand(bronIssuesCommand())
    .addCommand(bronSwitchCommand());
}
