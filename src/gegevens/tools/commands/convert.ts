import { closeSync, openSync, writeSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { runTool, type ToolContext } from '../../../commands/run-command.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import { createProgress, written } from '../../../lib/output.ts';
import { limitYoungGeneration } from '../../../lib/scheduling.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import type { ConvertedFile, Named } from '../convert/convert-file.ts';
import type { LossReason } from '../convert/convert-value.ts';
import { faultLine } from './options.ts';

interface ConvertOptions {
  readonly from: string;
  readonly to: string;
  readonly out?: string;
  readonly losses?: string;
  readonly json?: boolean;
}

const VERSIONS = ['1.0', '1.1', '1.1-draft', '1.2'];

const HELP = `
Without --out the converted file goes to standard output, and what is lost to standard error. Citizen service numbers and names are never shown: a record is named by its place and the supplier's own key.

Exit status: 0 the file is written, and everything that has no place in the other model is named; 1 nothing is written: the file is
not of the model of --from, or the other model refuses records; 2 wrong usage.

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
    .option('--json', 'one machine-readable result; needs --out')
    .addHelpText('after', HELP)
    .action((file: string, options: ConvertOptions) =>
      runTool(terminal, options, (context) => convert(context, file, options)),
    );
}

async function convert(context: ToolContext, path: string, options: ConvertOptions): Promise<void> {
  const { interrupted: signal, terminal } = context;
  const { out, losses } = options;
  await checkUsage(path, options);
  // Records are short-lived: a large young generation would only use more memory.
  limitYoungGeneration();
  const { convertFile } = await import('../convert/convert-file.ts');
  const { OWNER_ONLY, writeWhole } = await import('../delivery-files.ts');
  const { Faults } = await import('../../import/faults.ts');
  const { loadModel } = await import('../../../lib/exchange-model/model.ts');
  const [from, to] = [loadModel('vs', options.from), loadModel('vs', options.to)];
  const faults = new Faults();
  const list = losses === undefined ? undefined : openSync(losses, 'w', OWNER_ONLY);
  const progress = createProgress(terminal, 'records', (await stat(path)).size);
  let converted: ConvertedFile | undefined;
  try {
    converted = await convertFile({
      path,
      from,
      to,
      signal,
      faults,
      lost: (loss) => {
        if (list !== undefined) writeSync(list, `${JSON.stringify(loss)}\n`);
      },
      progress: (bytesRead, records) => {
        progress.reached(bytesRead);
        progress.update(records);
      },
    });
    if (converted === undefined) {
      const shown = faults.list.map((fault) => `  ${faultLine(fault)}`);
      const what = `${path}: nothing written: not a file of model ${options.from}`;
      throw new CommandError([what, ...shown].join('\n'));
    }
    const { message, envelop, refusedCount } = converted;
    const text = refusedCount === 0 ? message.text(envelop) : [];
    if (out === undefined) for (const piece of text) await written(terminal.stdout, piece, signal);
    else if (refusedCount === 0) await writeWhole(out, text, signal);
    progress.end();
    report(context, path, options, converted);
    if (refusedCount > 0)
      throw new CommandError(`${path}: nothing written: model ${options.to} refuses ${refusedCount} part(s) of it`);
  } finally {
    progress.end();
    converted?.message.close();
    if (list !== undefined) closeSync(list);
  }
}

/** @throws {UsageError} */
async function checkUsage(path: string, { from, to, out, losses, json }: ConvertOptions): Promise<void> {
  if (json === true && out === undefined) throw new UsageError('--json needs --out: standard output has the file');
  if (from === to) throw new UsageError('--from and --to are the same model');
  const own = await realpath(path).catch((cause: unknown) => {
    throw new CommandError(`${path} cannot be read`, { cause });
  });
  for (const other of [out, losses]) {
    if (other !== undefined && (await realpath(other).catch(() => undefined)) === own) {
      throw new UsageError(`${other} is the file that is converted`);
    }
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

function report(
  { output, terminal }: ToolContext,
  path: string,
  { from, to, out }: ConvertOptions,
  { message, records, zaken, losses, refused, refusedCount }: ConvertedFile,
): void {
  const line = (text: string): void => {
    if (out === undefined) terminal.stderr.write(`${text}\n`);
    else output.line(text);
  };
  const result = { file: path, from, to, written: refusedCount === 0 ? out : null };
  const counts = { leveringen: message.leveringen.length, records, zaken, refusedCount };
  output.result({ ...result, ...counts, losses, refused }, () => {
    line(`${path}: model ${from} to ${to}, ${records} records, ${zaken} zaken`);
    for (const { member, reason, value, count, places } of losses) {
      line(`  ${member}  ${count} x ${REASONS[reason](to, value)}`);
      for (const each of places) line(`    ${nameOf(each)}`);
      if (count > places.length) line(`    and ${count - places.length} more; --losses FILE lists all`);
    }
    if (losses.length === 0) line('  nothing is lost');
    if (refusedCount > 0) line(`  refused by model ${to}, nothing written:`);
    for (const each of refused) line(`    ${nameOf(each)}  ${each.faults.join('; ')}`);
    if (refusedCount > refused.length) line(`    and ${refusedCount - refused.length} more`);
    if (refusedCount === 0 && out !== undefined) line(`written to ${out}`);
  });
}

function nameOf({ place, key }: Named): string {
  return key === undefined ? place || '/' : `${place} (${key})`;
}
