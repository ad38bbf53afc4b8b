import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { parseMoment } from './feed-options.ts';
import { runCommand, UsageError } from './run-command.ts';

interface PruneOptions {
  readonly before: Date;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function feedPruneCommand(terminal: Terminal): Command {
  return new Command('prune')
    .description('drop the history stored before a moment; never the current state')
    .requiredOption('--before <moment>', 'a day (UTC) or a time with its zone', parseMoment)
    .option('--dry-run', 'only say how far it would go')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed prune --before 2021-01-01')
    .action(({ before, dryRun = false, json }: PruneOptions) =>
      runCommand(terminal, { json: json ?? false }, async ({ platform, output, interrupted }) => {
        const { clock, pool } = platform;
        if (before > clock.now()) throw new UsageError('--before lies in the future');
        const { findPruneEnd, pruneGraceMs, pruneHistory } = await import('../raadsfeed/store/prune-history.ts');
        const { readFeedRow } = await import('../raadsfeed/store/feed-row.ts');
        const { rewriteParts } = await import('../raadsfeed/store/text-partitions.ts');
        if (dryRun) {
          const upTo = await findPruneEnd(pool, before);
          output.result({ upTo, dryRun }, () =>
            output.line(`The history up to and including number ${upTo} would go.`),
          );
          return;
        }
        const pruned = await pruneHistory(pool, {
          before,
          graceMs: pruneGraceMs(platform.config.database.statementTimeoutMs),
          signal: interrupted,
          progress: (done, of) => output.progress(`${done} of ${of} numbers`),
        });
        await rewriteParts(pool);
        const { historieVanaf } = await readFeedRow(pool);
        output.result({ ...pruned, historieVanaf: historieVanaf.toISOString().slice(0, 10) }, () => {
          output.line(`${pruned.removed} records removed; the history begins after number ${pruned.upTo}.`);
        });
      }),
    );
}
