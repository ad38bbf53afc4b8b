import { Command, InvalidArgumentError } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { requireSource } from './bron-source.ts';
import { CommandError, runCommand } from './run-command.ts';

interface Options {
  readonly van?: string;
  readonly tot?: string;
  readonly allowMassDelete?: boolean;
  readonly json?: boolean;
}

/** A day as an option of a command. */
export function parseDay(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text))) {
    throw new InvalidArgumentError('A day is YYYY-MM-DD.');
  }
  return text;
}

export function bronSyncCommand(terminal: Terminal): Command {
  return new Command('sync')
    .description('read a source now, publish what it has, and say what was done')
    .argument('<source>', 'address that the source was added with')
    .option('--van <date>', "first day that is read of a supplier's API", parseDay)
    .option('--tot <date>', "last day that is read of a supplier's API", parseDay)
    .option('--allow-mass-delete', 'delete more than a tenth of an organisation when that much is gone')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron sync notubiz:281 --van 2024-01-01 --tot 2024-12-31')
    .action((text: string, options: Options) =>
      runCommand(terminal, options, async ({ platform, output, interrupted }) => {
        const { syncSource } = await import('../aggregator/sync-source.ts');
        const { id } = await requireSource(platform.pool, text);
        const outcome = await syncSource(platform, id, {
          from: options.van,
          to: options.tot,
          allowMassDelete: options.allowMassDelete === true,
          signal: interrupted,
          progress: (line) => output.progress(line),
        });
        const { complete, read, published, deleted, withheld, refused, issues } = outcome;
        output.result(outcome, () => {
          output.line(
            `${read} read, ${published} recorded, ${deleted} deleted, ${withheld} deletes withheld, ${refused} refused, ` +
              `${issues} issues: ${complete ? 'complete' : 'not complete'}.`,
          );
        });
        if (!complete)
          throw new CommandError(outcome.reason ?? 'the source was not read completely; see koppelvlak bron issues');
      }),
    );
}
