/** `koppelvlak bron add` and `bron import`: both show the effect before they carry it out. */
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { type CommandContext, commandWithResult, runCommand } from '../../../commands/run-command.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import { parseOrganisatie } from '../../commands/publish.ts';
import type { NewSource, PlannedSource, SourceTerms } from '../plan-sources.ts';
import { SOURCE_FORMS } from '../source.ts';
import type { Preview } from '../supplier/source-adapter.ts';
import type { OptionName } from './source-list.ts';

type AddOptions = Readonly<Partial<Record<'naam' | 'portal' | 'from' | 'until' | OptionName, string>>> & {
  readonly organisatie?: readonly string[];
  readonly yes?: boolean;
  readonly json?: boolean;
};

const collect = (text: string, before: readonly string[] = []) => [...before, parseOrganisatie(text)];

export function addCommand(terminal: Terminal): Command {
  return commandWithResult(
    'add',
    'follow a feed, or the API of a supplier for one organisation; a known source is changed',
    'bron add https://raad.voorbeeldstad.example/ori/v1',
    'bron add notubiz:281 --organisatie gm0363 --naam "Gemeente Amsterdam" --from 2010-01-01',
    'bron add ibabs:bollenstreek --organisatie gm0553 --naam "Gemeente Lisse" --bodies Lisse',
  )
    .argument('<source>', SOURCE_FORMS)
    .option(
      '--organisatie <code>',
      'take this organisation only; may be given again (required for a supplier)',
      collect,
    )
    .option('--naam <name>', 'name of the organisation (required for a supplier)')
    .option('--portal <url>', "address of the organisation's portal at the supplier")
    .option('--from <date>', 'first day to read from a supplier (YYYY-MM-DD)')
    .option('--until <date>', 'last day to read from a supplier')
    .option(
      '--bodies <regex>',
      'only meeting types, bodies and registers with such a name: a site may serve several organisations',
    )
    .option('--not-bodies <regex>', 'none with such a name')
    .option('--document-types <names>', 'for go v2: types of documents to publish without a meeting')
    .option('--rid-file <path>', 'for parlaeus: file with the key of its API')
    .option('--replaces <source>', 'for go and parlaeus: a removed source, the same system at its former address')
    .option('--yes', 'add it without asking')
    .action((adres: string, options: AddOptions) =>
      runCommand(terminal, { ...options, changes: true }, async (context) => {
        const { organisatie: organisaties, portal: portaal, from: vanaf, until: tot, yes = false, ...same } = options;
        const { toSource } = await import('./source-list.ts');
        await addAll(context, [toSource({ adres, organisaties, portaal, vanaf, tot, ...same })], yes);
      }),
    );
}

export function importCommand(terminal: Terminal): Command {
  const form = 'JSON lines, or CSV with a header: bron, organisatie, naam, portaal, from, until, bodies, not-bodies';
  const description = 'add or change the sources of a list; all of them or none';
  return commandWithResult('import', description, 'bron import bronnen.csv')
    .argument('<file>', form)
    .option('--yes', 'add them without asking')
    .action((file: string, { yes = false, ...options }: { readonly yes?: boolean; readonly json?: boolean }) =>
      runCommand(terminal, { ...options, changes: true }, async (context) => {
        const { readSourceList } = await import('./source-list.ts');
        await addAll(context, await readSourceList(file), yes);
      }),
    );
}

const SHOWN = 10;
const SHOWN_OF_MANY = 3;

type Previewed = PlannedSource & { readonly preview?: Preview };

async function addAll(context: CommandContext, given: readonly NewSource[], yes: boolean): Promise<void> {
  const { database, config, output } = context;
  const { readSources, readNumberedAddresses, saveSources } = await import('../store/sources.ts');
  for (const { corrected } of given) if (corrected !== undefined) output.progress(corrected);
  const existing = await readSources(database.pool);
  const sources = given.map((source) => withKnownVersion(source, existing));
  const { planSources } = await import('../plan-sources.ts');
  const plan = planSources(sources, existing, await readNumberedAddresses(database.pool));
  const judged = await addPreviews(context, plan);
  // A single source without a preview: the result says enough.
  const isTold = judged.length > 1 || judged.some(({ why, preview }) => why !== '' || preview !== undefined);
  for (const { what, source, why, preview } of isTold ? judged : []) {
    output.progress(`${what}: ${source.adres}${why === '' ? '' : ` (${why})`}`);
    const shown = preview?.names.slice(0, sources.length === 1 ? SHOWN : SHOWN_OF_MANY) ?? [];
    for (const name of shown) output.progress(`  ${name}`);
    for (const detail of preview?.unconfirmed ?? []) output.progress(`  not confirmed: ${detail}`);
    if (preview !== undefined) {
      output.progress(`  ${preview.total} in the last quarter, of which ${preview.leftOut} are left out by --bodies`);
    }
  }
  const [first, ...others] = judged.filter(({ what }) => what === 'refused');
  if (first !== undefined) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    throw new CommandError(`nothing was added: ${first.why}${more}`);
  }
  // A wrong name would publish another organisation's data.
  if (judged.some(({ preview }) => preview !== undefined) && !yes) await confirm(context);
  const found = judged.map(({ source, preview }) => ({ ...source, options: preview?.options ?? source.options ?? {} }));
  const done = await saveSources(database.pool, found);
  const adresOf = (what: PlannedSource['what']): string[] =>
    done.filter((one) => one.what === what).map(({ source }) => source.adres);
  const [added, changed, known] = [adresOf('new'), adresOf('changed'), adresOf('same')];
  output.result({ added, changed, known }, () => {
    for (const adres of added) output.line(`Added: ${adres}`);
    for (const adres of changed) output.line(`Changed: ${adres}`);
    for (const adres of known) output.line(`Known already: ${adres}`);
    if (config.raadsfeed.rol !== 'aggregator') {
      output.progress('Sources are followed by a service with RAADSFEED_ROL=aggregator.');
    }
  });
}

function withKnownVersion(source: NewSource, existing: readonly SourceTerms[]): NewSource {
  const version = existing.find(({ adres }) => adres === source.adres)?.options?.version;
  return version === undefined ? source : { ...source, options: { ...source.options, version } };
}

async function addPreviews(context: CommandContext, plan: readonly PlannedSource[]): Promise<readonly Previewed[]> {
  const isNew = ({ what, source }: PlannedSource): boolean =>
    (what === 'new' || what === 'changed') && source.soort === 'leveranciers-api';
  if (!plan.some(isNew)) return plan;
  const { withDependencies } = await import('../dependencies.ts');
  const { previewSource } = await import('../read-now.ts');
  return await withDependencies(context, (deps) =>
    Promise.all(
      plan.map(async (one): Promise<Previewed> => {
        if (!isNew(one)) return one;
        const found = await previewSource(one.source, deps, context.interrupted);
        if (typeof found === 'string') return { ...one, what: 'refused', why: `${one.source.adres}: ${found}` };
        return found === undefined ? one : { ...one, preview: found };
      }),
    ),
  );
}

async function confirm({ terminal }: CommandContext): Promise<void> {
  const { stdin, stderr } = terminal;
  if (!isRecord(stdin) || stdin.isTTY !== true) {
    throw new UsageError('nothing was added: look at the names above, and give --yes');
  }
  const questions = createInterface({ input: terminal.stdin, output: stderr });
  try {
    const answer = await questions.question('Add this? [y/N] ');
    if (!/^(y|yes|j|ja)$/i.test(answer.trim())) throw new CommandError('nothing was added');
  } finally {
    questions.close();
  }
}
