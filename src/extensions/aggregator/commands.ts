import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { table } from '../../cli/output.ts';
import { CommandError, commandGroup, runCommand, UsageError } from '../../cli/run-command.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { parseOrganisatie } from '../../raadsfeed/commands/publish.ts';
import { normaliseOrganisatiecode } from '../../raadsfeed/domain/resource.ts';
import type { Terminal } from '../../seams/terminal.ts';
import { feedFollowCommand } from './commands/follow.ts';
import { isDay, readSourceAddress, sourceCommands } from './commands/on-source.ts';
import type { NewSource, SourceState } from './store/sources.ts';

/** Adds `koppelvlak bron …`: the sources that an aggregator follows; and `feed follow`, for whoever follows a feed without being one. */
export function addCommands(program: Command, terminal: Terminal): void {
  const bron = program.command('bron').description('the sources of an aggregator');
  for (const command of [addCommand(terminal), listCommand(terminal), ...sourceCommands(terminal)]) {
    bron.addCommand(command);
  }
  commandGroup(program, 'feed').addCommand(feedFollowCommand(terminal));
}

interface AddOptions {
  readonly organisatie?: readonly string[];
  readonly naam?: string;
  readonly portal?: string;
  readonly from?: string;
  readonly file?: string;
  readonly json?: boolean;
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  parseOrganisatie(text),
];

function addCommand(terminal: Terminal): Command {
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
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      '\nExamples:\n  $ koppelvlak bron add https://raad.voorbeeldstad.example/ori/v1\n' +
        '  $ koppelvlak bron add notubiz:281 --organisatie gm0363 --naam "Gemeente Amsterdam" --from 2010-01-01',
    )
    .action((text: string | undefined, options: AddOptions) =>
      runCommand(terminal, { ...options, changes: true }, async ({ database, config, output }) => {
        const { addSource } = await import('./store/sources.ts');
        const sources = await readSources(text, options);
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
  const { file, organisatie: organisaties, naam, portal: portaal, from: vanaf } = options;
  if ((text === undefined) === (file === undefined)) throw new UsageError('give a source, or --file');
  if (file === undefined) return [toSource({ adres: text, organisaties, naam, portaal, vanaf }, 'the source')];
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(json)) throw new CommandError(`${file} is not a list of sources`);
  return json.map((value: unknown, i) => toSource(value, `${file}: source ${i + 1}`));
}

const MEMBERS = ['adres', 'organisaties', 'naam', 'portaal', 'vanaf'];

function toSource(value: unknown, where: string): NewSource {
  const wrong = (fault: string): UsageError => new UsageError(`${where}: ${fault}`);
  if (!isRecord(value)) throw wrong('is not an object');
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) throw wrong(`has an unknown member, ${unknown}`);
  const text = (name: string): string | undefined => {
    const found = value[name];
    if (found === undefined || (typeof found === 'string' && found.trim() !== '')) return found;
    throw wrong(`${name} is not text`);
  };
  const { organisaties = [] } = value;
  if (!Array.isArray(organisaties)) throw wrong('organisaties is not a list');
  const organisatiecodes = organisaties.map((code) => {
    const known = typeof code === 'string' ? normaliseOrganisatiecode(code) : undefined;
    if (known === undefined) throw wrong('a code is gm and 4 digits, pv and 2, or ws and 4');
    return known;
  });
  const [naam, portaal, vanaf] = [text('naam'), text('portaal'), text('vanaf')];
  const { adres, kind: soort } = readSourceAddress(text('adres') ?? '');
  if (soort === 'leveranciers-api' && (organisatiecodes.length !== 1 || naam === undefined)) {
    throw wrong("a supplier's API is read for one organisation: give one code and its name");
  }
  if (portaal !== undefined && !/^https?:\/\/[^\s]+$/.test(portaal)) throw wrong('the portal is not an address');
  if (vanaf !== undefined && !isDay(vanaf)) throw wrong('the first day is not a date (YYYY-MM-DD)');
  return { adres, soort, organisatiecodes, naam, portaal, vanaf };
}

function listCommand(terminal: Terminal): Command {
  return new Command('list')
    .description('the sources, how far they were read and what is wrong with them')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron list')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ database, output }) => {
        const { readSourceStates } = await import('./store/sources.ts');
        const states = await readSourceStates(database.pool);
        output.result(states, () => {
          if (states.length === 0) output.line('No sources; see koppelvlak bron add --help.');
          else output.line(table(HEAD, states.map(stateCells)));
        });
      }),
    );
}

const HEAD = [
  ...['source', 'state', 'organisations', 'up to date', 'lag', 'behind'],
  ...['refused', 'withheld', 'coverage', 'issues'],
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
    `${Math.round(state.lagSeconds)} s`,
    behind === null ? '' : String(behind),
    `${state.geweigerd}${state.openGeweigerd > 0 ? ` (${state.openGeweigerd} open)` : ''}`,
    String(state.achtergehouden),
    state.dekking === null ? '' : `${state.dekking} %`,
    String(state.meldingen),
  ];
}

function describe({ toestand, fout, mislukt, fase, bijgewerkt }: SourceState): string {
  if (toestand === 'gepauzeerd') return 'paused';
  if (fout !== null) return `failing (${mislukt}): ${fout}`;
  if (bijgewerkt === null) return 'starting';
  return PHASES[fase];
}

const PHASES = {
  stand: 'reading the snapshot',
  historie: 'reading its history for redactions',
  feed: 'following',
} as const;
