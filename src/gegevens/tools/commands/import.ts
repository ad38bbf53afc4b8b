import { stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { type CommandContext, runCommand, runTool } from '../../../commands/run-command.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import { reportFailure } from '../../../lib/command-line.ts';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { counted, createProgress } from '../../../lib/output.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import type { Imported } from '../../store/import-file.ts';
import type { Change, Conflict, Replacement, ReplaceReason } from '../../store/replace-deliveries.ts';
import type { Report } from '../check/report.ts';
import type { Plan } from '../tables/plan.ts';
import { faultText, type TableFault } from '../tables/table-file.ts';
import { createJudge, type DryRunOptions, dryRun } from './dry-run.ts';
import { type GivenTables, readMapping, readTableFile, refuseTables } from './given-tables.ts';
import { chooseModel, faultLine, parsePeriod, wholeNumber } from './options.ts';

interface ImportOptions extends DryRunOptions {
  readonly variant: Variant;
  readonly model?: string;
  readonly mapping?: string;
  readonly dryRun?: boolean;
  readonly replace?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** The result of importing a file, as JSON and as text. */
interface Outcome {
  readonly isStored: boolean;
  readonly json: object;
  readonly headline: string;
  readonly details: readonly string[];
}

interface Models {
  readonly model: Model;
  /** Version of the model that is delivered. */
  readonly configured: string;
  /** Of tables. */
  readonly plan: Plan | undefined;
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
    const { output, config } = context;
    const configured = (await chooseModel(config.gegevens, options.variant, undefined)).mapping.versie;
    const model = await chooseModel(config.gegevens, options.variant, options.model);
    const plan = options.mapping === undefined ? undefined : await readMapping(options.mapping, model);
    const outcomes: (Outcome & { readonly file: string })[] = [];
    for (const file of files)
      outcomes.push({ file, ...(await importOne(context, options, { model, configured, plan }, file)) });
    output.result({ files: outcomes.map(({ file, json }) => ({ file, ...json })) }, () => {
      for (const { file, headline, details } of outcomes)
        for (const line of [`${file}: ${headline}`, ...details]) output.line(line);
    });
    const failed = outcomes.filter(({ isStored }) => !isStored).length;
    if (failed > 0) throw new CommandError(`${failed} of ${files.length} files not stored`);
  });
}

class ImportBlocked extends Error {
  readonly blocking: number;
  constructor(blocking: number) {
    super();
    this.blocking = blocking;
  }
}

async function importOne(
  context: CommandContext,
  options: ImportOptions,
  models: Models,
  path: string,
): Promise<Outcome> {
  const { database, terminal, interrupted: signal, clock } = context;
  const { model, plan } = models;
  const { importFile } = await import('../../store/import-file.ts');
  const progress = createProgress(terminal, 'records checked', (await stat(path).catch(() => undefined))?.size);
  let tables: GivenTables | undefined;
  let judge: Awaited<ReturnType<typeof createJudge>> | undefined;
  let report: Report | undefined;
  const blocking = (): number => report?.blocking ?? 0;
  /** With the findings of `gegevens check`, if requested or if something blocks. */
  const withFindings = (outcome: Outcome): Outcome => {
    if (report === undefined || (options.check !== true && report.blocking === 0)) return outcome;
    const { json, details } = outcome;
    return { ...outcome, json: { ...json, check: report.json }, details: [...details, report.text] };
  };
  try {
    tables = plan && (await readTableFile(context, { plan, period: options.period }, path));
    const { faults = [], notes = [] } = tables ?? {};
    if (faults.length > 0) return faulty(faults, faults.map(faultText));
    judge = await createJudge(model, options, { tables, now: clock.now() });
    const { check, report: judged } = judge;
    const imported = await importFile(database.pool, {
      path,
      bytes: tables?.bytes,
      model,
      replace: options.replace ?? false,
      judge: {
        consumer: check,
        approve() {
          report = judged();
          if (report.blocking > 0 && options.force !== true) throw new ImportBlocked(report.blocking);
          return report.blockers;
        },
      },
      signal,
      progress: (bytesRead, records) => {
        progress.reached(bytesRead);
        progress.update(records);
      },
    });
    return withFindings(stored(imported, models, { notes, blocking: blocking() }));
  } catch (error) {
    return withFindings(await notStored(error, models, { path, named: options.model, signal }));
  } finally {
    judge?.check.close();
    tables?.close();
    progress.end();
  }
}

function stored(
  { delivery, replacements, bytes }: Imported,
  { model, configured }: Models,
  { notes, blocking }: { readonly notes: readonly TableFault[]; readonly blocking: number },
): Outcome {
  const { leveringen, periodeStart: start, periodeEinde: end } = delivery;
  const { versie } = model.mapping;
  const records = leveringen.reduce((sum, levering) => sum + levering.records, 0);
  const zaken = leveringen.reduce((sum, levering) => sum + levering.zaken, 0);
  const counts = `${leveringen.length} levering(en), ${records} records${zaken > 0 ? `, ${zaken} zaken` : ''}`;
  return {
    isStored: true,
    json: {
      period: { start, end },
      leveringen: leveringen.length,
      records,
      zaken,
      model: versie,
      replacements,
      bytes,
      ...(notes.length === 0 ? {} : { notes }),
    },
    headline: `${start} to ${end}, ${counts}`,
    details: [
      ...(blocking === 0
        ? []
        : [`  stored with ${counted(blocking, 'blocking finding')} (--force), which the journal keeps`]),
      ...(versie === configured
        ? []
        : [`  of model ${versie}: delivered only when that is configured; it is ${configured} now`]),
      ...notes.map((note) => `  note: ${faultText(note)}`),
      ...replacementLines(replacements, 'replaces'),
    ],
  };
}

/** @throws an error that is not about the file */
async function notStored(
  error: unknown,
  { model, plan }: Models,
  { path, named, signal }: { readonly path: string; readonly named: string | undefined; readonly signal: AbortSignal },
): Promise<Outcome> {
  const { FaultyFile, recogniseModel } = await import('../../store/import-file.ts');
  const { ReplacementRefused } = await import('../../store/replace-deliveries.ts');
  if (error instanceof FaultyFile && plan !== undefined) {
    // The lines of a message made from tables are in no file.
    const faults = error.faults.map(({ pointer, message }) => ({ pointer, message }));
    return faulty(
      faults,
      faults.map(({ pointer, message }) => `${pointer || '/'}  ${message}`),
    );
  }
  if (error instanceof FaultyFile) {
    const other = { variant: model.variant, except: model.mapping.versie };
    const otherModel = named === undefined ? await recogniseModel(path, other, signal) : undefined;
    return faulty(error.faults, error.faults.map(faultLine), otherModel);
  }
  if (error instanceof ImportBlocked) {
    const headline = `nothing stored, ${counted(error.blocking, 'blocking finding')}; --force stores it nevertheless`;
    return { isStored: false, json: { isBlocked: true }, headline, details: [] };
  }
  if (error instanceof ReplacementRefused) {
    const { replacements } = error;
    const details = replacementLines(replacements, 'would replace');
    const json = { needsReplace: true, replacements };
    return { isStored: false, json, headline: 'nothing stored; --replace is needed', details };
  }
  if (!isFileError(error)) throw error;
  return { isStored: false, json: { error: error.message }, headline: error.message, details: [] };
}

function faulty(faults: readonly object[], texts: readonly string[], otherModel?: string): Outcome {
  const advice = `  this is a file of model ${otherModel}; --model ${otherModel} imports it as such`;
  return {
    isStored: false,
    json: { ...(otherModel === undefined ? {} : { otherModel }), faults },
    headline: `nothing stored, ${faults.length}${faults.length >= 100 ? ' or more' : ''} fault(s)`,
    details: [...(otherModel === undefined ? [] : [advice]), ...texts.map((text) => `  ${text}`)],
  };
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'EISDIR'].includes(String(error.code));
}

const REASONS: Readonly<Record<ReplaceReason, string>> = {
  'fewer-records': 'more than a tenth of the records would be removed',
  'fewer-cases': 'more than a tenth of the cases would be removed',
  'other-name': 'the name differs',
  municipality: 'delivered both with a municipality and without one',
  'kvk-number': 'delivered under this name both with a KvK number and without one',
};

function replacementLines(replacements: readonly Replacement[], verb: string): string[] {
  return replacements.flatMap(({ organisatie, nameBefore, reasons, records, zaken, conflicts, ...of }) => {
    const named = `${organisatie}${nameBefore === null ? '' : ` (until now ${nameBefore})`}`;
    const number = of.kvkNummer === null ? '' : `, KvK ${of.kvkNummer}`;
    const cases = zaken.before + zaken.after > 0 ? `; ${changeText(zaken, 'cases')}` : '';
    const why = reasons.length === 0 ? '' : ` (${reasons.map((reason) => REASONS[reason]).join('; ')})`;
    return [
      `  ${verb} ${named}${number}, ${placeText(of)}: ${changeText(records, 'records')}${cases}${why}`,
      ...conflicts.map((conflict) => {
        const other = conflict.kvkNummer === null ? 'no KvK number' : `KvK ${conflict.kvkNummer}`;
        return `    conflicts with levering ${conflict.id}: ${other}, ${placeText(conflict)}, ${conflict.records} records`;
      }),
    ];
  });
}

function placeText({
  gemeente,
  periodeStart,
  periodeEinde,
}: Pick<Conflict, 'gemeente' | 'periodeStart' | 'periodeEinde'>): string {
  const municipality = gemeente === null ? 'no municipality' : `municipality ${gemeente}`;
  return `${municipality}, ${periodeStart} to ${periodeEinde}`;
}

function changeText({ before, after, stay, go, come }: Change, kind: string): string {
  return `${before} ${kind} by ${after}, of which ${stay} stay, ${go} are removed and ${come} are added`;
}
