import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { createProgress, type Output } from '../../cli/output.ts';
import { type CommandContext, CommandError, runCommand, UsageError } from '../../cli/run-command.ts';
import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import { limitYoungGeneration } from '../../lib/scheduling.ts';
import type { Terminal } from '../../seams/terminal.ts';
import { type Change, VERWIJDERREDENEN, type Verwijderreden } from '../domain/change.ts';
import { resourceKey } from '../domain/resource.ts';
import type { Missing } from '../writer/publisher.ts';

interface PublishOptions {
  readonly organisatie?: string;
  readonly strict?: boolean;
  readonly partial?: boolean;
  readonly json?: boolean;
}

export function feedPublishCommand(terminal: Terminal): Command {
  return new Command('publish')
    .description('publish lines of NDJSON: {"op","resourceType","data"}, or with resource and verwijderreden')
    .argument('[file...]', 'files to read; none, or -, is standard input')
    .option('--organisatie <code>', 'refuse lines of another organisation', parseOrganisatie)
    .option('--strict', 'stop at the first line that is refused; nothing is published')
    .option('--partial', 'publish the good lines even when others are refused')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed publish vergaderingen.ndjson')
    .action((files: string[], { organisatie, strict = false, partial = false, json }: PublishOptions) =>
      runCommand(terminal, { json: json ?? false }, async (context) => {
        if (strict && partial) throw new UsageError('--strict and --partial exclude each other');
        const { output } = context;
        const result = await publishFeedLines(files, context, {
          strict,
          partial,
          accept:
            organisatie === undefined
              ? undefined
              : ({ resource }) => (resource.organisatiecode === organisatie ? undefined : `is not of ${organisatie}`),
        });
        const { lines, recorded, noOp, refused, faults } = result;
        output.result(result, () => {
          reportFaults(output, faults);
          output.line(`${lines} lines: ${recorded} recorded, ${noOp} no-op, ${refused} refused.`);
        });
        if (refused > 0) throw new CommandError(`${refused} lines were refused; the others are published.`);
      }),
    );
}

interface SyncOptions {
  readonly organisatie: string;
  readonly reden: Verwijderreden;
  readonly toelichting?: string;
  readonly allowMassDelete?: boolean;
  readonly json?: boolean;
}

export function feedSyncCommand(terminal: Terminal): Command {
  return new Command('sync')
    .description('bring the feed to a full state of an organisation: publishes what differs, deletes what is not there')
    .argument('[file...]', 'files with an upsert for every resource; none, or -, is standard input')
    .requiredOption('--organisatie <code>', 'the organisation that the state is of', parseOrganisatie)
    .addOption(
      new Option('--reden <reden>', 'verwijderreden of what is deleted')
        .choices(VERWIJDERREDENEN)
        .default('ingetrokken'),
    )
    .option('--toelichting <text>', 'toelichting of what is deleted')
    .option('--allow-mass-delete', 'delete even when it is more than a tenth of what the organisation has')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed sync --organisatie gm9901 stand.ndjson')
    .action((files: string[], options: SyncOptions) =>
      runCommand(terminal, options, async (context) => {
        const { organisatie, reden, toelichting } = options;
        requireToelichting(reden, toelichting);
        const { createPublisher, findMissing, publishRemovals } = await import('../writer/publisher.ts');
        const { database, clock, proof, output, interrupted } = context;
        const keys = new Set<string>();
        let missing: Missing | undefined;
        const { lines, recorded, noOp } = await publishFeedLines(files, context, {
          strict: false,
          partial: false,
          accept: ({ op, resourceType, resource }) => {
            if (op !== 'upsert') return 'a full state has upserts only';
            if (resource.organisatiecode !== organisatie) return `is not of ${organisatie}`;
            if (missing !== undefined) return undefined;
            const key = resourceKey(resourceType, resource);
            if (keys.has(key)) return 'the resource is there twice';
            keys.add(key);
            return undefined;
          },
          checked: async () => {
            missing = await findMissing(database.pool, organisatie, keys, { verwijderreden: reden, toelichting });
            if (missing.isMassDelete && options.allowMassDelete !== true) {
              throw new CommandError(
                `${missing.removals.length} of the ${missing.present} resources of ${organisatie} are not in this state. ` +
                  'That is more than a tenth: nothing was published. Is the state complete? Then add --allow-mass-delete.',
              );
            }
          },
        });
        const deleted =
          missing === undefined
            ? 0
            : await publishRemovals(
                database.pool,
                createPublisher({ pool: database.pool, clock, proof }),
                missing,
                interrupted,
              );
        output.result({ lines, recorded, noOp, deleted }, () => {
          output.line(`${lines} resources: ${recorded} recorded, ${noOp} no-op; ${deleted} others deleted.`);
        });
      }),
    );
}

interface Fault {
  readonly file: string;
  readonly line: number;
  readonly faults: readonly string[];
}

interface FeedLinesResult {
  readonly lines: number;
  readonly recorded: number;
  readonly noOp: number;
  readonly refused: number;
  /** The first thousand. */
  readonly faults: readonly Fault[];
}

interface FeedLinesOptions {
  readonly strict: boolean;
  readonly partial: boolean;
  /** What is wrong with a valid line for this command, if anything. May be called twice for a line. */
  readonly accept?: ((change: Change) => string | undefined) | undefined;
  /** Called once all lines are checked and before any is published; throws to publish nothing. */
  readonly checked?: () => Promise<void>;
}

/** Stops the check at the first refused line. */
class FirstFault extends Error {
  readonly found: FeedLinesResult;
  constructor(found: FeedLinesResult) {
    super('a line is refused');
    this.found = found;
  }
}

function resultOf(error: unknown): FeedLinesResult {
  if (error instanceof FirstFault) return error.found;
  throw error;
}

/** How many faults are reported one by one; the others are only counted. */
const MAX_REPORTED_FAULTS = 1000;

/**
 * Publishes the lines of files. Unless `partial`, reads everything twice: to check it, and to publish it when nothing was refused.
 * @throws {CommandError} when lines were refused and nothing was published
 */
async function publishFeedLines(
  files: readonly string[],
  { terminal, database, clock, proof, output, interrupted }: CommandContext,
  { strict, partial, accept, checked }: FeedLinesOptions,
): Promise<FeedLinesResult> {
  const { createLineValidator } = await import('../writer/line-validator.ts');
  const { publishLines } = await import('../writer/publish-lines.ts');
  const { createPublisher } = await import('../writer/publisher.ts');
  limitYoungGeneration();
  const validate = createLineValidator();
  const publisher = createPublisher({ pool: database.pool, clock, proof });
  const input = await openFeedInput(terminal, files, { twice: !partial, signal: interrupted });

  const run = async (publish: boolean): Promise<FeedLinesResult> => {
    const total = { lines: 0, recorded: 0, noOp: 0, refused: 0 };
    const faults: Fault[] = [];
    const progress = createProgress(terminal, publish ? 'published' : 'checked', input.bytes);
    for (const { name, open } of input.files) {
      const before = total.lines;
      const counts = await publishLines(progress.counting(open()), {
        validate,
        accept,
        publisher: publish ? publisher : undefined,
        signal: interrupted,
        refused: (line, reasons, { lines, refused }) => {
          const fault = { file: name, line, faults: reasons };
          if (faults.length < MAX_REPORTED_FAULTS) faults.push(fault);
          if (strict) throw new FirstFault({ lines: before + lines, recorded: 0, noOp: 0, refused, faults });
        },
        progress: (now) => progress.update(before + now.lines),
      });
      for (const key of ['lines', 'recorded', 'noOp', 'refused'] as const) total[key] += counts[key];
    }
    progress.end();
    return { ...total, faults };
  };

  try {
    if (!partial) {
      const found = await run(false).catch(resultOf);
      if (found.refused > 0) {
        output.result(found, () => reportFaults(output, found.faults));
        throw new CommandError(`${found.refused} of ${found.lines} lines are refused; nothing was published.`);
      }
    }
    await checked?.();
    return await run(true);
  } finally {
    await input.close();
  }
}

function reportFaults(output: Output, faults: readonly Fault[]): void {
  for (const fault of faults) output.progress(explain(fault));
}

function explain({ file, line, faults }: Fault): string {
  return `${file}:${line}: ${faults.join('; ')}`;
}

interface InputFile {
  readonly name: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** The files to read; standard input may be one of them. */
interface FeedInput {
  readonly files: readonly InputFile[];
  /** Their total size; `undefined` when standard input is read as it comes. */
  readonly bytes: number | undefined;
  readonly close: () => Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Opens the input. What is read twice (to check, then to publish) must be a regular file: standard input or a named pipe is copied to a
 * temporary one until `close`.
 * @throws {CommandError} when a file cannot be read
 */
async function openFeedInput(
  { stdin }: Pick<Terminal, 'stdin'>,
  names: readonly string[],
  { twice, signal }: { twice: boolean; signal: AbortSignal },
): Promise<FeedInput> {
  const asked = names.length === 0 ? ['-'] : names;
  if (asked.filter((name) => name === '-').length > 1) throw new CommandError('standard input can be read only once');
  let dir: string | undefined;
  const close = async (): Promise<void> => {
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  };
  try {
    const files: InputFile[] = [];
    let bytes: number | undefined = 0;
    for (const given of asked) {
      const name = given === '-' ? 'standard input' : given;
      const source = (path: string): Readable =>
        path === '-' ? stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
      const isRegular = given !== '-' && (await isFile(given));
      let path = given;
      if (twice && !isRegular) {
        dir ??= await mkdtemp(join(tmpdir(), 'koppelvlak-feed-'));
        path = join(dir, `${files.length}.ndjson`);
        await pipeline(source(given), createWriteStream(path, { mode: 0o600 }), { signal });
      }
      files.push({ name, open: () => stoppedBy(signal, source(path)) });
      if (!twice && !isRegular) bytes = undefined;
      else if (bytes !== undefined) bytes += (await stat(path)).size;
    }
    return { files, bytes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Input may stay silent for long; an interrupt must not wait for it. */
function stoppedBy(signal: AbortSignal, source: Readable): Readable {
  const end = (): void => {
    source.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return source;
}

/** Whether the file can be read again, which a pipe cannot. */
async function isFile(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new CommandError(`${path} is a directory`);
    return found.isFile();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The code of an organisation, as an option of a command. */
export function parseOrganisatie(text: string): string {
  const code = normaliseOrganisatiecode(text);
  if (code === undefined) throw new InvalidArgumentError('A code is gm and 4 digits, pv and 2, or ws and 4.');
  return code;
}

/** @throws {UsageError} when the reason needs an explanation that is not there */
export function requireToelichting(reden: Verwijderreden, toelichting: string | undefined): void {
  if (reden === 'overig' && (toelichting ?? '') === '') throw new UsageError('--reden overig needs --toelichting');
  if (toelichting !== undefined && !/^[^\0]{1,2000}$/s.test(toelichting)) {
    throw new UsageError('--toelichting is a text of 1 to 2000 characters');
  }
}
