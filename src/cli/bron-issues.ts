import { Command } from 'commander';
import { requireSource } from './bron-source.ts';
import { table } from './output.ts';
import { runCommand } from './run-command.ts';

const SHOWN = 1000;

export function bronIssuesCommand(): Command {
  return new Command('issues')
    .description('what was not as it should be at a source: what, where, since when and how often')
    .argument('<source>', 'address that the source was added with')
    .option('--all', 'those that are over too')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron issues notubiz:281')
    .action((text: string, options: { all?: boolean; json?: boolean }) =>
      runCommand(options, async ({ platform, output }) => {
        const { readIssues } = await import('../raadsfeed/aggregator/store/issues.ts');
        const { id } = await requireSource(platform.pool, text);
        const every = await readIssues(platform.pool, id, SHOWN);
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
      }),
    );
}
