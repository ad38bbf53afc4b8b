import { Command } from 'commander';
import { requireSource } from './bron-source.ts';
import { parseDay } from './bron-sync.ts';
import { table } from './output.ts';
import { CommandError, runCommand, UsageError } from './run-command.ts';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

export function bronCheckCommand(): Command {
  return new Command('check')
    .description('count by month what the supplier shows and what the feed has, and name what is missing')
    .argument('<source>', "a supplier's API: notubiz:<organisation id>")
    .option('--from <date>', 'first day', parseDay)
    .option('--to <date>', 'last day', parseDay)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron check notubiz:281 --from 2024-01-01 --to 2024-12-31')
    .action((text: string, options: Options) =>
      runCommand(options, async ({ platform, output, interrupted }) => {
        const { checkCoverage } = await import('../raadsfeed/aggregator/check-coverage.ts');
        const source = await requireSource(platform.pool, text);
        if (source.soort === 'feed') {
          throw new UsageError('a feed is followed record by record; what it has is compared with bron sync');
        }
        const coverage = await checkCoverage(platform, source, {
          from: options.from,
          to: options.to,
          signal: interrupted,
          progress: (line) => output.progress(line),
        });
        output.result(coverage, () => {
          const rows = coverage.months.map(({ month, shown, held, unnamed }) => [
            month,
            String(shown),
            String(held),
            String(shown - held),
            String(unnamed),
          ]);
          output.line(table(['month', 'shown', 'held', 'missing', 'of which unnamed'], rows));
          for (const { missing } of coverage.months) for (const key of missing) output.line(`missing: ${key}`);
          output.line(
            `${coverage.percentage} % of ${coverage.shown}${coverage.complete ? '' : '; not all could be read'}`,
          );
        });
        if (!coverage.complete)
          throw new CommandError('not all could be read; see koppelvlak bron issues after a bron sync');
        if (coverage.percentage < 100) throw new CommandError(`${coverage.percentage} % is covered`);
      }),
    );
}
