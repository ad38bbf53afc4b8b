import { Command } from 'commander';
import { table } from './output.ts';
import { runCommand } from './run-command.ts';

export function logPruneCommand(): Command {
  return new Command('prune')
    .description('remove actions whose `bewaartermijn` has passed since their `tijdstip`; what has none is kept')
    .option('--dry-run', 'only count them')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak log prune --dry-run')
    .action((options: { dryRun?: boolean; json?: boolean }) =>
      runCommand(options, async ({ platform, output, interrupted }) => {
        const { prune } = await import('../verwerkingenlog/store/prune.ts');
        const dryRun = options.dryRun ?? false;
        const result = await prune({
          pool: platform.prunePool,
          now: platform.clock.now(),
          dryRun,
          signal: interrupted,
          progress: (removed, month) => output.progress(`${removed} actions, at month ${month}`),
        });
        output.result({ dryRun, ...result }, () => {
          const months = Object.entries(result.byMonth).map(([month, count]) => [month, String(count)]);
          if (months.length > 0) output.line(table(['month', 'actions'], months));
          output.line(`${result.removed} actions ${dryRun ? 'would be removed' : 'removed'}.`);
          if (result.droppedMonths.length > 0) output.line(`Empty months dropped: ${result.droppedMonths.join(', ')}.`);
        });
      }),
    );
}
