import { Command } from 'commander';
import { runCommand } from '../../commands/run-command.ts';
import { UsageError } from '../../lib/command-error.ts';
import { written } from '../../lib/output.ts';
import type { Terminal } from '../../lib/terminal.ts';
import type { Config } from '../../settings/config.ts';
import type { QueueForward } from '../store/append.ts';
import { parseMoment, parseUuid } from './arguments.ts';

interface ExportOptions {
  readonly from: string;
  readonly to: string;
  readonly activity?: string;
  readonly processing?: string;
  readonly history?: boolean;
}

/** `koppelvlak log export`: the log for an auditor. @param openForward opens the forwarding of the entry about the export */
export function logExportCommand(
  terminal: Terminal,
  openForward: (settings: Config['ldvOut']) => Promise<QueueForward | undefined>,
): Command {
  return new Command('export')
    .description(
      'actions as lines of NDJSON, in the order in which they were first logged; the log keeps an entry about it',
    )
    .requiredOption('--from <moment>', 'performed (tijdstip) at or after this date or time', parseMoment)
    .requiredOption('--to <moment>', 'performed (tijdstip) before this date or time', parseMoment)
    .option('--activity <id>', 'only of this verwerkingsactiviteitId', parseUuid)
    .option('--processing <id>', 'only of this verwerkingId', parseUuid)
    .option('--history', 'every version of actions with a selected version, deletions too, with its author')
    .addHelpText(
      'after',
      `
The lines hold persons' identifiers, and confidential actions too. A day is its midnight in the Netherlands.

Example:
  $ koppelvlak log export --from 2026-01-01 --to 2026-04-01 > quarter.ndjson`,
    )
    .action(({ from, to, activity, processing, history = false }: ExportOptions) =>
      runCommand(terminal, {}, async (context) => {
        const { interrupted } = context;
        if (Date.parse(from) > Date.parse(to)) throw new UsageError('--to must not be before --from');
        const { exportLines } = await import('../export.ts');
        const selection = { from, to, verwerkingsactiviteitId: activity, verwerkingId: processing, history };
        const { USER: user } = terminal.env;
        const by = user === undefined || user === '' ? 'log export' : `log export (${user})`;
        const forward = await openForward(context.config.ldvOut);
        for await (const line of exportLines(context, forward, selection, { by, signal: interrupted })) {
          await written(terminal.stdout, line, interrupted);
        }
      }),
    );
}
