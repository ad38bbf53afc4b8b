import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { feedFollowCommand } from './feed-follow.ts';
import { feedPruneCommand } from './feed-prune.ts';
import { feedPublishCommand } from './feed-publish.ts';
import { feedRedactCommand } from './feed-redact.ts';
import { feedSyncCommand } from './feed-sync.ts';
import { feedVerifyCommand } from './feed-verify.ts';

/** `koppelvlak feed …`: everything that changes, checks or follows a council feed. */
export function raadsfeedCommand(terminal: Terminal): Command {
  return new Command('feed')
    .description('publish to the council feed, check it, follow one')
    .addCommand(feedPublishCommand(terminal))
    .addCommand(feedSyncCommand(terminal))
    .addCommand(feedRedactCommand(terminal))
    .addCommand(feedPruneCommand(terminal))
    .addCommand(feedVerifyCommand(terminal))
    .addCommand(feedFollowCommand(terminal));
}
