import { Command } from 'commander';
import type { Source } from '../aggregator/source.ts';
import type { Coverage } from '../aggregator/supplier/coverage.ts';
import type { Pool } from '../kernel/database/pool.ts';
import type { Terminal } from '../kernel/terminal.ts';
import { requireSource } from './bron-source.ts';
import { parseDay } from './bron-sync.ts';
import { type Output, table } from './output.ts';
import { CommandError, runCommand, UsageError } from './run-command.ts';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly last?: boolean;
  readonly json?: boolean;
}

export function bronCheckCommand(terminal: Terminal): Command {
  return new Command('check')
    .description('count by month what the supplier shows and what the feed has, and name what is missing')
    .argument('<source>', "a supplier's API: notubiz:<organisation id>")
    .option('--from <date>', 'first day', parseDay)
    .option('--to <date>', 'last day', parseDay)
    .option('--last', 'show the last measurement of each month, without asking the supplier')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron check notubiz:281 --from 2024-01-01 --to 2024-12-31')
    .action((text: string, options: Options) =>
      runCommand(terminal, options, async ({ platform, output, interrupted }) => {
        const { checkCoverage } = await import('../aggregator/check-coverage.ts');
        const source = await requireSource(platform.pool, text);
        if (source.soort === 'feed') {
          throw new UsageError('a feed is followed record by record; what it has is compared with bron sync');
        }
        if (options.last === true) {
          if (options.from !== undefined || options.to !== undefined) throw new UsageError('--last takes no days');
          return await tellLast(platform.pool, source, output);
        }
        const coverage = await checkCoverage(platform, source, {
          from: options.from,
          to: options.to,
          signal: interrupted,
          progress: (line) => output.progress(line),
        });
        output.result(coverage, () => tell(coverage, output, coverage.complete ? '' : '; not all could be read'));
        if (!coverage.complete)
          throw new CommandError('not all could be read; see koppelvlak bron issues after a bron sync');
        if (coverage.percentage < 100) throw new CommandError(`${coverage.percentage} % is covered`);
      }),
    );
}

/** What was kept of earlier readings and checks. */
async function tellLast(pool: Pool, { id, adres }: Source, output: Output): Promise<void> {
  const { readCoverage } = await import('../aggregator/store/windows.ts');
  const { totalCoverage } = await import('../aggregator/supplier/coverage.ts');
  const months = await readCoverage(pool, id);
  if (months.length === 0) throw new CommandError(`${adres} was not measured yet`);
  const coverage = { ...totalCoverage(months), months };
  const measured = months.map((month) => month.measured.toISOString()).toSorted();
  output.result(coverage, () => tell(coverage, output, `; measured ${measured[0]} to ${measured.at(-1)}`));
  if (coverage.percentage < 100) throw new CommandError(`${coverage.percentage} % is covered`);
}

function tell({ months, percentage, shown }: Coverage, output: Output, remark: string): void {
  const rows = months.map((month) => [
    month.month,
    String(month.shown),
    String(month.held),
    String(month.shown - month.held),
    String(month.unnamed),
  ]);
  output.line(table(['month', 'shown', 'held', 'missing', 'of which unnamed'], rows));
  for (const { missing } of months) for (const key of missing) output.line(`missing: ${key}`);
  output.line(`${percentage} % of ${shown}${remark}`);
}
