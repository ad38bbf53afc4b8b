import { Command } from 'commander';
import { feedFollowCommand } from './feed-follow.ts';
import { feedPruneCommand } from './feed-prune.ts';
import { feedPublishCommand } from './feed-publish.ts';
import { feedRedactCommand } from './feed-redact.ts';
import { feedSyncCommand } from './feed-sync.ts';
import { feedVerifyCommand } from './feed-verify.ts';

/** `koppelvlak feed …`: everything that changes, checks or follows a council feed. */
export function raadsfeedCommand(): Command {
  return new Command('feed')
    .description('publish to the council feed, check it, follow one')
    .addCommand(feedPublishCommand())
    .addCommand(feedSyncCommand())
    .addCommand(feedRedactCommand())
    .addCommand(feedPruneCommand())
    .addCommand(feedVerifyCommand())
    .addCommand(feedFollowCommand());
}
