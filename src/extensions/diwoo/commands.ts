import { Command } from 'commander';
import { table } from '../../cli/output.ts';
import { runCommand } from '../../cli/run-command.ts';
import type { Terminal } from '../../seams/terminal.ts';

/** `koppelvlak diwoo …`: what is offered to the national index of public documents. */
export function addCommands(program: Command, terminal: Terminal): void {
  program.addCommand(diwooCommand(terminal));
}

function diwooCommand(terminal: Terminal): Command {
  return new Command('diwoo')
    .description('the documents that are offered to the national index (DiWoo)')
    .addCommand(reportCommand(terminal))
    .addCommand(robotsCommand(terminal));
}

function reportCommand(terminal: Terminal): Command {
  return new Command('report')
    .description('what is offered, and what is left out with the reason')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak diwoo report')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ database: { pool }, output }) => {
        const { countLeftOut, countOffered, REASONS } = await import('./report.ts');
        const offered = await countOffered(pool);
        const leftOut = await countLeftOut(pool);
        output.result({ offered, leftOut }, () => {
          const rows = offered.map(({ organisatiecode, categorie, documents, sitemaps }) =>
            [organisatiecode, `infocat${String(categorie).padStart(3, '0')}`, documents, sitemaps].map(String),
          );
          output.line(
            rows.length === 0
              ? 'No document is offered; is RAADSFEED_DIWOO on?'
              : table(['organisation', 'category', 'documents', 'sitemaps'], rows),
          );
          const left = leftOut.map(({ reason, documents }) => [reason, String(documents), REASONS[reason]]);
          output.line(left.length === 0 ? 'No document is left out.' : table(['left out', 'documents', 'why'], left));
        });
      }),
    );
}

function robotsCommand(terminal: Terminal): Command {
  return new Command('robots')
    .description('the lines that robots.txt needs: on the host of this service, and on other hosts that have files')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak diwoo robots')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ database, publicBaseUrl, output }) => {
        const { countHosts } = await import('./report.ts');
        const { robotsLines } = await import('./routes.ts');
        const base = publicBaseUrl();
        const own = new URL(base).host;
        const counts = await countHosts(database.pool);
        const results = [...new Set([own, ...counts.map(({ host }) => host)])].map((host) => {
          const here = counts.filter((count) => count.host === host);
          const named = host === own ? counts : here;
          const categories = [...new Set(named.map(({ categorie }) => categorie))].sort((a, b) => a - b);
          return {
            host,
            documents: here.reduce((sum, { documents }) => sum + documents, 0),
            lines: robotsLines(base, categories),
          };
        });
        output.result(results, () => {
          for (const { host, documents, lines } of results) {
            output.line(`# https://${host}/robots.txt (files offered on this host: ${documents})`);
            for (const line of lines) output.line(line);
          }
        });
      }),
    );
}
