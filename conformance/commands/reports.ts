/** `koppelvlak-conformance badge` and `compare`, which work on reports. */
import { Command } from 'commander';
import { UsageError } from '../../src/lib/command-error.ts';
import { table } from '../../src/lib/output.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import { compareReports, type Difference } from '../report/compare.ts';
import { runTool } from './tool.ts';

export function badgeCommand(terminal: Terminal): Command {
  return new Command('badge')
    .description('a badge for a page, as SVG on standard output')
    .argument('<report>', 'a report.json')
    .addHelpText('after', '\nExample:\n  $ koppelvlak-conformance badge verslag/report.json > badge.svg')
    .action((file: string) =>
      runTool(terminal, {}, async ({ output }) => {
        const { readReport } = await import('./report-files.ts');
        const { reportBadge } = await import('../report/junit.ts');
        output.line(reportBadge(await readReport(file)).trimEnd());
      }),
    );
}

export function compareCommand(terminal: Terminal): Command {
  return new Command('compare')
    .description('compare reports: list the cases whose outcomes differ')
    .argument('<reports...>', 'two or more report.json')
    .addHelpText('after', '\nExample:\n  $ koppelvlak-conformance compare verslag/report.json ander/report.json')
    .option('--json', 'one machine-readable result')
    .action((files: readonly string[], options: { json?: boolean }) =>
      runTool(terminal, options, async ({ output }) => {
        if (files.length < 2) throw new UsageError('name two or more reports');
        const { readReport } = await import('./report-files.ts');
        const found = compareReports(await Promise.all(files.map(readReport)));
        output.result(found, () => output.line(differences(files, found) ?? 'No outcomes differ.'));
      }),
    );
}

/**
 * @param names of the reports
 * @returns undefined when there are none
 */
export function differences(names: readonly string[], found: readonly Difference[]): string | undefined {
  const rows = found.map(({ id, outcomes, title }) => [id, ...outcomes.map((one) => one ?? '(not run)'), title]);
  return rows.length === 0 ? undefined : table(['case', ...names, 'title'], rows);
}
