import { Command } from 'commander';
import { feedPublishCommand } from './feed-publish.ts';

/** `koppelvlak feed …`: everything that changes or checks the council feed. */
export function raadsfeedCommand(): Command {
  return new Command('feed').description('publish to the council feed, and check it').addCommand(feedPublishCommand());
}
