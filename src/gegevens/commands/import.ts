import { stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { type CommandContext, runCommand, runTool } from '../../commands/run-command.ts';
import { CommandError } from '../../lib/command-error.ts';
import { reportFailure } from '../../lib/command-line.ts';
import type { Variant } from '../../lib/exchange-model/mapping.ts';
import type { Model } from '../../lib/exchange-model/model.ts';
import { createProgress } from '../../lib/output.ts';
import type { Terminal } from '../../lib/terminal.ts';
import type { Config } from '../../settings/read-config.ts';
import type { ImportFault } from '../import/faults.ts';
import type { BlockingFinding } from '../store/forced-imports.ts';
import type { Change, Conflict, Replacement, ReplaceReason } from '../store/replace-deliveries.ts';
import type { FileFault, GegevensTools, ImportAid, OpenedFile, Report } from './tools.ts';

interface ImportOptions {
  readonly variant: Variant;
  readonly model?: string;
  readonly replace?: boolean;
  readonly json?: boolean;
  readonly check?: boolean;
  readonly force?: boolean;
}

interface FileResult {
  readonly file: string;
  readonly period?: { readonly start: string; readonly end: string };
  readonly leveringen?: number;
  readonly records?: number;
  readonly zaken?: number;
  readonly model?: string;
  /** Leveringen that are replaced, or would be: by organisation and municipality. */
  readonly replacements?: readonly Replacement[];
  /** Nothing was stored, because `--replace` is required. */
  readonly needsReplace?: boolean;
  readonly bytes?: number;
  /** Nothing was stored, because of a blocking finding. */
  readonly isBlocked?: boolean;
  /** The findings of `gegevens check`, if requested or if something blocks. */
  readonly check?: Report;
  /** The model that a faulty file does fit. */
  readonly otherModel?: string;
  readonly faults?: readonly FileFault[];
  /** Of tables: probable mistakes. */
  readonly notes?: readonly FileFault[];
  readonly error?: string;
}

export function importCommand(terminal: Terminal, tools: GegevensTools | undefined): Command {
  const command = new Command('import')
    .description(
      'load files of the exchange model, or tables (CSV, XLSX) with a mapping; each is stored whole or not at all',
    )
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']).makeOptionMandatory())
    .option('--model <version>', 'the model of the files: a built-in version, or the path of a schema')
    .option(
      '--replace',
      'replace even when many records would be removed, the name differs, or the municipality or KvK number conflicts',
    )
    .option('--json', 'one machine-readable result')
    .argument('<file...>', 'JSON files of the exchange model; with --mapping, CSV and XLSX files')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens import --variant shv 2026-q1.json');
  tools?.addImportOptions(command);
  return command.action(async (files: string[], options: ImportOptions) => {
    let instead: ReturnType<GegevensTools['insteadOfImport']>;
    await reportFailure(terminal, async () => {
      instead = tools?.insteadOfImport(command, files);
    });
    if (terminal.exitCode === 2) return;
    if (instead !== undefined) {
      const run = instead;
      await runTool(terminal, options, async (context) =>
        run(context, (await chooseModel(context.config.gegevens, options)).model),
      );
      return;
    }
    await runCommand(terminal, { ...options, changes: true }, async (context) => {
      const { configured, model } = await chooseModel(context.config.gegevens, options);
      const aid = await tools?.beginImport(command, model);
      const results: FileResult[] = [];
      for (const file of files) results.push(await importOne(context, { ...options, loaded: model, aid }, file));
      context.output.result({ files: results.map(asJson) }, () => {
        for (const result of results) {
          describe(context, result, configured.mapping.versie);
          if (result.check !== undefined) context.output.line(result.check.text);
        }
      });
      const failed = results.filter(({ leveringen }) => leveringen === undefined).length;
      if (failed > 0) throw new CommandError(`${failed} of ${files.length} files not stored`);
    });
  });
}

function asJson({ faults, notes, check, ...result }: FileResult): object {
  return {
    ...result,
    ...(faults === undefined ? {} : { faults: faults.map(({ fault }) => fault) }),
    ...(notes === undefined ? {} : { notes: notes.map(({ fault }) => fault) }),
    ...(check === undefined ? {} : { check: check.json }),
  };
}

async function chooseModel(
  gegevens: Config['gegevens'],
  { variant, model: named }: ImportOptions,
): Promise<{ readonly configured: Model; readonly model: Model }> {
  const { loadModel } = await import('../../lib/exchange-model/model.ts');
  const { variantSettings } = await import('../variant-settings.ts');
  const configured = loadModel(variant, variantSettings(gegevens, variant).model);
  return { configured, model: named === undefined ? configured : loadModel(variant, named) };
}

class ImportBlocked extends Error {}

async function importOne(
  context: CommandContext,
  options: ImportOptions & { readonly loaded: Model; readonly aid: ImportAid | undefined },
  path: string,
): Promise<FileResult> {
  const { database, terminal, interrupted } = context;
  const { loaded: model, model: named, replace = false, force = false, aid } = options;
  const { FaultyFile, importFile, recogniseModel } = await import('../store/import-file.ts');
  const { ReplacementRefused } = await import('../store/replace-deliveries.ts');
  const progress = createProgress(terminal, 'records checked', (await stat(path).catch(() => undefined))?.size);
  const show = (bytesRead: number, records: number): void => {
    progress.reached(bytesRead);
    progress.update(records);
  };
  let file: OpenedFile | undefined;
  let report: Report | undefined;
  const found = (): Pick<FileResult, 'check'> =>
    report !== undefined && (options.check === true || report.blocking > 0) ? { check: report } : {};
  const approve = (judged: OpenedFile): readonly BlockingFinding[] => {
    report = judged.report();
    if (report.blocking > 0 && !force) throw new ImportBlocked();
    return report.blockers;
  };
  try {
    const opened = await aid?.open(context, path);
    file = opened;
    if (opened !== undefined && opened.faults.length > 0) return { file: path, faults: opened.faults };
    const judge = opened && { consumer: opened.consumer, approve: () => approve(opened) };
    const imported = await importFile(database.pool, {
      path,
      bytes: opened?.bytes,
      model,
      replace,
      judge,
      signal: interrupted,
      progress: show,
    });
    const { leveringen, periodeStart, periodeEinde } = imported.delivery;
    return {
      file: path,
      period: { start: periodeStart, end: periodeEinde },
      leveringen: leveringen.length,
      records: leveringen.reduce((sum, { records }) => sum + records, 0),
      zaken: leveringen.reduce((sum, { zaken }) => sum + zaken, 0),
      model: model.mapping.versie,
      replacements: imported.replacements,
      bytes: imported.bytes,
      ...(opened === undefined || opened.notes.length === 0 ? {} : { notes: opened.notes }),
      ...found(),
    };
  } catch (error) {
    if (error instanceof FaultyFile) {
      if (file?.bytes !== undefined) return { file: path, faults: error.faults.map(inMessage) };
      const otherModel =
        named === undefined
          ? await recogniseModel(path, { variant: model.variant, except: model.mapping.versie }, interrupted)
          : undefined;
      return { file: path, faults: error.faults.map(inFile), ...(otherModel === undefined ? {} : { otherModel }) };
    }
    if (error instanceof ImportBlocked) return { file: path, isBlocked: true, ...found() };
    if (error instanceof ReplacementRefused) {
      return { file: path, needsReplace: true, replacements: error.replacements, ...found() };
    }
    if (isFileError(error)) return { file: path, error: error.message };
    throw error;
  } finally {
    file?.close();
    progress.end();
  }
}

function inFile(fault: ImportFault): FileFault {
  return { fault, text: `line ${fault.line}  ${fault.pointer || '/'}  ${fault.message}` };
}

/** Set for a message made from tables, whose lines are in no file. */
function inMessage({ pointer, message }: ImportFault): FileFault {
  return { fault: { pointer, message }, text: `${pointer || '/'}  ${message}` };
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'EISDIR'].includes(String(error.code));
}

function describe({ output }: CommandContext, result: FileResult, configured: string): void {
  const { file, faults, error, period, replacements = [] } = result;
  if (faults !== undefined) {
    output.line(`${file}: nothing stored, ${faults.length}${faults.length >= 100 ? ' or more' : ''} fault(s)`);
    if (result.otherModel !== undefined) {
      output.line(`  this is a file of model ${result.otherModel}; --model ${result.otherModel} imports it as such`);
    }
    for (const { text } of faults) output.line(`  ${text}`);
  } else if (error !== undefined) output.line(`${file}: ${error}`);
  else if (result.isBlocked) {
    output.line(`${file}: nothing stored, ${blockingText(result)}; --force stores it nevertheless`);
  } else if (result.needsReplace) {
    output.line(`${file}: nothing stored; --replace is needed`);
  } else {
    const counts = `${result.leveringen} levering(en), ${result.records} records`;
    const zaken = result.zaken ? `, ${result.zaken} zaken` : '';
    output.line(`${file}: ${period?.start} to ${period?.end}, ${counts}${zaken}`);
    if (result.check !== undefined && result.check.blocking > 0) {
      output.line(`  stored with ${blockingText(result)} (--force), which the journal keeps`);
    }
    if (result.model !== configured) {
      output.line(`  of model ${result.model}: delivered only when that is configured; it is ${configured} now`);
    }
  }
  for (const { text } of result.notes ?? []) output.line(`  note: ${text}`);
  for (const replacement of replacements) {
    output.line(`  ${replacementText(replacement, result.needsReplace ?? false)}`);
    for (const conflict of replacement.conflicts) output.line(`    conflicts with ${conflictText(conflict)}`);
  }
}

function blockingText({ check }: FileResult): string {
  return `${check?.blocking} blocking ${check?.blocking === 1 ? 'finding' : 'findings'}`;
}

function changeText({ before, after, stay, go, come }: Change, kind: string): string {
  return `${before} ${kind} by ${after}, of which ${stay} stay, ${go} are removed and ${come} are added`;
}

function conflictText({ id, kvkNummer, gemeente, periodeStart, periodeEinde, records }: Conflict): string {
  const number = kvkNummer === null ? 'no KvK number' : `KvK ${kvkNummer}`;
  const municipality = gemeente === null ? 'no municipality' : `municipality ${gemeente}`;
  return `levering ${id}: ${number}, ${municipality}, ${periodeStart} to ${periodeEinde}, ${records} records`;
}

const REASONS: Readonly<Record<ReplaceReason, string>> = {
  'fewer-records': 'more than a tenth of the records would be removed',
  'fewer-cases': 'more than a tenth of the cases would be removed',
  'other-name': 'the name differs',
  municipality: 'delivered both with a municipality and without one',
  'kvk-number': 'delivered under this name both with a KvK number and without one',
};

function replacementText(replacement: Replacement, isRefused: boolean): string {
  const { organisatie, kvkNummer, gemeente, nameBefore, periodeStart, periodeEinde, reasons } = replacement;
  const who = [
    `${organisatie}${nameBefore === null ? '' : ` (until now ${nameBefore})`}`,
    ...(kvkNummer === null ? [] : [`KvK ${kvkNummer}`]),
    gemeente === null ? 'no municipality' : `municipality ${gemeente}`,
    `${periodeStart} to ${periodeEinde}`,
  ].join(', ');
  const why = reasons.length === 0 ? '' : ` (${reasons.map((reason) => REASONS[reason]).join('; ')})`;
  const verb = isRefused ? 'would replace' : 'replaces';
  const { records, zaken } = replacement;
  const what = [
    changeText(records, 'records'),
    ...(zaken.before + zaken.after > 0 ? [changeText(zaken, 'cases')] : []),
  ];
  return `${verb} ${who}: ${what.join('; ')}${why}`;
}
