/** The commands on a source that was added before. */
import { type Command, InvalidArgumentError } from 'commander';
import { type CommandContext, commandWithResult, runCommand } from '../../../commands/run-command.ts';
import type { Pool } from '../../../database/pool.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import { table } from '../../../lib/output.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import {
  isSupplierScheme,
  parseSourceAddress,
  SOURCE_FORMS,
  type Source,
  type SourceAddress,
  SUPPLIER_VERSIONS,
} from '../source.ts';
import { readMoment } from '../supplier/values.ts';
import type { Period } from '../supplier/windows.ts';

const FEED_EXAMPLE = 'https://raad.voorbeeldstad.example/ori/v1';
const YEAR_EXAMPLE = 'notubiz:281 --from 2024-01-01 --to 2024-12-31';

interface Json {
  readonly json?: boolean;
}

interface MassDeleteOptions extends Json {
  readonly allowMassDelete?: boolean;
}

export function sourceCommands(terminal: Terminal): Command[] {
  const command = <O extends Json>(
    name: string,
    description: string,
    example: string,
    action: (context: CommandContext, source: Source, options: O) => Promise<void>,
  ): Command =>
    commandWithResult(name, description, `bron ${name} ${example}`)
      .argument('<source>', 'address under which the source was added')
      .action((text: string, options: O) =>
        runCommand(terminal, { ...options, changes: true }, async (context) => {
          await action(context, await requireSource(context.database.pool, text), options);
        }),
      );
  const withDays = (command: Command): Command =>
    command
      .option('--from <date>', "first day to read from a supplier's API", parseDay)
      .option('--to <date>', "last day to read from a supplier's API", parseDay);
  return [
    command('pause', 'stop reading a source; what was published stays', FEED_EXAMPLE, (context, source) =>
      pause(context, source, true),
    ),
    resumeCommand(terminal),
    command('remove', 'forget a source; what was published from it stays in the feed', FEED_EXAMPLE, remove),
    withDays(
      command('sync', 'read a source now, publish what changed and report what was done', YEAR_EXAMPLE, sync),
    ).option('--allow-mass-delete', 'delete even when more than a tenth of an organisation is gone'),
    withDays(
      command('check', 'compare the supplier with the feed by month, and name missing items', YEAR_EXAMPLE, check),
    ),
    command('issues', 'the issues of a source: kind, place, since when and how often', 'notubiz:281', showIssues),
    switchCommand(terminal),
  ];
}

function resumeCommand(terminal: Terminal): Command {
  const description =
    'read a paused source again; one that waits after a failure is read at once. Of a supplier that blocked this service: all its sources';
  return commandWithResult('resume', description, `bron resume ${FEED_EXAMPLE}`, 'bron resume ibabs')
    .argument('<source>', 'address under which the source was added, or the name of a supplier, such as ibabs')
    .action((text: string, options: Json) =>
      runCommand(terminal, { ...options, changes: true }, async (context) => {
        const { database, output } = context;
        if (!isSupplierScheme(text)) return await pause(context, await requireSource(database.pool, text), false);
        const { resumeSupplier } = await import('../store/call-slots.ts');
        const wasBlocked = await resumeSupplier(database.pool, text);
        output.result({ supplier: text, wasBlocked }, () =>
          output.line(wasBlocked ? `Resumed: ${text}` : `${text} was not blocked; its sources are read at once.`),
        );
      }),
    );
}

export function isDay(text: string): boolean {
  return readMoment(text).moment?.day === text;
}

function parseDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('A day is YYYY-MM-DD.');
  return text;
}

async function pause({ database, output }: CommandContext, { id, adres }: Source, paused: boolean): Promise<void> {
  const { setPaused } = await import('../store/sources.ts');
  await setPaused(database.pool, id, paused);
  output.result({ adres, paused }, () => output.line(`${paused ? 'Paused' : 'Resumed'}: ${adres}`));
}

async function remove({ database, output }: CommandContext, { id, adres }: Source): Promise<void> {
  const { removeSource } = await import('../store/sources.ts');
  await removeSource(database.pool, id);
  output.result({ adres, removed: true }, () => output.line(`Removed: ${adres}`));
}

async function sync(context: CommandContext, source: Source, options: MassDeleteOptions & Period): Promise<void> {
  const { output, interrupted: signal } = context;
  const { syncSource } = await import('../read-now.ts');
  const { allowMassDelete = false, ...period } = options;
  const outcome = await syncSource(context, source.id, {
    ...period,
    allowMassDelete,
    signal,
    progress: output.progress,
  });
  const { complete, read, published, deleted, withheld, refused, issues } = outcome;
  output.result(outcome, () => {
    output.line(
      `${read} read, ${published} recorded, ${deleted} deleted, ${withheld} deletes withheld, ${refused} refused, ` +
        `${issues} issues: ${complete ? 'complete' : 'not complete'}.`,
    );
  });
  if (!complete)
    throw new CommandError(outcome.reason ?? 'the source was not read completely; see koppelvlak bron issues');
}

async function check(context: CommandContext, source: Source, options: Period & Json): Promise<void> {
  const { output, interrupted: signal } = context;
  const { checkCoverage } = await import('../read-now.ts');
  if (source.soort === 'feed') throw new UsageError('a feed is followed record by record; use bron sync to compare it');
  const coverage = await checkCoverage(context, source, { ...options, signal, progress: output.progress });
  const { months, percentage, shown, complete } = coverage;
  output.result(coverage, () => {
    const rows = months.map((month) =>
      [month.month, month.shown, month.held, month.shown - month.held, month.unnamed].map(String),
    );
    output.line(table(['month', 'shown', 'held', 'missing', 'of which unnamed'], rows));
    for (const { missing } of months) for (const key of missing) output.line(`missing: ${key}`);
    output.line(`${percentage} % of ${shown}${complete ? '' : '; not everything could be read'}`);
    const { confidential, bodies, period } = coverage.leftOut;
    output.line(`left out: ${confidential} confidential, ${bodies} of other bodies, ${period} of other days`);
  });
  if (!complete) throw new CommandError('not everything could be read; see koppelvlak bron issues after a bron sync');
  if (percentage < 100) throw new CommandError(`${percentage} % is covered`);
}

async function showIssues({ database, output }: CommandContext, source: Source): Promise<void> {
  const { readIssues } = await import('../store/issues.ts');
  const issues = await readIssues(database.pool, source.id);
  output.result(issues, () => {
    const rows = issues.map(({ what, where, detail, times, since, lastSeen, blocking }) => [
      ...[what, where, String(times), since, lastSeen],
      ...[blocking ? 'yes' : '', detail],
    ]);
    const head = ['what', 'where', 'times', 'since', 'last', 'keeps it incomplete', 'detail'];
    output.line(rows.length === 0 ? 'No issues.' : table(head, rows));
  });
}

const SHOWN = 20;

function switchCommand(terminal: Terminal): Command {
  return commandWithResult(
    'switch',
    "take a source's organisations from a feed of their own instead, or by another version of go; what both have is not published again",
    'bron switch notubiz:281 https://raad.voorbeeldstad.example/ori/v1 --dry-run',
    'bron switch go:https://raad.voorbeeldstad.example/api v2',
  )
    .argument('<source>', 'address of the source that is followed now')
    .argument('<to>', 'address of the service document of the feed; of a go: source v1 or v2')
    .option('--dry-run', 'only show what would be deleted and added')
    .option('--allow-mass-delete', 'switch even when more than a tenth of an organisation would be deleted')
    .action((text: string, to: string, options: MassDeleteOptions & { readonly dryRun?: boolean }) =>
      runCommand(terminal, { ...options, changes: true }, async (context) => {
        const { database, output, interrupted } = context;
        const { allowMassDelete = false, dryRun = false } = options;
        const { planSwitch, planVersion } = await import('../switch-source.ts');
        const version = SUPPLIER_VERSIONS.find((one) => one === to);
        const address = version === undefined ? readSourceAddress(to) : undefined;
        const from = await requireSource(database.pool, text);
        if (version !== undefined && !from.adres.startsWith('go:')) throw new UsageError('only go: has versions');
        if (address?.kind === 'leveranciers-api') throw new UsageError('only a feed can replace another source');
        const adres = address?.adres ?? to;
        if ([from.adres, from.options.version].includes(adres)) throw new UsageError('that is the same source');
        const { organisations, carryOut } =
          version === undefined
            ? await planSwitch(context, from, adres, interrupted)
            : await planVersion(context, from, version, interrupted);
        const isMassDelete = organisations.some((one) => one.isMassDelete);
        const refused = isMassDelete && !allowMassDelete;
        const switched = !refused && !dryRun;
        if (switched) await carryOut(allowMassDelete);
        output.result({ organisations, isMassDelete, switched }, () => {
          for (const { organisatiecode, same, deleted, added } of organisations) {
            output.line(`${organisatiecode}: ${same} the same, ${deleted.length} to delete, ${added.length} to add`);
            for (const key of deleted.slice(0, SHOWN)) output.line(`  - ${key}`);
            for (const key of added.slice(0, SHOWN)) output.line(`  + ${key}`);
          }
          if (switched) output.line(`Switched to ${adres}.`);
        });
        if (refused)
          throw new CommandError('more than a tenth would be deleted; use --allow-mass-delete to switch anyway');
      }),
    );
}

/** @throws {UsageError} naming `where` */
export function readSourceAddress(text: string, where?: string): SourceAddress {
  const address = parseSourceAddress(text);
  if (address === undefined) {
    throw new UsageError(`${where === undefined ? '' : `${where}: `}${text} is not a source: give ${SOURCE_FORMS}`);
  }
  return address;
}

async function requireSource(pool: Pool, text: string): Promise<Source> {
  const { findSource } = await import('../store/sources.ts');
  const { adres } = readSourceAddress(text);
  const source = await findSource(pool, adres);
  if (source === undefined) throw new CommandError(`${adres} is not among the sources; see koppelvlak bron list`);
  return source;
}
