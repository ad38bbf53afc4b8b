import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { NewSource } from '../aggregator/store/sources.ts';
import { isRecord } from '../kernel/is-record.ts';
import type { Platform } from '../kernel/platform.ts';
import type { Terminal } from '../kernel/terminal.ts';
import { normaliseOrganisatiecode } from '../raadsfeed/domain/resource.ts';
import { readSourceAddress } from './bron-source.ts';
import { parseOrganisatie } from './feed-options.ts';
import { CommandError, runCommand, UsageError } from './run-command.ts';

interface Options {
  readonly organisatie?: readonly string[];
  readonly naam?: string;
  readonly portaal?: string;
  readonly vanaf?: string;
  readonly file?: string;
  readonly unchecked?: boolean;
  readonly json?: boolean;
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  parseOrganisatie(text),
];

export function bronAddCommand(terminal: Terminal): Command {
  return new Command('add')
    .description('follow a feed, or the API of a supplier for one organisation')
    .argument('[source]', 'address of a service document, or notubiz:<organisation id>')
    .option(
      '--organisatie <code>',
      'take this organisation only; may be given again (required for a supplier)',
      collect,
    )
    .option('--naam <name>', 'name of the organisation (required for a supplier)')
    .option('--portaal <url>', "address of the organisation's portal at the supplier")
    .option('--vanaf <date>', 'first day that is read of a supplier (YYYY-MM-DD)')
    .option('--file <path>', 'a JSON list of {"adres", "organisaties", "naam", "portaal", "vanaf"}')
    .option('--unchecked', 'add a feed without asking whether it answers')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      '\nExamples:\n  $ koppelvlak bron add https://raad.voorbeeldstad.example/ori/v1\n' +
        '  $ koppelvlak bron add notubiz:281 --organisatie gm0363 --naam "Gemeente Amsterdam" --vanaf 2010-01-01',
    )
    .action((text: string | undefined, options: Options) =>
      runCommand(terminal, options, async ({ platform, output, interrupted }) => {
        const { addSource } = await import('../aggregator/store/sources.ts');
        const sources = await readSources(text, options);
        if (options.file === undefined && options.unchecked !== true) {
          for (const source of sources) await checkFeed(platform, source, interrupted);
        }
        const added: string[] = [];
        const known: string[] = [];
        for (const source of sources) ((await addSource(platform.pool, source)) ? added : known).push(source.adres);
        output.result({ added, known }, () => {
          for (const adres of added) output.line(`Added: ${adres}`);
          for (const adres of known) output.line(`Known already: ${adres}`);
          if (platform.config.raadsfeed.rol !== 'aggregator') {
            output.progress('Sources are followed by a service with RAADSFEED_ROL=aggregator.');
          }
        });
      }),
    );
}

async function readSources(text: string | undefined, options: Options): Promise<NewSource[]> {
  if ((text === undefined) === (options.file === undefined)) throw new UsageError('give a source, or --file');
  if (options.file !== undefined) return await readSourceFile(options.file);
  return [toSource({ adres: text, organisaties: options.organisatie, ...options }, 'the source')];
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
    if (!isRecord(value)) throw new CommandError(`${path}: source ${i + 1} is no object`);
    const strange = Object.keys(value).find(
      (name) => !['adres', 'organisaties', 'naam', 'portaal', 'vanaf'].includes(name),
    );
    if (strange !== undefined) throw new CommandError(`${path}: source ${i + 1} has an unknown member, ${strange}`);
    return toSource(value, `${path}: source ${i + 1}`);
  });
}

function toSource(value: Record<string, unknown>, place: string): NewSource {
  const word = (name: string): string | undefined => {
    const found = value[name];
    if (found === undefined) return undefined;
    if (typeof found !== 'string' || found.trim() === '') throw new UsageError(`${place}: ${name} is no text`);
    return found;
  };
  const address = readSourceAddress(word('adres') ?? '');
  const { organisaties = [] } = value;
  if (!Array.isArray(organisaties)) throw new UsageError(`${place}: organisaties is no list`);
  const organisatiecodes = organisaties.map((code) => {
    const known = typeof code === 'string' ? normaliseOrganisatiecode(code) : undefined;
    if (known === undefined) throw new UsageError(`${place}: a code is gm and 4 digits, pv and 2, or ws and 4`);
    return known;
  });
  const [naam, portaal, vanaf] = [word('naam'), word('portaal'), word('vanaf')];
  if (address.kind === 'leveranciers-api' && (organisatiecodes.length !== 1 || naam === undefined)) {
    throw new UsageError(`${place}: a supplier's API is read for one organisation: give one code and its name`);
  }
  if (portaal !== undefined && !/^https?:\/\/[^\s]+$/.test(portaal))
    throw new UsageError(`${place}: portaal is no address`);
  if (vanaf !== undefined && (!/^\d{4}-\d{2}-\d{2}$/.test(vanaf) || Number.isNaN(Date.parse(vanaf)))) {
    throw new UsageError(`${place}: vanaf is no day (YYYY-MM-DD)`);
  }
  return { adres: address.adres, soort: address.kind, organisatiecodes, naam, portaal, vanaf };
}

/** A feed that does not answer now is more often a wrong address than a source that is down. */
async function checkFeed(platform: Platform, source: NewSource, signal: AbortSignal): Promise<void> {
  if (source.soort !== 'feed') return;
  const { closeDependencies, openDependencies } = await import('../aggregator/dependencies.ts');
  const { readServiceDocument } = await import('../feed-client/service-document.ts');
  const { findFeedHolder } = await import('../aggregator/store/progress.ts');
  const needs = openDependencies(platform);
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
  const holder = await findFeedHolder(platform.pool, feedUrl, null);
  if (holder !== undefined && holder !== source.adres) {
    throw new CommandError(`the feed of ${source.adres}, ${feedUrl}, is followed already, as ${holder}`);
  }
}
