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

/** Documents that are read at once when they are listed. */
const LIST_PAGE = 1000;

function reportCommand(terminal: Terminal): Command {
  return new Command('report')
    .description('what is offered, and what is left out with the reason')
    .option('--list', 'also name each current document that is left out')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak diwoo report --list')
    .action((options: { list?: boolean; json?: boolean }) =>
      runCommand(terminal, options, async ({ database: { pool }, output }) => {
        const { countLeftOut, countOffered, listLeftOut, REASONS } = await import('./report.ts');
        const offered = await countOffered(pool);
        const leftOut = await countLeftOut(pool);
        const documents = [];
        if (options.list === true) {
          for (let page = await listLeftOut(pool, { after: undefined, limit: LIST_PAGE }); page.length > 0; ) {
            // A list of a million is written as it is read.
            if (options.json === true) documents.push(...page);
            else for (const one of page) output.line(`${one.reason}: ${one.organisatiecode}/${one.bronidentificatie}`);
            page = await listLeftOut(pool, { after: page.at(-1), limit: LIST_PAGE });
          }
        }
        output.result({ offered, leftOut, ...(options.list === true ? { documents } : {}) }, () => {
          const rows = offered.map((one) => [
            one.organisatiecode,
            `infocat${String(one.categorie).padStart(3, '0')}`,
            ...[String(one.documents), String(one.sitemaps)],
          ]);
          output.line(
            rows.length === 0
              ? 'No document is offered; is RAADSFEED_DIWOO on?'
              : table(['organisation', 'category', 'documents', 'sitemaps'], rows),
          );
          if (leftOut.length === 0) output.line('No document is left out.');
          else {
            output.line(
              table(
                ['left out', 'documents', 'why'],
                leftOut.map(({ reason, documents: count }) => [reason, String(count), REASONS[reason]]),
              ),
            );
          }
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
        const hosts = Map.groupBy(await countHosts(database.pool), ({ host }) => host);
        const categories = [...new Set([...hosts.values()].flat().map(({ categorie }) => categorie))].sort(
          (a, b) => a - b,
        );
        const own = new URL(base).host;
        const results = [
          { host: own, documents: 0, lines: robotsLines(base, categories) },
          ...[...hosts]
            .filter(([host]) => host !== own)
            .map(([host, counts]) => ({
              host,
              documents: counts.reduce((sum, { documents }) => sum + documents, 0),
              lines: robotsLines(
                base,
                counts.map(({ categorie }) => categorie),
              ),
            })),
        ].map((result) =>
          result.host === own
            ? { ...result, documents: (hosts.get(own) ?? []).reduce((sum, { documents }) => sum + documents, 0) }
            : result,
        );
        output.result(results, () => {
          for (const { host, documents, lines } of results) {
            output.line(`# https://${host}/robots.txt (files offered on this host: ${documents})`);
            for (const line of lines) output.line(line);
          }
        });
      }),
    );
}
