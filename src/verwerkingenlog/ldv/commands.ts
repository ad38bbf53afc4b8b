import { Command, Option } from 'commander';
import { runCommand } from '../../commands/run-command.ts';
import { table } from '../../lib/output.ts';
import type { Terminal } from '../../lib/terminal.ts';
import { FORWARD_ISSUES, listForwardIssues, readForwardState } from './store/forward-queue.ts';

/** All are counted. */
const SHOWN = 1000;

/** `koppelvlak log forward-issues`: where the other logbook differs from this one. */
export function logForwardIssuesCommand(terminal: Terminal): Command {
  return new Command('forward-issues')
    .description('the differences of the logbook of LDV_FORWARD_URL from this one, the newest 1000')
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(FORWARD_ISSUES))
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      `
Kinds: geweigerd (refused there), wijziging and verwijdering (changed or deleted here after it was sent: LDV has no change), ingehouden
(made confidential or deleted before it was sent), verdwenen (past its retention before it was sent), onleesbaar (it cannot be read here),
onverzendbaar (a time outside 1970 to 2554 or a number beyond 64 bits: OTLP has no place for it).

Example:
  $ koppelvlak log forward-issues --kind geweigerd`,
    )
    .action((options: { readonly kind?: string; readonly json?: boolean }) =>
      runCommand(terminal, options, async ({ database, output }) => {
        const issues = await listForwardIssues(database.pool, options.kind, SHOWN);
        const { pending, oldestSeconds, sent, failure, issues: counts } = await readForwardState(database.pool);
        output.result({ pending, oldestSeconds, sent, failure, counts, issues }, () => {
          const rows = issues.map((issue) => [
            issue.op.toISOString(),
            issue.soort,
            issue.actieId ?? `${issue.aantal} of ${issue.acties?.length ?? 0} actions`,
            issue.versie === null ? (issue.spanId ?? '-') : `version ${issue.versie}`,
            issue.reden ?? '-',
          ]);
          if (rows.length > 0) output.line(table(['when', 'kind', 'action', 'what', 'reason'], rows));
          const totals = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
          output.line(totals.length === 0 ? 'No issues.' : `In all: ${totals.join(', ')}.`);
          output.line(
            `${sent} lines were forwarded, ${pending} actions wait${failure === null ? '' : `; ${failure}`}.`,
          );
        });
      }),
    );
}
