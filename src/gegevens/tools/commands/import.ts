import { stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { type CommandContext, runCommand, runTool } from '../../../commands/run-command.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import { reportFailure } from '../../../lib/command-line.ts';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { createProgress } from '../../../lib/output.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import type { ImportFault } from '../../import/faults.ts';
import type { Period } from '../../model/selection.ts';
import type { Change, Conflict, Replacement, ReplaceReason } from '../../store/replace-deliveries.ts';
import type { Report } from '../check/report-text.ts';
import type { Plan } from '../tables/plan.ts';
import { faultText, type TableFault } from '../tables/table-file.ts';
import { createJudge, type DryRunOptions, dryRun } from './dry-run.ts';
import { type GivenTables, readMapping, readTableFile, refuseTables } from './given-tables.ts';
import { chooseModel, parsePeriod, wholeNumber } from './options.ts';

interface ImportOptions extends DryRunOptions {
  readonly variant: Variant;
  readonly model?: string;
  readonly mapping?: string;
  readonly dryRun?: boolean;
  readonly replace?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

interface FileFault {
  readonly text: string;
  readonly fault: object;
}

interface FileResult {
  readonly file: string;
  readonly period?: Period;
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

const SHOWN = 3;
const MAX_SHOWN = 1000;

export function importCommand(terminal: Terminal): Command {
  return new Command('import')
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
    .option('--mapping <file>', 'the files are tables (CSV, XLSX); this maps their columns to members')
    .option('--period <start/end>', 'first and last day of the tables, instead of those in the mapping', parsePeriod)
    .option('--dry-run', 'show the first records of tables as they would be stored, and every fault; store nothing')
    .option('--show <count>', 'how many records of each list a dry run shows', wholeNumber(0, MAX_SHOWN), SHOWN)
    .option('--show-persons', 'show BSN, names, addresses and the keys of rows as they are')
    .option('--check', 'report all findings of `gegevens check`, not only those that block; also in a dry run')
    .option('--force', 'store a file despite findings that block a delivery; the journal keeps them')
    .addHelpText(
      'after',
      `
Example:
  $ koppelvlak gegevens import --variant shv 2026-q1.json
  $ koppelvlak gegevens import --variant shv --mapping mapping.yaml --period 2026-01-01/2026-03-31 --dry-run 2026-q1.csv

Nothing of a file is stored when something in it blocks a delivery: \`gegevens check\` has the rules.`,
    )
    .action((files: string[], options: ImportOptions) =>
      reportFailure(terminal, async () => {
        const { mapping, dryRun: isDry = false, period } = options;
        if (mapping === undefined) {
          if (isDry || period !== undefined) {
            throw new UsageError('--dry-run and --period are for tables: --mapping is missing');
          }
          refuseTables(files);
        } else if (isDry) {
          await runTool(terminal, options, async (context) => {
            const model = await chooseModel(context.config.gegevens, options.variant, options.model);
            await dryRun(context, await readMapping(mapping, model), options, files);
          });
          return;
        }
        await importFiles(terminal, files, options);
      }),
    );
}

function importFiles(terminal: Terminal, files: readonly string[], options: ImportOptions): Promise<void> {
  return runCommand(terminal, { ...options, changes: true }, async (context) => {
    const { gegevens } = context.config;
    const { variant, mapping } = options;
    const configured = await chooseModel(gegevens, variant, undefined);
    const model = await chooseModel(gegevens, variant, options.model);
    const plan = mapping === undefined ? undefined : await readMapping(mapping, model);
    const results: FileResult[] = [];
    for (const file of files) results.push(await importOne(context, options, { model, plan }, file));
    context.output.result({ files: results.map(asJson) }, () => {
      for (const result of results) {
        describe(context, result, configured.mapping.versie);
        if (result.check !== undefined) context.output.line(result.check.text);
      }
    });
    const failed = results.filter(({ leveringen }) => leveringen === undefined).length;
    if (failed > 0) throw new CommandError(`${failed} of ${files.length} files not stored`);
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

class ImportBlocked extends Error {}

async function importOne(
  context: CommandContext,
  options: ImportOptions,
  { model, plan }: { readonly model: Model; readonly plan: Plan | undefined },
  path: string,
): Promise<FileResult> {
  const { database, terminal, interrupted, clock } = context;
  const { FaultyFile, importFile, recogniseModel } = await import('../../store/import-file.ts');
  const { ReplacementRefused } = await import('../../store/replace-deliveries.ts');
  const progress = createProgress(terminal, 'records checked', (await stat(path).catch(() => undefined))?.size);
  const show = (bytesRead: number, records: number): void => {
    progress.reached(bytesRead);
    progress.update(records);
  };
  let tables: GivenTables | undefined;
  let judge: Awaited<ReturnType<typeof createJudge>> | undefined;
  let report: Report | undefined;
  const found = (): Pick<FileResult, 'check'> =>
    report !== undefined && (options.check === true || report.blocking > 0) ? { check: report } : {};
  try {
    tables = plan && (await readTableFile(context, { plan, period: options.period }, path));
    judge = await createJudge(model, options, { tables, now: clock.now() });
    const { check, report: judged } = judge;
    if (tables !== undefined && tables.faults.length > 0) return { file: path, faults: tables.faults.map(inTable) };
    const imported = await importFile(database.pool, {
      path,
      bytes: tables?.bytes,
      model,
      replace: options.replace ?? false,
      judge: {
        consumer: check,
        approve() {
          report = judged();
          if (report.blocking > 0 && options.force !== true) throw new ImportBlocked();
          return report.blockers;
        },
      },
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
      ...(tables === undefined || tables.notes.length === 0 ? {} : { notes: tables.notes.map(inTable) }),
      ...found(),
    };
  } catch (error) {
    if (error instanceof FaultyFile) {
      if (tables !== undefined) return { file: path, faults: error.faults.map(inMessage) };
      const otherModel =
        options.model === undefined
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
    judge?.check.close();
    tables?.close();
    progress.end();
  }
}

function inTable(fault: TableFault): FileFault {
  return { fault, text: faultText(fault) };
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
