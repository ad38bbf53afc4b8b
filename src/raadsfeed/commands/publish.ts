import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { type CommandContext, commandWithResult, runCommand } from '../../commands/run-command.ts';
import { CommandError, UsageError } from '../../lib/command-error.ts';
import { normaliseOrganisatiecode, type Resource, resourceKey } from '../../lib/feed/resource.ts';
import { createProgress, type Output } from '../../lib/output.ts';
import { limitYoungGeneration } from '../../lib/scheduling.ts';
import type { Terminal } from '../../lib/terminal.ts';
import type { PubliceerRegel } from '../domain/change.ts';
import type { Missing } from '../writer/publisher.ts';

interface PublishOptions {
  readonly organisatie?: string;
  readonly strict?: boolean;
  readonly partial?: boolean;
  readonly json?: boolean;
}

export function feedPublishCommand(terminal: Terminal): Command {
  return commandWithResult(
    'publish',
    'publish lines of NDJSON: {"op","resourceType","data"}, or with resource and verwijderreden',
    'feed publish vergaderingen.ndjson',
  )
    .argument('[file...]', 'files to read; none, or -, is standard input')
    .option('--organisatie <code>', 'refuse lines of another organisation', parseOrganisatie)
    .option('--strict', 'stop at the first line that is refused; nothing is published')
    .option('--partial', 'publish the valid lines even when others are refused')
    .action((files: string[], options: PublishOptions) =>
      runCommand(terminal, { ...options, changes: true }, async (context) => {
        const { organisatie, strict, partial } = options;
        if (strict && partial) throw new UsageError('--strict and --partial exclude each other');
        const { output } = context;
        const accept: Accept = (_line, { organisatiecode }) =>
          organisatie === undefined || organisatiecode === organisatie ? undefined : `is not of ${organisatie}`;
        const result = await publishFeedLines(files, context, { strict, partial, accept });
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
  readonly allowMassDelete?: boolean;
  readonly json?: boolean;
}

export function feedSyncCommand(terminal: Terminal): Command {
  return commandWithResult(
    'sync',
    'bring the feed to the full state of an organisation: publishes differences, deletes missing resources',
    'feed sync --organisatie gm9901 stand.ndjson',
  )
    .argument('[file...]', 'files with an upsert for every resource; none, or -, is standard input')
    .requiredOption('--organisatie <code>', 'the organisation that the state is of', parseOrganisatie)
    .option('--allow-mass-delete', 'delete even when it is more than a tenth of the resources of the organisation')
    .action((files: string[], options: SyncOptions) =>
      runCommand(terminal, { ...options, changes: true }, async (context) => {
        const { organisatie, allowMassDelete = false } = options;
        const { createPublisher, findMissing, publishRemovals } = await import('../writer/publisher.ts');
        const { database, clock, proof, output, interrupted } = context;
        const keys = new Set<string>();
        let missing: Missing | undefined;
        const { lines, recorded, noOp } = await publishFeedLines(files, context, {
          accept: ({ op, resourceType }, resource) => {
            if (op !== 'upsert') return 'a full state has upserts only';
            if (resource.organisatiecode !== organisatie) return `is not of ${organisatie}`;
            // Lines are read a second time when they are published.
            if (missing !== undefined) return undefined;
            const before = keys.size;
            return keys.add(resourceKey({ resourceType, resource })).size > before
              ? undefined
              : 'the resource occurs twice';
          },
          checked: async () => {
            missing = await findMissing(database.pool, organisatie, keys);
            if (missing.isMassDelete && !allowMassDelete) {
              throw new CommandError(
                `${missing.removals.length} of the ${missing.present} resources of ${organisatie} are not in this state. ` +
                  'That is more than a tenth: nothing was published. Is the state complete? Then add --allow-mass-delete.',
              );
            }
          },
        });
        const publisher = createPublisher({ pool: database.pool, clock, proof });
        const deleted = missing === undefined ? 0 : await publishRemovals(publisher, missing, interrupted);
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

/** Why a command does not accept a valid line, if so. May be called twice for a line. */
type Accept = (line: PubliceerRegel, resource: Resource) => string | undefined;

interface FeedLinesOptions {
  readonly strict?: boolean | undefined;
  readonly partial?: boolean | undefined;
  readonly accept: Accept;
  /** Called once all lines are checked and before any is published; throws to publish nothing. */
  readonly checked?: () => Promise<void>;
}

const MAX_REPORTED_FAULTS = 1000;

/**
 * Publishes the lines of files. Unless `partial`, reads everything twice: to check it, and to publish it when nothing was refused.
 * @throws {CommandError} when lines were refused and nothing was published
 */
async function publishFeedLines(
  names: readonly string[],
  { terminal, database, clock, proof, output, interrupted: signal }: CommandContext,
  { strict = false, partial = false, accept, checked }: FeedLinesOptions,
) {
  const { createLineValidator } = await import('../writer/line-validator.ts');
  const { publishLines } = await import('../writer/publish-lines.ts');
  const { createPublisher } = await import('../writer/publisher.ts');
  limitYoungGeneration();
  const validate = createLineValidator();
  const publisher = createPublisher({ pool: database.pool, clock, proof });
  const files = names.length === 0 ? ['-'] : names;
  if (files.filter((name) => name === '-').length > 1) throw new CommandError('standard input can be read only once');
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-feed-'));
  const copy = join(dir, 'input.ndjson');
  const stdin = addAbortSignal(signal, terminal.stdin);

  const run = async (publish: boolean) => {
    const counts = { lines: 0, recorded: 0, noOp: 0, refused: 0 };
    const faults: Fault[] = [];
    const progress = createProgress(terminal, publish ? 'published' : 'checked', undefined);
    for (const name of files) {
      if (strict && counts.refused > 0) break;
      const source = name === '-' && partial ? stdin : createReadStream(name === '-' ? copy : name, { signal });
      await publishLines(source, counts, {
        validate,
        accept,
        signal,
        strict,
        publisher: publish ? publisher : undefined,
        refused: (line, reasons) => {
          const file = name === '-' ? 'standard input' : name;
          if (faults.length < MAX_REPORTED_FAULTS) faults.push({ file, line, faults: reasons });
        },
        progress: (lines) => progress.update(lines),
      });
    }
    progress.end();
    return { ...counts, faults };
  };

  try {
    for (const name of files.filter((one) => one !== '-')) await requireFile(name, partial);
    if (!partial) {
      if (files.includes('-')) await pipeline(stdin, createWriteStream(copy, { mode: 0o600 }), { signal });
      const found = await run(false);
      if (found.refused > 0) {
        output.result(found, () => reportFaults(output, found.faults));
        throw new CommandError(`${found.refused} of ${found.lines} lines are refused; nothing was published.`);
      }
    }
    await checked?.();
    return await run(true);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function reportFaults(output: Output, faults: readonly Fault[]): void {
  for (const { file, line, faults: reasons } of faults) output.progress(`${file}:${line}: ${reasons.join('; ')}`);
}

/** @throws {CommandError} when a file cannot be read, or can be read only once and must be read twice */
async function requireFile(path: string, once: boolean): Promise<void> {
  const found = await stat(path).catch((error: Error) => {
    throw new CommandError(`${path} cannot be read: ${error.message}`);
  });
  if (!found.isFile() && (found.isDirectory() || !once)) {
    throw new CommandError(`${path} is not a regular file; what a pipe gives is read from standard input`);
  }
}

export function parseOrganisatie(text: string): string {
  const code = normaliseOrganisatiecode(text);
  if (code === undefined) throw new InvalidArgumentError('A code is gm and 4 digits, pv and 2, or ws and 4.');
  return code;
}
