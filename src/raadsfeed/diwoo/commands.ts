import { Command } from 'commander';
import { commandWithResult, runCommand } from '../../commands/run-command.ts';
import { table } from '../../lib/output.ts';
import type { Terminal } from '../../lib/terminal.ts';
import type { Reason } from './offer.ts';

export function diwooCommand(terminal: Terminal): Command {
  return new Command('diwoo')
    .description('the documents that are offered to the national index (DiWoo)')
    .addCommand(reportCommand(terminal))
    .addCommand(robotsCommand(terminal));
}

function reportCommand(terminal: Terminal): Command {
  return commandWithResult(
    'report',
    'the offered documents, and those left out with the reason',
    'diwoo report',
  ).action((options: { json?: boolean }) =>
    runCommand(terminal, options, async ({ database: { pool }, output }) => {
      const { rows: offered } = await pool.query<Offered>(
        `select organisatiecode, categorie, sum(size)::integer as documents, count(*)::integer as sitemaps
           from diwoo.sitemaps where size > 0
          group by organisatiecode, categorie order by categorie, organisatiecode`,
      );
      // Removed ones as far back as the history of the feed goes.
      const { rows: leftOut } = await pool.query<{ reason: LeftOutReason; documents: number }>(
        `select exclusion as reason, count(*)::integer as documents from diwoo.documents where exclusion is not null group by exclusion
         union all
         select case op when 'redact' then 'redacted' else 'removed' end, count(*)::integer
           from (select distinct on (organisatiecode, bronidentificatie) op, organisatiecode, bronidentificatie
                   from raadsfeed.records r
                  where resource_type = 'Informatieobject' and op <> 'upsert'
                    and not exists (select from raadsfeed.current_records s
                                     where s.organisatiecode = r.organisatiecode and s.resource_type = r.resource_type
                                       and s.bronidentificatie = r.bronidentificatie)
                  order by organisatiecode, bronidentificatie, sequence_number desc) g
          group by 1
          order by 2 desc, 1`,
      );
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

interface Offered {
  readonly organisatiecode: string;
  readonly categorie: number;
  readonly documents: number;
  readonly sitemaps: number;
}

function robotsCommand(terminal: Terminal): Command {
  return commandWithResult(
    'robots',
    'the lines that robots.txt needs: on the host of this service, and on other hosts that have files',
    'diwoo robots',
  ).action((options: { json?: boolean }) =>
    runCommand(terminal, options, async ({ database, publicBaseUrl, output }) => {
      const { indexAddresses } = await import('./sitemaps.ts');
      const base = publicBaseUrl();
      const { host: own, origin } = new URL(base);
      const { rows: counts } = await database.pool.query<{ host: string; categorie: number; documents: number }>(
        `select substring(loc from '^https://([^/?#]+)') as host, categorie, count(*)::integer as documents
           from diwoo.documents where place is not null
          group by 1, 2 order by 1, 2`,
      );
      const results = [...new Set([own, ...counts.map(({ host }) => host)])].map((host) => {
        const here = counts.filter((count) => count.host === host);
        const named = host === own ? counts : here;
        const categories = [...new Set(named.map(({ categorie }) => categorie))].sort((a, b) => a - b);
        return {
          host,
          // Only files over https are offered, but this service may be a trial without it.
          robots: `${host === own ? origin : `https://${host}`}/robots.txt`,
          documents: here.reduce((sum, { documents }) => sum + documents, 0),
          // As sitemaps.org 0.9 has them.
          lines: indexAddresses(base, categories).map((address) => `Sitemap: ${address}`),
        };
      });
      output.result(results, () => {
        for (const { robots, documents, lines } of results) {
          output.line(`# ${robots} (files offered on this host: ${documents})`);
          for (const line of lines) output.line(line);
        }
      });
    }),
  );
}

type LeftOutReason = Reason | 'removed' | 'redacted';

const REASONS: Readonly<Record<LeftOutReason, string>> = {
  'no-file': 'no bestandsurl',
  'not-https': 'the bestandsurl is not https',
  'bad-address': 'the bestandsurl is not an address that a sitemap may hold',
  'unknown-category': 'the wooinformatiecategorie is not in the value list',
  'no-date': 'no day on which it was submitted',
  'closed-items-only': 'only on closed agenda items',
  'same-address': 'another document offers the same file',
  removed: 'removed from the feed',
  redacted: 'redacted',
};
