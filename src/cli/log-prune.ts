import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { table } from './output.ts';
import { runCommand } from './run-command.ts';

export function logPruneCommand(terminal: Terminal): Command {
  return new Command('prune')
    .description('remove actions whose term has passed, and that no minimum or grace keeps; what has no term is kept')
    .option('--dry-run', 'only count them')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak log prune --dry-run')
    .action((options: { dryRun?: boolean; json?: boolean }) =>
      runCommand(terminal, { ...options, role: 'retention' }, async ({ platform, output, interrupted }) => {
        const { prune } = await import('../verwerkingenlog/store/retention.ts');
        const dryRun = options.dryRun ?? false;
        const result = await prune({
          pool: platform.prunePool,
          clock: platform.clock,
          rules: platform.config.verwerkingenlog,
          dryRun,
          signal: interrupted,
          progress: (removed, month) => output.progress(`${removed} actions, at month ${month}`),
        });
        output.result({ dryRun, ...result }, () => {
          const months = Object.entries(result.byMonth).map(([month, count]) => [month, String(count)]);
          if (months.length > 0) output.line(table(['month', 'actions'], months));
          output.line(`${result.removed} actions ${dryRun ? 'would be removed' : 'removed'}.`);
          if (result.withoutTerm > 0) output.line(`${result.withoutTerm} actions have no term and are kept.`);
          if (result.droppedMonths.length > 0) output.line(`Empty months dropped: ${result.droppedMonths.join(', ')}.`);
        });
      }),
    );
}
