import { Command, InvalidArgumentError } from 'commander';
import type { Terminal } from '../../kernel/terminal.ts';
import { runCommand } from '../run-command.ts';

interface Options {
  readonly olderThan: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const DAY_MS = 86_400_000;

export function pruneCommand(terminal: Terminal): Command {
  return new Command('prune')
    .description('throw away earlier versions that nobody can be paging through any more')
    .option('--older-than <days>', 'only what has not been delivered for this many days', parseDays, 0)
    .option('--dry-run', 'only say what would go')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens prune --older-than 30 --dry-run')
    .action((options: Options) =>
      runCommand(terminal, options, async ({ platform, output, interrupted }) => {
        const { pruneLeveringen } = await import('../../gegevens/store/manage-leveringen.ts');
        const { pool, clock, config } = platform;
        const dryRun = options.dryRun ?? false;
        const pruned = await pruneLeveringen(pool, {
          now: clock.now(),
          // A younger version may be in an answer, or in a state that another instance is saving at this moment.
          minAgeMs: Math.max(options.olderThan * DAY_MS, config.gegevens.pagePinMinutes * 60_000),
          dryRun,
          signal: interrupted,
          progress: ({ id, organisatie }) => output.progress(`${dryRun ? 'would go' : 'gone'}: ${id} ${organisatie}`),
        });
        const records = pruned.reduce((sum, version) => sum + version.records, 0);
        output.result({ dryRun, leveringen: pruned, records }, () =>
          output.line(`${dryRun ? 'Would prune' : 'Pruned'} ${pruned.length} versions with ${records} records.`),
        );
      }),
    );
}

function parseDays(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('A whole number of days is expected.');
  return Number(text);
}
