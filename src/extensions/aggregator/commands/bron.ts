import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { table } from '../../../cli/output.ts';
import { type CommandContext, CommandError, runCommand, UsageError } from '../../../cli/run-command.ts';
import { normaliseOrganisatiecode } from '../../../lib/feed-client/organisatiecode.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { parseOrganisatie } from '../../../raadsfeed/commands/publish.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import type { NewSource, SourceState } from '../store/sources.ts';
import {
  bronCheckCommand,
  bronIssuesCommand,
  bronSwitchCommand,
  bronSyncCommand,
  readSourceAddress,
  requireSource,
  sourceCommand,
} from './bron-sync.ts';

/** `koppelvlak bron …`: the sources that an aggregator follows. */
export function bronCommand(terminal: Terminal): Command {
  return new Command('bron')
    .description('the sources of an aggregator')
    .addCommand(bronAddCommand(terminal))
    .addCommand(bronListCommand(terminal))
    .addCommand(bronPauseCommand(terminal))
    .addCommand(bronResumeCommand(terminal))
    .addCommand(bronRemoveCommand(terminal))
    .addCommand(bronSyncCommand(terminal))
    .addCommand(bronCheckCommand(terminal))
    .addCommand(bronIssuesCommand(terminal))
    .addCommand(bronSwitchCommand(terminal));
}

interface AddOptions {
  readonly organisatie?: readonly string[];
  readonly naam?: string;
  readonly portal?: string;
  readonly from?: string;
  readonly file?: string;
  readonly unchecked?: boolean;
  readonly json?: boolean;
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  parseOrganisatie(text),
];

function bronAddCommand(terminal: Terminal): Command {
  return new Command('add')
    .description('follow a feed, or the API of a supplier for one organisation')
    .argument('[source]', 'address of a service document, or notubiz:<organisation id>')
    .option(
      '--organisatie <code>',
      'take this organisation only; may be given again (required for a supplier)',
      collect,
    )
    .option('--naam <name>', 'name of the organisation (required for a supplier)')
    .option('--portal <url>', "address of the organisation's portal at the supplier")
    .option('--from <date>', 'first day to read from a supplier (YYYY-MM-DD)')
    .option('--file <path>', 'a JSON list of {"adres", "organisaties", "naam", "portaal", "vanaf"}')
    .option('--unchecked', 'add a feed without asking whether it answers')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      '\nExamples:\n  $ koppelvlak bron add https://raad.voorbeeldstad.example/ori/v1\n' +
        '  $ koppelvlak bron add notubiz:281 --organisatie gm0363 --naam "Gemeente Amsterdam" --from 2010-01-01',
    )
    .action((text: string | undefined, options: AddOptions) =>
      runCommand(terminal, options, async (context) => {
        const { database, config, output, interrupted } = context;
        const { addSource } = await import('../store/sources.ts');
        const sources = await readSources(text, options);
        if (options.file === undefined && options.unchecked !== true) {
          for (const source of sources) await checkFeed(context, source, interrupted);
        }
        const added: string[] = [];
        const known: string[] = [];
        for (const source of sources) ((await addSource(database.pool, source)) ? added : known).push(source.adres);
        output.result({ added, known }, () => {
          for (const adres of added) output.line(`Added: ${adres}`);
          for (const adres of known) output.line(`Known already: ${adres}`);
          if (config.raadsfeed.rol !== 'aggregator') {
            output.progress('Sources are followed by a service with RAADSFEED_ROL=aggregator.');
          }
        });
      }),
    );
}

async function readSources(text: string | undefined, options: AddOptions): Promise<NewSource[]> {
  if ((text === undefined) === (options.file === undefined)) throw new UsageError('give a source, or --file');
  if (options.file !== undefined) return await readSourceFile(options.file);
  const { organisatie: organisaties, naam, portal: portaal, from: vanaf } = options;
  return [toSource({ adres: text, organisaties, naam, portaal, vanaf }, 'the source')];
}

async function readSourceFile(path: string): Promise<NewSource[]> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(json)) throw new CommandError(`${path} is no list of sources`);
  return json.map((value: unknown, i) => {
    if (!isRecord(value)) throw new CommandError(`${path}: source ${i + 1} is not an object`);
    const unknown = Object.keys(value).find(
      (name) => !['adres', 'organisaties', 'naam', 'portaal', 'vanaf'].includes(name),
    );
    if (unknown !== undefined) throw new CommandError(`${path}: source ${i + 1} has an unknown member, ${unknown}`);
    return toSource(value, `${path}: source ${i + 1}`);
  });
}

function toSource(value: Record<string, unknown>, where: string): NewSource {
  const text = (name: string): string | undefined => {
    const found = value[name];
    if (found === undefined) return undefined;
    if (typeof found !== 'string' || found.trim() === '') throw new UsageError(`${where}: ${name} is not text`);
    return found;
  };
  const address = readSourceAddress(text('adres') ?? '');
  const { organisaties = [] } = value;
  if (!Array.isArray(organisaties)) throw new UsageError(`${where}: organisaties is not a list`);
  const organisatiecodes = organisaties.map((code) => {
    const known = typeof code === 'string' ? normaliseOrganisatiecode(code) : undefined;
    if (known === undefined) throw new UsageError(`${where}: a code is gm and 4 digits, pv and 2, or ws and 4`);
    return known;
  });
  const [naam, portaal, vanaf] = [text('naam'), text('portaal'), text('vanaf')];
  if (address.kind === 'leveranciers-api' && (organisatiecodes.length !== 1 || naam === undefined)) {
    throw new UsageError(`${where}: a supplier's API is read for one organisation: give one code and its name`);
  }
  if (portaal !== undefined && !/^https?:\/\/[^\s]+$/.test(portaal))
    throw new UsageError(`${where}: the portal is not an address`);
  if (vanaf !== undefined && (!/^\d{4}-\d{2}-\d{2}$/.test(vanaf) || Number.isNaN(Date.parse(vanaf)))) {
    throw new UsageError(`${where}: the first day is not a date (YYYY-MM-DD)`);
  }
  return { adres: address.adres, soort: address.kind, organisatiecodes, naam, portaal, vanaf };
}

/** A feed that does not answer is more often a wrong address than a source that is down, so a new one is asked first. */
async function checkFeed(context: CommandContext, source: NewSource, signal: AbortSignal): Promise<void> {
  if (source.soort !== 'feed') return;
  const { closeDependencies, openDependencies } = await import('../dependencies.ts');
  const { readServiceDocument } = await import('../../../lib/feed-client/client.ts');
  const { findFeedHolder } = await import('../store/leased-source.ts');
  const { pool } = context.database;
  const needs = openDependencies({ ...context, pool });
  let feedUrl: string;
  try {
    const answer = await needs.client.getJson({ url: source.adres, signal, redirects: 'same-host' });
    ({ feedUrl } = readServiceDocument(answer.changed ? answer.json : undefined, answer.url));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${source.adres} gives no service document (${why}); --unchecked adds it all the same`);
  } finally {
    await closeDependencies(needs);
  }
  const holder = await findFeedHolder(pool, feedUrl, null);
  if (holder !== undefined && holder !== source.adres) {
    throw new CommandError(`the feed of ${source.adres}, ${feedUrl}, is followed already, as ${holder}`);
  }
}

function bronListCommand(terminal: Terminal): Command {
  return new Command('list')
    .description('the sources, how far they were read and what is wrong with them')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron list')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ database, output }) => {
        const { readSourceStates } = await import('../store/sources.ts');
        const states = await readSourceStates(database.pool);
        output.result(states, () => {
          if (states.length === 0) output.line('No sources; see koppelvlak bron add --help.');
          else output.line(table(HEAD, states.map(stateCells)));
        });
      }),
    );
}

const HEAD = [
  'source',
  'state',
  'organisations',
  'up to date',
  'lag',
  'behind',
  'refused',
  'withheld',
  'coverage',
  'issues',
];
const SHOWN_ORGANISATIONS = 3;

function stateCells(state: SourceState): string[] {
  const { organisaties, bijgewerkt, behind } = state;
  const more = organisaties.length - SHOWN_ORGANISATIONS;
  return [
    state.adres,
    describe(state),
    organisaties.slice(0, SHOWN_ORGANISATIONS).join(' ') + (more > 0 ? ` and ${more} more` : ''),
    bijgewerkt?.toISOString() ?? 'not yet',
    duration(state.lagSeconds),
    behind === null ? '' : String(behind),
    `${state.geweigerd}${state.openGeweigerd > 0 ? ` (${state.openGeweigerd} open)` : ''}`,
    String(state.achtergehouden),
    state.dekking === null ? '' : `${state.dekking} %`,
    `${state.meldingen}${state.meldingenWeggelaten > 0 ? ` (${state.meldingenWeggelaten} dropped)` : ''}`,
  ];
}

function describe({ toestand, fout, mislukt, fase, bijgewerkt, nietsTeLezen }: SourceState): string {
  if (toestand === 'gepauzeerd') return 'paused';
  if (fout !== null) return `failing (${mislukt}): ${fout}`;
  if (nietsTeLezen) return 'nothing to read: other sources provide all its organisations';
  if (bijgewerkt === null) return 'starting';
  return PHASES[fase];
}

const PHASES = {
  stand: 'reading the snapshot',
  historie: 'reading its history for redactions',
  feed: 'following',
} as const;

/** @param seconds since the source was last read to its end */
function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

function bronPauseCommand(terminal: Terminal): Command {
  const command = sourceCommand('pause', 'stop reading a source; what was published stays', FEED_EXAMPLE);
  return pauses(terminal, command, true);
}

function bronResumeCommand(terminal: Terminal): Command {
  const what = 'read a paused source again; one that waits after a failure is read at once';
  return pauses(terminal, sourceCommand('resume', what, FEED_EXAMPLE), false);
}

const FEED_EXAMPLE = 'https://raad.voorbeeldstad.example/ori/v1';

function pauses(terminal: Terminal, command: Command, paused: boolean): Command {
  return command.action((text: string, options: { json?: boolean }) =>
    runCommand(terminal, options, async ({ database, output }) => {
      const { setPaused } = await import('../store/sources.ts');
      const { id, adres } = await requireSource(database.pool, text);
      await setPaused(database.pool, id, paused);
      output.result({ adres, paused }, () => output.line(`${paused ? 'Paused' : 'Resumed'}: ${adres}`));
    }),
  );
}

function bronRemoveCommand(terminal: Terminal): Command {
  const what = 'forget a source; what was published from it stays in the feed';
  return sourceCommand('remove', what, FEED_EXAMPLE).action((text: string, options: { json?: boolean }) =>
    runCommand(terminal, options, async ({ database, output }) => {
      const { removeSource } = await import('../store/sources.ts');
      const { id, adres } = await requireSource(database.pool, text);
      await removeSource(database.pool, id);
      output.result({ adres, removed: true }, () => output.line(`Removed: ${adres}`));
    }),
  );
}
