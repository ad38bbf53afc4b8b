import { Command, InvalidArgumentError } from 'commander';
import type { Terminal } from '../../kernel/terminal.ts';
import { runCommand } from '../run-command.ts';

interface PruneOptions {
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
    .action((options: PruneOptions) =>
      runCommand(terminal, options, async ({ platform, output, interrupted }) => {
        const { findPrunable, pruneLevering, pruneStanden } = await import('../../gegevens/store/prune-leveringen.ts');
        const { pool, clock, config } = platform;
        const now = clock.now();
        // A version may be in an answer under way, or in a state that another instance is keeping at this moment.
        const age = Math.max(options.olderThan * DAY_MS, config.gegevens.pagePinMinutes * 60_000);
        const prunable = await findPrunable(pool, new Date(now.getTime() - age), now);
        const pruned: typeof prunable = [];
        for (const version of prunable) {
          interrupted.throwIfAborted();
          if (!options.dryRun) await pruneLevering(pool, version);
          pruned.push(version);
          output.progress(`${options.dryRun ? 'would go' : 'gone'}: ${version.id} ${version.organisatie}`);
        }
        if (!options.dryRun) await pruneStanden(pool, now);
        const records = pruned.reduce((sum, version) => sum + version.records, 0);
        output.result({ dryRun: options.dryRun ?? false, leveringen: pruned, records }, () =>
          output.line(
            `${options.dryRun ? 'Would prune' : 'Pruned'} ${pruned.length} versions with ${records} records.`,
          ),
        );
      }),
    );
}

function parseDays(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('A whole number of days is expected.');
  return Number(text);
}
