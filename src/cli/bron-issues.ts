import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { requireSource } from './bron-source.ts';
import { table } from './output.ts';
import { runCommand } from './run-command.ts';

export function bronIssuesCommand(terminal: Terminal): Command {
  return new Command('issues')
    .description('what was not as it should be at a source: what, where, since when and how often')
    .argument('<source>', 'address that the source was added with')
    .option('--all', 'those that are over too')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron issues notubiz:281')
    .action((text: string, options: { all?: boolean; json?: boolean }) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { readIssues } = await import('../aggregator/store/issues.ts');
        const { MAX_ISSUES } = await import('../aggregator/store/issues.ts');
        const { readSourceStates } = await import('../aggregator/store/sources.ts');
        const { id } = await requireSource(platform.pool, text);
        const every = await readIssues(platform.pool, id, MAX_ISSUES);
        const issues = every.filter(({ resolved }) => options.all === true || resolved === null);
        output.result(issues, () => {
          if (issues.length === 0) output.line('No issues.');
          else {
            const rows = issues.map(({ what, where, detail, times, since, lastSeen, resolved, blocking }) => [
              what,
              where,
              String(times),
              since,
              lastSeen,
              resolved ?? (blocking ? 'keeps it from being complete' : 'lasts'),
              detail,
            ]);
            output.line(table(['what', 'where', 'times', 'since', 'last', 'over', 'detail'], rows));
          }
        });
        const dropped =
          (await readSourceStates(platform.pool)).find((state) => state.id === id)?.meldingenWeggelaten ?? 0;
        if (dropped > 0)
          output.progress(`${dropped} more were dropped: the ${MAX_ISSUES} that last and are newest are kept.`);
      }),
    );
}
