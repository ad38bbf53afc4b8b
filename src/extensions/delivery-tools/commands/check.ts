import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { createProgress, table } from '../../../cli/output.ts';
import { type CommandContext, CommandError, runCommand, runTool, type ToolContext } from '../../../cli/run-command.ts';
import type { Report } from '../../../gegevens/commands/tools.ts';
import type { Variant } from '../../../gegevens/model/mapping.ts';
import type { Model } from '../../../gegevens/model/model.ts';
import type { Levering, Period } from '../../../gegevens/model/selection.ts';
import type { Journalled } from '../../../gegevens/store/journal.ts';
import { reasonOf } from '../../../lib/log.ts';
import { systemClock } from '../../../lib/time.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import type { CheckReport } from '../check/delivery-check.ts';
import type { Subject } from '../check/report-html.ts';
import { LANGUAGES, type Language, type ReportWords, reportWords } from '../check/report-words.ts';
import { chooseModel, parsePeriod } from './options.ts';

interface CheckOptions {
  readonly variant: Variant;
  readonly period?: Period;
  readonly model?: string;
  readonly json?: boolean;
  readonly html?: boolean;
  readonly language?: Language;
  readonly out?: string;
}

export function checkCommand(terminal: Terminal): Command {
  return new Command('check')
    .description(
      'judge files before import, or without files what is stored: the model, the rules of the statistics office, and its counts',
    )
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']).makeOptionMandatory())
    .option(
      '--period <start/end>',
      'in which persons are active, and of what is stored (default: that of the files, or the most recent one that is stored)',
      parsePeriod,
    )
    .option('--model <version>', 'the model to judge by: a built-in version, or the path of a schema')
    .option('--json', 'one machine-readable result')
    .addOption(new Option('--html', 'one page to read, send or print').conflicts('json'))
    .addOption(
      new Option('--language <language>', 'of that page (default: "nl")').choices(LANGUAGES).implies({ html: true }),
    )
    .option('--out <file>', 'write the report to this file instead of standard output')
    .argument('[file...]', 'JSON files')
    .addHelpText(
      'after',
      `
Exit status 1 when something is found that blocks a delivery. A report has no data of persons.

Example:
  $ koppelvlak gegevens check --variant shv 2026-q1.json
  $ koppelvlak gegevens check --variant vs --period 2026-01-01/2026-03-31 --html --out check.html`,
    )
    .action((files: string[], options: CheckOptions) =>
      files.length > 0 ? checkFilesGiven(terminal, files, options) : checkWhatIsStored(terminal, options),
    );
}

function checkFilesGiven(terminal: Terminal, files: readonly string[], options: CheckOptions): Promise<void> {
  return runTool(terminal, options, async (context) => {
    const { checkFiles } = await import('../check/check-deliveries.ts');
    const { config, interrupted: signal } = context;
    const model = await chooseModel(config.gegevens, options.variant, options.model);
    const sizes = await Promise.all(files.map(async (file) => (await stat(file).catch(() => undefined))?.size ?? 0));
    const progress = createProgress(
      terminal,
      'records checked',
      sizes.reduce((sum, size) => sum + size, 0),
    );
    const now = systemClock.now();
    const report = await checkFiles(files, {
      ...{ model, period: options.period, now, signal },
      progress: (bytes, records) => {
        progress.reached(bytes);
        progress.update(records);
      },
    }).finally(() => progress.end());
    const sources = files.map((file) => basename(file));
    await write(context, options, report, { model: model.mapping.versie, made: now, sources });
  });
}

function checkWhatIsStored(terminal: Terminal, options: CheckOptions): Promise<void> {
  return runCommand(terminal, options, async ({ database, config, clock, output, interrupted: signal }) => {
    const { checkStored } = await import('../check/check-deliveries.ts');
    const { gegevens } = config;
    const model = await chooseModel(gegevens, options.variant, options.model);
    const now = clock.now();
    const { report, leveringen } = await checkStored(database.pool, {
      ...{ model, period: options.period, now, signal, leverancierscode: gegevens.supplierCode },
    });
    const sources = storedNames(leveringen, report, model, wordsOf(options));
    await write({ output }, options, report, { model: model.mapping.versie, made: now, sources });
  });
}

/** A page is in Dutch unless it is asked in English; text for a terminal is in English. */
function wordsOf({ html = false, language = 'nl' }: CheckOptions): ReportWords {
  return reportWords[html ? language : 'en'];
}

/** How many leveringen there are, and which ones the places of the findings are in. */
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

/** The counts and findings of what was delivered, of an entry of the journal. */
export async function checkEntry(
  { database, config, clock, interrupted: signal }: CommandContext,
  entry: Journalled,
): Promise<Report> {
  const { checkAnswer } = await import('../check/check-deliveries.ts');
  const configured = await chooseModel(config.gegevens, entry.variant, undefined);
  const checked = await checkAnswer(database.pool, entry, { configured, now: clock.now(), signal });
  if (checked === undefined) {
    const text = 'What was in this answer is not known any more: its leveringen have been pruned.';
    return { text, json: null, blocking: 0 };
  }
  const { describeReport } = await import('../check/report-text.ts');
  const report = describeReport(checked, table);
  return { ...report, text: `In this answer: ${report.text}` };
}

/** @throws {CommandError} when something blocks */
async function write(
  { output }: Pick<ToolContext, 'output'>,
  options: CheckOptions,
  report: CheckReport,
  subject: Subject,
): Promise<void> {
  const { reportHtml } = await import('../check/report-html.ts');
  const { describeReport } = await import('../check/report-text.ts');
  const { text, json, blocking } = describeReport(report, table);
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
  if (blocking > 0) throw new CommandError(`${blocking} blocking ${blocking === 1 ? 'finding' : 'findings'}`);
}
