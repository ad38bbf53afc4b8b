import { stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import type { ImportFault } from '../../gegevens/domain/import/faults.ts';
import type { Variant } from '../../gegevens/domain/model/mapping.ts';
import { createProgress } from '../progress.ts';
import type { CommandContext } from '../run-command.ts';
import { CommandError, runCommand } from '../run-command.ts';

interface Options {
  readonly variant: Variant;
  readonly json?: boolean;
}

interface FileResult {
  readonly file: string;
  readonly period?: { readonly start: string; readonly end: string };
  readonly leveringen?: number;
  readonly records?: number;
  readonly zaken?: number;
  readonly replaced?: number;
  readonly bytes?: number;
  readonly faults?: readonly ImportFault[];
  readonly error?: string;
}

export function importCommand(): Command {
  return new Command('import')
    .description('load files of the exchange model; each is stored whole or not at all')
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']).makeOptionMandatory())
    .option('--json', 'one machine-readable result')
    .argument('<file...>', 'JSON files')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens import --variant shv 2026-q1.json')
    .action((files: string[], options: Options) =>
      runCommand(options, async (context) => {
        const results: FileResult[] = [];
        for (const file of files) results.push(await importOne(context, options.variant, file));
        context.output.result({ files: results }, () => {
          for (const result of results) describe(context, result);
        });
        const failed = results.filter(({ leveringen }) => leveringen === undefined).length;
        if (failed > 0) throw new CommandError(`${failed} of ${files.length} files not stored`);
      }),
    );
}

async function importOne(
  { platform, interrupted }: CommandContext,
  variant: Variant,
  path: string,
): Promise<FileResult> {
  const { loadModel } = await import('../../gegevens/domain/model/model.ts');
  const { FaultyFile, importFile } = await import('../../gegevens/store/import-file.ts');
  const { gegevens } = platform.config;
  const model = loadModel(variant, variant === 'shv' ? gegevens.shvModel : gegevens.vsModel);
  const progress = createProgress('records checked', (await stat(path).catch(() => undefined))?.size);
  const show = (bytesRead: number, records: number): void => {
    progress.reached(bytesRead);
    progress.tell(records);
  };
  try {
    const imported = await importFile(platform.pool, { path, model, signal: interrupted, progress: show });
    const { leveringen, periodeStart, periodeEinde } = imported.delivery;
    return {
      file: path,
      period: { start: periodeStart, end: periodeEinde },
      leveringen: leveringen.length,
      records: leveringen.reduce((sum, { records }) => sum + records, 0),
      zaken: leveringen.reduce((sum, { zaken }) => sum + zaken, 0),
      replaced: imported.replaced,
      bytes: imported.bytes,
    };
  } catch (error) {
    if (error instanceof FaultyFile) return { file: path, faults: error.faults };
    if (isFileError(error)) return { file: path, error: error.message };
    throw error;
  } finally {
    progress.end();
  }
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'EISDIR'].includes(String(error.code));
}

function describe({ output }: CommandContext, result: FileResult): void {
  const { file, faults, error, period } = result;
  if (faults !== undefined) {
    output.line(`${file}: nothing stored, ${faults.length}${faults.length >= 100 ? ' or more' : ''} fault(s)`);
    for (const fault of faults) output.line(`  line ${fault.line}  ${fault.pointer || '/'}  ${fault.message}`);
  } else if (error !== undefined) output.line(`${file}: ${error}`);
  else {
    const counts = `${result.leveringen} levering(en), ${result.records} records`;
    const zaken = result.zaken ? `, ${result.zaken} zaken` : '';
    const replaced = result.replaced ? `; replaces ${result.replaced} earlier` : '';
    output.line(`${file}: ${period?.start} to ${period?.end}, ${counts}${zaken}${replaced}`);
  }
}
