/** `koppelvlak-conformance badge` and `compare`, which work on reports. */
import { Command } from 'commander';
import { UsageError } from '../../src/lib/command-error.ts';
import { table } from '../../src/lib/output.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import type { ConformanceReport } from '../report/report.ts';
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

interface Difference {
  readonly id: string;
  readonly title: string;
  /** One outcome per report; undefined where the case did not run. */
  readonly outcomes: readonly (string | undefined)[];
}

export function compareReports(reports: readonly ConformanceReport[]): readonly Difference[] {
  const titles = new Map(reports.flatMap(({ cases }) => cases.map(({ id, title }) => [id, title] as const)));
  const byId = reports.map(({ cases }) => new Map(cases.map((one) => [one.id, one.outcome] as const)));
  return [...titles]
    .map(([id, title]) => ({ id, title, outcomes: byId.map((outcomes) => outcomes.get(id)) }))
    .filter(({ outcomes }) => new Set(outcomes).size > 1);
}
