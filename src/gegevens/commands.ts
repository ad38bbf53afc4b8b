import { Command, InvalidArgumentError } from 'commander';
import { type CommandContext, runCommand } from '../commands/run-command.ts';
import { CommandError, UsageError } from '../lib/command-error.ts';
import { table } from '../lib/output.ts';
import type { Terminal } from '../lib/terminal.ts';
import type { ForcedImport } from './store/forced-imports.ts';
import type { Journalled } from './store/journal.ts';
import type { ListedLevering } from './store/manage-leveringen.ts';
import { checkCommand, checkEntry } from './tools/commands/check.ts';
import { convertCommand } from './tools/commands/convert.ts';
import { generateCommand } from './tools/commands/generate.ts';
import { importCommand } from './tools/commands/import.ts';
import { wholeNumber } from './tools/commands/options.ts';
import { preflightCommand } from './tools/commands/preflight.ts';
import { requestCommand } from './tools/commands/request.ts';

export function gegevensCommand(terminal: Terminal): Command {
  return new Command('gegevens')
    .description('the data exchange: import, check, inspect and prune deliveries; request one')
    .addCommand(importCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(removeCommand(terminal))
    .addCommand(pruneCommand(terminal))
    .addCommand(journalCommand(terminal))
    .addCommand(convertCommand(terminal))
    .addCommand(checkCommand(terminal))
    .addCommand(generateCommand(terminal))
    .addCommand(requestCommand(terminal))
    .addCommand(preflightCommand(terminal));
}

/** Why a levering is no longer delivered. */
const REASONS = { vervangen: 'replaced', verwijderd: 'removed' } as const;
const LEVERINGEN: Columns<ListedLevering> = {
  id: ({ id }) => String(id),
  variant: ({ variant }) => variant,
  organisation: ({ organisatie }) => organisatie,
  municipality: ({ gemeente }) => gemeente ?? '-',
  period: ({ periodeStart, periodeEinde }) => `${periodeStart} to ${periodeEinde}`,
  records: ({ records }) => String(records),
  cases: ({ zaken }) => String(zaken),
  model: ({ modelVersie }) => modelVersie,
  imported: ({ ingevoerdOp }) => ingevoerdOp.toISOString(),
  state: ({ reden }) => (reden === null ? 'current' : REASONS[reden]),
};

function listCommand(terminal: Terminal): Command {
  return new Command('list')
    .description('the leveringen that are delivered, by period and organisation')
    .option('--municipality <code>', 'only for this municipality, with or without `GM`')
    .option('--all', 'include earlier versions that are not pruned yet')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens list --all')
    .action((options: { all?: boolean; municipality?: string; json?: boolean }) =>
      runCommand(terminal, options, async ({ database, output }) => {
        const { listLeveringen } = await import('./store/manage-leveringen.ts');
        const { municipalityKey } = await import('./model/selection.ts');
        const { municipality } = options;
        const gemeente = municipality === undefined ? undefined : (municipalityKey(municipality) ?? '');
        const leveringen = await listLeveringen(database.pool, { ...options, gemeente });
        output.result({ leveringen }, () =>
          output.line(leveringen.length === 0 ? 'Nothing is delivered.' : tableOf(leveringen, LEVERINGEN)),
        );
      }),
    );
}

function showCommand(terminal: Terminal): Command {
  return new Command('show')
    .description('one levering: its source, contents and state, without its records')
    .argument('<id>', 'number as shown by `list`', parseId)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens show 12')
    .action((id: number, options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ database, output }) => {
        const { listLeveringen, readHead } = await import('./store/manage-leveringen.ts');
        const [levering] = await listLeveringen(database.pool, { id, all: true });
        if (levering === undefined) throw new CommandError(`there is no levering ${id}`);
        const kop = await readHead(database.pool, id);
        output.result({ ...levering, kop }, () => output.line(details({ ...levering, kop })));
      }),
    );
}

function removeCommand(terminal: Terminal): Command {
  return new Command('remove')
    .description(
      'stop delivering leveringen at once, also to requesters that are paging; they are kept until they are pruned',
    )
    .argument('<id...>', 'numbers as shown by `list --all`', parseIds)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens remove 12 13')
    .action((ids: number[], options: { json?: boolean }) =>
      runCommand(terminal, { ...options, changes: true }, async ({ database, output }) => {
        const { removeLeveringen } = await import('./store/manage-leveringen.ts');
        const removed = await removeLeveringen(database.pool, ids);
        output.result({ removed }, () => output.line(`No longer delivered: ${removed.join(', ') || 'none'}`));
        const unknown = ids.filter((id) => !removed.includes(id));
        if (unknown.length > 0) throw new CommandError(`unknown or removed before: ${unknown.join(', ')}`);
      }),
    );
}

const MAX_DAYS = 99_999;
const DAY_MS = 86_400_000;

function pruneCommand(terminal: Terminal): Command {
  return new Command('prune')
    .description('delete earlier versions that no requester can be paging through any more')
    .option('--older-than <days>', 'only versions not delivered for this many days', wholeNumber(0, MAX_DAYS), 0)
    .option('--dry-run', 'only show what would be deleted')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens prune --older-than 30 --dry-run')
    .action((options: { olderThan: number; dryRun?: boolean; json?: boolean }) =>
      runCommand(terminal, { ...options, changes: true }, async ({ config, database, clock, output, interrupted }) => {
        const { pruneLeveringen } = await import('./store/manage-leveringen.ts');
        const dryRun = options.dryRun ?? false;
        const pruned = await pruneLeveringen(database.pool, {
          now: clock.now(),
          // A younger version may be in an answer, or in a state that another instance is saving at this moment.
          minAgeMs: Math.max(options.olderThan * DAY_MS, config.gegevens.pagePinMinutes * 60_000),
          dryRun,
          signal: interrupted,
          progress: ({ id, organisatie }) =>
            output.progress(`${dryRun ? 'would be deleted' : 'deleted'}: ${id} ${organisatie}`),
        });
        const records = pruned.reduce((sum, version) => sum + version.records, 0);
        output.result({ dryRun, leveringen: pruned, records }, () =>
          output.line(`${dryRun ? 'Would prune' : 'Pruned'} ${pruned.length} versions with ${records} records.`),
        );
      }),
    );
}

const MAX_ENTRIES = 99_999;

function journalCommand(terminal: Terminal): Command {
  return new Command('journal')
    .description(
      'requests and deliveries, newest first, and imports with --force; with a number: one entry with its signatures and the contents of the answer',
    )
    .argument('[id]', 'number of an entry', parseId)
    .option('--limit <number>', 'most entries', wholeNumber(1, MAX_ENTRIES), 50)
    .option('--proof', 'the proof of this one entry, as a file that can be checked without this service')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens journal --limit 10 --json')
    .action((id: number | undefined, options: { limit: number; proof?: boolean; json?: boolean }) =>
      runCommand(terminal, options, async (context) => {
        const { database, output } = context;
        if (options.proof === true) return await printProof(context, id);
        const { readJournal } = await import('./store/journal.ts');
        const { readForcedImports } = await import('./store/forced-imports.ts');
        const { limit } = options;
        const entries = await readJournal(database.pool, { limit, id });
        const only = id === undefined ? undefined : entries[0];
        if (id !== undefined && only === undefined) throw new CommandError(`there is no entry ${id}`);
        const imports = await readForcedImports(database.pool, { limit, leveringen: only?.leveringen });
        const forced = imports.length === 0 ? {} : { forced: imports };
        const forcedText = imports.length === 0 ? [] : [`Imported with --force:\n${tableOf(imports, FORCED_IMPORTS)}`];
        const show = (...texts: readonly string[]): void =>
          output.line([...texts, ...forcedText].filter(Boolean).join('\n\n'));
        if (only === undefined) {
          output.result({ entries, ...forced }, () =>
            show(entries.length === 0 ? 'Nothing was delivered.' : tableOf(entries, ENTRIES)),
          );
          return;
        }
        const answer = await checkEntry(context, only);
        output.result({ ...only, check: answer.json, ...forced }, () => show(details(only), answer.text));
      }),
    );
}

/** With `--json` also the record of the proof. */
async function printProof(
  { database, proof, output, terminal }: CommandContext,
  id: number | undefined,
): Promise<void> {
  const { proofRecordOf, proveDelivery, readJournalAfter } = await import('./store/journal.ts');
  if (id === undefined) throw new UsageError('--proof takes the number of an entry');
  const writer = proof('leveringen', 'kept');
  if (writer === undefined) throw new CommandError('the proof log leveringen is not kept: see PROOF_KEY');
  const [found] = await readJournalAfter(database.pool, id - 1, 1);
  if (found?.line.id !== id) throw new CommandError(`there is no entry ${id}`);
  const text = await proveDelivery(database.pool, writer, found);
  if (text === undefined) throw new CommandError('it is in no published checkpoint yet: try again later');
  output.result({ ...Object.fromEntries(proofRecordOf(found.line).parts), proof: text }, () =>
    terminal.stdout.write(text),
  );
}

const ENTRIES: Columns<Journalled> = {
  id: ({ id }) => String(id),
  ready: ({ klaargezetOp }) => klaargezetOp.toISOString(),
  sent: ({ verzondenOp }) => verzondenOp?.toISOString() ?? 'no',
  variant: ({ variant }) => variant,
  requester: ({ oin, subject }) => oin ?? subject,
  asked: ({ vraag }) => vraag.replaceAll(/\s+/g, ' ').slice(0, 60),
  page: ({ pagina }) => String(pagina),
  records: ({ records }) => String(records),
  bytes: ({ bytes }) => String(bytes),
  digest: ({ antwoordDigest }) => antwoordDigest,
};
const FORCED_IMPORTS: Columns<ForcedImport> = {
  imported: ({ ingevoerdOp }) => ingevoerdOp.toISOString(),
  variant: ({ variant }) => variant,
  file: ({ bestand }) => bestand ?? '-',
  period: ({ periodeStart, periodeEinde }) => `${periodeStart} to ${periodeEinde}`,
  leveringen: ({ leveringen }) => leveringen.join(' '),
  'blocking findings': ({ bevindingen }) =>
    bevindingen.map(({ rule, count }) => `${rule === 'model' ? rule : `rule ${rule}`}: ${count}`).join(', '),
};

type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

function tableOf<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const cells = rows.map((row) => Object.values(columns).map((cellOf) => cellOf(row)));
  return table(Object.keys(columns), cells);
}

function details(object: object): string {
  const shown = (value: unknown): string => {
    if (value instanceof Date) return value.toISOString();
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '-');
  };
  return Object.entries(object)
    .map(([name, value]) => `${name.padEnd(20)} ${shown(value)}`)
    .join('\n');
}

/** @throws {InvalidArgumentError} unless it is a positive whole number */
function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('A number as shown by `list` is expected.');
  return Number(text);
}

function parseIds(text: string, before: readonly number[] = []): number[] {
  return [...before, parseId(text)];
}
