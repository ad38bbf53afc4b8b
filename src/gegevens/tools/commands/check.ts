import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { type CommandContext, runCommand, runTool, type ToolContext } from '../../../commands/run-command.ts';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { reasonOf } from '../../../lib/log.ts';
import { counted, createProgress } from '../../../lib/output.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import { systemClock } from '../../../lib/time.ts';
import type { Levering, Period } from '../../model/selection.ts';
import type { Journalled } from '../../store/journal.ts';
import type { CheckReport } from '../check/findings.ts';
import type { Report, Subject } from '../check/report.ts';
import { LANGUAGES, type Language, type ReportWords, reportWords } from '../check/report-words.ts';
import { faultText } from '../tables/table-file.ts';
import { type GivenTables, readMapping, readTableFile, refuseTables, type TableOptions } from './given-tables.ts';
import { chooseModel, parsePeriod } from './options.ts';

interface CheckOptions {
  readonly variant: Variant;
  readonly period?: Period;
  readonly model?: string;
  readonly mapping?: string;
  readonly showPersons?: boolean;
  readonly json?: boolean;
  readonly html?: boolean;
  readonly language?: Language;
  readonly out?: string;
}

export function checkCommand(terminal: Terminal): Command {
  return new Command('check')
    .description(
      'check files before import, or without files the stored leveringen: the model, the rules of the statistics office, and its counts',
    )
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']).makeOptionMandatory())
    .option(
      '--period <start/end>',
      'in which persons count as active; also the period of tables and of stored leveringen (default: that of the files, of the mapping, or the most recent one stored)',
      parsePeriod,
    )
    .option('--model <version>', 'the model to judge by: a built-in version, or the path of a schema')
    .option('--mapping <file>', 'the files are tables (CSV, XLSX); this maps their columns to members')
    .option('--show-persons', 'show the keys of table rows, which may identify persons')
    .option('--json', 'one machine-readable result')
    .addOption(new Option('--html', 'one page to read, send or print').conflicts('json'))
    .addOption(
      new Option('--language <language>', 'of that page (default: "nl")').choices(LANGUAGES).implies({ html: true }),
    )
    .option('--out <file>', 'write the report to this file instead of standard output')
    .argument('[file...]', 'JSON files of the exchange model; with --mapping, CSV and XLSX files')
    .addHelpText(
      'after',
      `
Exit status 1 when something is found that blocks a delivery. Nothing is stored. Without --show-persons a report has no data of persons.

Example:
  $ koppelvlak gegevens check --variant shv 2026-q1.json
  $ koppelvlak gegevens check --variant shv --mapping mapping.yaml --period 2026-01-01/2026-03-31 2026-q1.csv
  $ koppelvlak gegevens check --variant vs --period 2026-01-01/2026-03-31 --html --out check.html`,
    )
    .action((files: string[], options: CheckOptions) =>
      files.length > 0 || options.mapping !== undefined
        ? checkFilesGiven(terminal, files, options)
        : checkWhatIsStored(terminal, options),
    );
}

function checkFilesGiven(terminal: Terminal, files: readonly string[], options: CheckOptions): Promise<void> {
  return runTool(terminal, options, async (context) => {
    if (files.length === 0) throw new UsageError('--mapping is for tables: no file is named');
    const { variant, mapping, period, showPersons = false } = options;
    if (mapping === undefined) refuseTables(files);
    const { checkFiles } = await import('../check/check-deliveries.ts');
    const { config, interrupted: signal } = context;
    const model = await chooseModel(config.gegevens, variant, options.model);
    const plan = mapping === undefined ? undefined : await readMapping(mapping, model);
    const sizes = await Promise.all(files.map(async (file) => (await stat(file).catch(() => undefined))?.size ?? 0));
    const bytes = plan === undefined ? sizes.reduce((sum, size) => sum + size, 0) : undefined;
    const progress = createProgress(terminal, 'records checked', bytes);
    const made = systemClock.now();
    const report = await checkFiles(files, {
      model,
      period,
      now: made,
      signal,
      showPersons,
      open: plan && ((file) => openTables(context, { plan, period }, file)),
      progress: (bytesRead, records) => {
        progress.reached(bytesRead);
        progress.update(records);
      },
    }).finally(() => progress.end());
    const sources = files.map((file) => basename(file));
    await write(context, options, report, { model: model.mapping.versie, made, sources });
  });
}

/** @throws {CommandError} with all faults, when its rows make no message that can be judged */
async function openTables(context: ToolContext, options: TableOptions, file: string): Promise<GivenTables> {
  const tables = await readTableFile(context, options, file);
  if (tables.faults.length === 0) return tables;
  tables.close();
  const lines = tables.faults.map((fault) => `  ${faultText(fault)}`);
  throw new CommandError(`${file} cannot be checked, ${lines.length} fault(s)\n${lines.join('\n')}`);
}

function checkWhatIsStored(terminal: Terminal, options: CheckOptions): Promise<void> {
  return runCommand(terminal, options, async ({ database, config, clock, output, interrupted: signal }) => {
    const { checkStored } = await import('../check/check-deliveries.ts');
    const { gegevens } = config;
    const model = await chooseModel(gegevens, options.variant, options.model);
    const made = clock.now();
    const { report, leveringen } = await checkStored(database.pool, {
      model,
      period: options.period,
      now: made,
      signal,
      leverancierscode: gegevens.supplierCode,
    });
    const sources = storedNames(leveringen, report, model, wordsOf(options));
    await write({ output }, options, report, { model: model.mapping.versie, made, sources });
  });
}

/** A page is in Dutch unless it is asked in English; text for a terminal is in English. */
function wordsOf({ html = false, language = 'nl' }: CheckOptions): ReportWords {
  return reportWords[html ? language : 'en'];
}

/** How many leveringen there are, and which ones have findings. */
function storedNames(
  leveringen: readonly Levering[],
  { findings }: CheckReport,
  { mapping }: Model,
  words: ReportWords,
): string[] {
  if (leveringen.length === 0) return [words.nothingStored];
  const list = mapping.envelop.leveringen.length;
  const named = findings.flatMap(({ places }) => places.map(({ pointer }) => pointer.split('/')[list + 1] ?? ''));
  return [
    words.stored(leveringen.length),
    ...leveringen.flatMap(({ id, periodeStart, periodeEinde, records }, index) => {
      const period = words.between(periodeStart, periodeEinde);
      return named.includes(String(index)) ? [words.levering(`/leveringen/${index}`, id, period, records)] : [];
    }),
  ];
}

/** The counts and findings of a delivered answer, by its entry in the journal. */
export async function checkEntry(
  { database, config, clock, interrupted: signal }: CommandContext,
  entry: Journalled,
): Promise<Report> {
  const { checkAnswer } = await import('../check/check-deliveries.ts');
  const configured = await chooseModel(config.gegevens, entry.variant, undefined);
  const checked = await checkAnswer(database.pool, entry, { configured, now: clock.now(), signal });
  if (checked === undefined) {
    const text = 'The contents of this answer are no longer known: its leveringen have been pruned.';
    return { text, json: null, blocking: 0, blockers: [] };
  }
  const { describeReport } = await import('../check/report.ts');
  const report = describeReport(checked);
  return { ...report, text: `In this answer: ${report.text}` };
}

/** @throws {CommandError} when something blocks */
async function write(
  { output }: Pick<ToolContext, 'output'>,
  options: CheckOptions,
  report: CheckReport,
  subject: Subject,
): Promise<void> {
  const { describeReport, reportHtml } = await import('../check/report.ts');
  const { text, json, blocking } = describeReport(report);
  const { html = false, out } = options;
  const people = html ? reportHtml(report, subject, wordsOf(options)) : `${subject.sources.join('\n')}\n${text}`;
  if (out === undefined) output.result(json, () => output.line(people.trimEnd()));
  else {
    const whole = output.json ? JSON.stringify(json) : people;
    await writeFile(out, `${whole.trimEnd()}\n`).catch((cause: unknown) => {
      throw new CommandError(`the report cannot be written: ${reasonOf(cause)}`, { cause });
    });
    output.progress(`the report is in ${out}`);
  }
  if (blocking > 0) throw new CommandError(counted(blocking, 'blocking finding'));
}
