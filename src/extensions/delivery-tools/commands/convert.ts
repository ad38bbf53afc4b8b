import { createWriteStream } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { createProgress, written } from '../../../cli/output.ts';
import { CommandError, runTool, type ToolContext, UsageError } from '../../../cli/run-command.ts';
import { limitYoungGeneration } from '../../../lib/scheduling.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import type { LossReason } from '../convert/convert-value.ts';
import type { Converter, Judgement, NamedLoss, Refusal } from '../convert/judge-file.ts';

interface ConvertOptions {
  readonly from: string;
  readonly to: string;
  readonly out?: string;
  readonly losses?: string;
  readonly leaveOut?: boolean;
  readonly json?: boolean;
}

const VERSIONS = ['1.0', '1.1', '1.1-draft', '1.2'];

const HELP = `
Without --out the converted file goes to standard output, and what is lost to standard error. Citizen service numbers and names are
never shown: a record is named by its place and the supplier's own key.

Exit status: 0 the file is written, and everything that has no place in the other model is named; 1 nothing is written: the file is
not of the model of --from, or the other model refuses records (see --leave-out); 2 wrong usage.

Example:
  $ koppelvlak gegevens convert vs-2026-q1.json --from 1.1 --to 1.2 --out vs-2026-q1-1.2.json`;

export function convertCommand(terminal: Terminal): Command {
  return new Command('convert')
    .description('rewrite a file of one model of early warning (VS) into another')
    .argument('<file>', 'JSON file')
    .addOption(new Option('--from <version>', 'model of the file').choices(VERSIONS).makeOptionMandatory())
    .addOption(new Option('--to <version>', 'model to convert to').choices(VERSIONS).makeOptionMandatory())
    .option('--out <file>', 'where to write; it appears there when it is complete')
    .option('--losses <file>', 'write everything that is lost, a line of JSON each')
    .option('--leave-out', 'leave out the records that the other model refuses')
    .option('--json', 'one machine-readable result; needs --out')
    .addHelpText('after', HELP)
    .action((file: string, options: ConvertOptions) =>
      runTool(terminal, options, (context) => convert(context, file, options)),
    );
}

/** At most so many places of one kind are shown. */
const SHOWN = 100;

/** Losses of one kind. */
interface LossKind extends Pick<NamedLoss, 'member' | 'reason' | 'value'> {
  count: number;
  readonly places: Pick<NamedLoss, 'place' | 'key'>[];
}

/** What is found about a file; bounded, however many records it has. */
interface Findings {
  readonly losses: Map<string, LossKind>;
  refusedCount: number;
  /** Whether everything that is refused can be left out. */
  areItems: boolean;
  readonly refused: Refusal[];
}

async function convert(context: ToolContext, path: string, options: ConvertOptions): Promise<void> {
  const { interrupted: signal, terminal } = context;
  await checkUsage(path, options);
  // Records live for a moment: a large young generation would only be more memory.
  limitYoungGeneration();
  const { createConverter, judgeFile } = await import('../convert/judge-file.ts');
  const { loadModel } = await import('../../../gegevens/model/model.ts');
  const converter = createConverter(loadModel('vs', options.from), loadModel('vs', options.to));
  const findings: Findings = { losses: new Map(), refusedCount: 0, areItems: true, refused: [] };
  const list = options.losses === undefined ? undefined : openLossList(options.losses);
  const { size } = await stat(path);
  // The file is read twice.
  const progress = createProgress(terminal, 'records', 2 * size);
  try {
    const judgement = await judgeFile({
      ...{ path, converter, signal },
      lost: (loss) => {
        add(findings, loss);
        list?.add(loss);
      },
      refused: (refusal) => {
        findings.refusedCount += 1;
        if (!refusal.isItem) findings.areItems = false;
        if (findings.refused.length < SHOWN) findings.refused.push(refusal);
      },
      progress: async (bytesRead, records) => {
        progress.reached(bytesRead);
        progress.update(records);
        await list?.drained();
      },
    }).catch((error: unknown) => explainFaults(error, { path, converter, context }));
    await list?.end();
    const isWritten = isAcceptable(findings, options);
    if (isWritten) {
      await writeResult(context, path, options.out, {
        ...{ converter, judgement },
        progress: (bytesRead, records) => {
          progress.reached(size + bytesRead);
          progress.update(records);
        },
      });
    }
    progress.end();
    report(context, { path, options, judgement, findings, isWritten });
  } finally {
    progress.end();
    await list?.end();
  }
  if (!isAcceptable(findings, options)) {
    const what = `model ${options.to} refuses ${findings.areItems ? `${findings.refusedCount} record(s)` : 'the levering or the message itself'}`;
    const advice = findings.areItems ? '; --leave-out writes the others' : '';
    throw new CommandError(`${path}: nothing written: ${what}${advice}`);
  }
}

function isAcceptable({ refusedCount, areItems }: Findings, { leaveOut = false }: ConvertOptions): boolean {
  return refusedCount === 0 || (leaveOut && areItems);
}

/** @throws {UsageError} */
async function checkUsage(path: string, { from, to, out, losses, json }: ConvertOptions): Promise<void> {
  if (from === to) throw new UsageError('--from and --to are the same model');
  if (json === true && out === undefined) throw new UsageError('--json needs --out: standard output has the result');
  const own = await realpath(path).catch((cause: unknown) => {
    throw new CommandError(`${path} cannot be read`, { cause });
  });
  for (const other of [out, losses]) {
    if (other !== undefined && (await realpath(other).catch(() => undefined)) === own) {
      throw new UsageError(`${other} is the file that is converted`);
    }
  }
}

function add({ losses }: Findings, { member, reason, value, place, key }: NamedLoss): void {
  const name = JSON.stringify([member, reason, value]);
  const kind = losses.get(name) ?? { member, reason, ...(value === undefined ? {} : { value }), count: 0, places: [] };
  kind.count += 1;
  if (kind.places.length < SHOWN) kind.places.push({ place, ...(key === undefined ? {} : { key }) });
  losses.set(name, kind);
}

/** A file of lines that grows while the other is read. */
function openLossList(path: string) {
  const stream = createWriteStream(path, { mode: 0o600 });
  const failed = new Promise<never>((_resolve, reject) => {
    stream.once('error', (cause) => reject(new CommandError(`${path} cannot be written`, { cause })));
  });
  failed.catch(() => undefined);
  let lines: string[] = [];
  let ended: Promise<void> | undefined;
  const drained = async (): Promise<void> => {
    const text = lines.join('');
    lines = [];
    const written = new Promise<void>((resolve) => {
      stream.write(text, () => resolve());
    });
    await Promise.race([written, failed]);
  };
  return {
    add: (loss: NamedLoss): void => {
      lines.push(`${JSON.stringify(loss)}\n`);
    },
    drained,
    end: (): Promise<void> => {
      ended ??= drained().finally(() => {
        stream.end();
      });
      return ended;
    },
  };
}

/** @throws {CommandError} always: with the faults of the file and, when it is one, the model that it is of */
async function explainFaults(
  error: unknown,
  { path, converter, context }: { path: string; converter: Converter; context: ToolContext },
): Promise<never> {
  const { NotOfModel } = await import('../convert/judge-file.ts');
  if (!(error instanceof NotOfModel)) throw error;
  const { recogniseModel } = await import('../../../gegevens/store/import-file.ts');
  const other = await recogniseModel(path, converter.from, context.interrupted);
  const hint = other === undefined ? [] : [`  this is a file of model ${other}; use --from ${other}`];
  const faults = error.faults.map(({ line, pointer, message }) => `  line ${line}  ${pointer || '/'}  ${message}`);
  const what = `${path}: nothing written: not a file of model ${converter.from.mapping.versie}`;
  throw new CommandError([what, ...hint, ...faults].join('\n'));
}

interface ResultOptions {
  readonly converter: Converter;
  readonly judgement: Judgement;
  readonly progress: (bytesRead: number, records: number) => void;
}

async function writeResult(
  { terminal, interrupted: signal }: ToolContext,
  path: string,
  out: string | undefined,
  options: ResultOptions,
): Promise<void> {
  const { writeConverted } = await import('../convert/write-file.ts');
  if (out === undefined) {
    const { stdout } = terminal;
    const write = (piece: Buffer): Promise<void> => written(stdout, piece, signal);
    return await writeConverted({ ...options, path, signal, write });
  }
  const part = `${out}.part`;
  const file = await open(part, 'w', 0o600).catch((cause: unknown) => {
    throw new CommandError(`${part} cannot be written`, { cause });
  });
  try {
    await writeConverted({
      ...options,
      ...{ path, signal },
      write: async (piece) => {
        await file.writeFile(piece);
      },
    });
    await file.close();
    await rename(part, out);
  } catch (error) {
    await file.close();
    await rm(part, { force: true });
    throw error;
  }
}

const REASONS: Readonly<Record<LossReason, (to: string, value: string | undefined) => string>> = {
  'no-member': (to) => `dropped: model ${to} has no such member`,
  'no-value': (to, value) =>
    `dropped: ${value === undefined ? 'its value' : `"${value}"`} has no counterpart in model ${to}`,
  'not-beside': (to) => `dropped: model ${to} does not allow it beside the others`,
  twice: () => 'dropped: another member already has its name',
  number: () => 'is a number that cannot be rewritten exactly',
};

interface Report {
  readonly path: string;
  readonly options: ConvertOptions;
  readonly judgement: Judgement;
  readonly findings: Findings;
  readonly isWritten: boolean;
}

function report({ output, terminal }: ToolContext, { path, options, judgement, findings, isWritten }: Report): void {
  const { from, to, out } = options;
  const { records, zaken, changed, delivery } = judgement;
  const losses = [...findings.losses.values()];
  const { refused, refusedCount } = findings;
  const result = { file: path, from, to, written: isWritten ? (out ?? '-') : null };
  const counts = { leveringen: delivery.leveringen.length, records, zaken, changed, refusedCount };
  output.result({ ...result, ...counts, losses, refused }, () => {
    // Standard output may hold the converted file.
    const line = (text: string): void => {
      if (out === undefined) terminal.stderr.write(`${text}\n`);
      else output.line(text);
    };
    line(`${path}: model ${from} to ${to}, ${records} records, ${zaken} zaken, ${changed} of them rewritten`);
    for (const { member, reason, value, count, places } of losses) {
      line(`  ${member}  ${count} x ${REASONS[reason](to, value)}`);
      for (const each of places) line(`    ${nameOf(each)}`);
      if (count > places.length) line(`    and ${count - places.length} more; --losses FILE lists all`);
    }
    if (losses.length === 0) line('  nothing is lost');
    if (refusedCount > 0) line(`  refused by model ${to}, ${isWritten ? 'left out' : 'nothing written'}:`);
    for (const each of refused) line(`    ${nameOf(each)}  ${each.faults.join('; ')}`);
    if (refusedCount > refused.length) line(`    and ${refusedCount - refused.length} more`);
    if (isWritten && out !== undefined) line(`written to ${out}`);
  });
}

function nameOf({ place, key }: { readonly place: string; readonly key?: string }): string {
  return key === undefined ? place || '/' : `${place} (${key})`;
}
