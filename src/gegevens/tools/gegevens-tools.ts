/** Adds tables and the check to `gegevens import` and `gegevens journal`. */

import type { ToolContext } from '../../commands/run-command.ts';
import { CommandError, UsageError } from '../../lib/command-error.ts';
import type { Model } from '../../lib/exchange-model/model.ts';
import { table } from '../../lib/output.ts';
import type { GegevensTools, Report } from '../commands/tools.ts';
import { Faults } from '../import/faults.ts';
import { checkEntry } from './commands/check.ts';
import { type GivenTables, readMapping, readTableFile, refuseTables } from './commands/given-tables.ts';
import { parsePeriod, wholeNumber } from './commands/options.ts';
import type { Plan } from './tables/plan.ts';
import { faultText, type TableFault } from './tables/table-file.ts';

interface Options {
  readonly mapping?: string;
  readonly dryRun?: boolean;
  readonly show: number;
  readonly showPersons?: boolean;
  readonly period?: { readonly start: string; readonly end: string };
  readonly check?: boolean;
}

const SHOWN = 3;
const MAX_SHOWN = 1000;

export const gegevensTools: GegevensTools = {
  addImportOptions(command) {
    command
      .option('--mapping <file>', 'the files are tables (CSV, XLSX); this maps their columns to members')
      .option('--period <start/end>', 'first and last day of the tables, instead of those in the mapping', parsePeriod)
      .option('--dry-run', 'show the first records of tables as they would be stored, and every fault; store nothing')
      .option('--show <count>', 'how many records of each list a dry run shows', wholeNumber(0, MAX_SHOWN), SHOWN)
      .option('--show-persons', 'show BSN, names, addresses and the keys of rows as they are')
      .option('--check', 'report all findings of `gegevens check`, not only those that block; also in a dry run')
      .option('--force', 'store a file despite findings that block a delivery; the journal keeps them')
      .addHelpText(
        'after',
        `  $ koppelvlak gegevens import --variant shv --mapping mapping.yaml --period 2026-01-01/2026-03-31 --dry-run 2026-q1.csv

Nothing of a file is stored when something in it blocks a delivery: \`gegevens check\` has the rules.`,
      );
  },
  insteadOfImport(command, files) {
    const options = command.opts<Options>();
    const { mapping, dryRun: isDry, period } = options;
    if (mapping !== undefined) {
      if (isDry !== true) return undefined;
      return async (context, model) => dryRun(context, await readMapping(mapping, model), options, files);
    }
    if (isDry === true || period !== undefined) {
      throw new UsageError('--dry-run and --period are for tables: --mapping is missing');
    }
    refuseTables(files);
    return undefined;
  },
  async beginImport(command, model) {
    const options = command.opts<Options>();
    const plan = options.mapping === undefined ? undefined : await readMapping(options.mapping, model);
    return {
      async open(context, path) {
        const tables = plan && (await readTableFile(context, { plan, period: options.period }, path));
        const judge = await createJudge(model, options, { tables, now: context.clock.now() });
        return {
          bytes: tables?.bytes,
          consumer: judge.check,
          report: judge.report,
          faults: (tables?.faults ?? []).map(asFault),
          notes: (tables?.notes ?? []).map(asFault),
          close() {
            judge.check.close();
            tables?.close();
          },
        };
      },
    };
  },
  describeAnswer: checkEntry,
};

/** Judges a file that is imported or tried: by the blocking rules, or by all rules with `--check`. */
async function createJudge(
  model: Model,
  { check: isWhole = false, showPersons = false }: Options,
  { tables, now }: { readonly tables: GivenTables | undefined; readonly now: Date },
) {
  const { DeliveryCheck } = await import('./check/delivery-check.ts');
  const { describeReport } = await import('./check/report-text.ts');
  const check = new DeliveryCheck({ model, now, blockingOnly: !isWhole });
  return {
    check,
    report(): Report {
      tables?.locate(check.findings, showPersons);
      return describeReport(check.report(), isWhole ? table : undefined);
    },
  };
}

/** Shows what an import would store, and all faults. @throws {CommandError} when something would keep it from being stored */
async function dryRun(
  { output, ...context }: Pick<ToolContext, 'terminal' | 'output' | 'interrupted'>,
  plan: Plan,
  options: Options,
  files: readonly string[],
): Promise<void> {
  const { readDelivery } = await import('../store/import-file.ts');
  const { maskPersons } = await import('./tables/mask.ts');
  const { model } = plan;
  const results: { readonly faults: readonly TableFault[]; readonly blocking: number }[] = [];
  const shownResults: object[] = [];
  for (const file of files) {
    const tables = await readTableFile(context, { plan, period: options.period, samples: options.show }, file);
    const { check, report: judged } = await createJudge(model, options, { tables, now: new Date() });
    const { records, samples, notes, leveringen } = tables;
    const ofMessage = new Faults();
    let report: Report | undefined;
    try {
      // Includes faults that only all records together can have: two equal ones, a period that ends before it starts.
      if (tables.faults.length === 0) {
        await readDelivery(tables.bytes, {
          model,
          faults: ofMessage,
          signal: context.interrupted,
          consumers: options.check === true ? [check] : [],
        });
        if (ofMessage.list.length === 0 && options.check === true) report = judged();
      }
    } finally {
      check.close();
      tables.close();
    }
    const ofWhole = ofMessage.list.map(({ pointer, message: what }) => ({ pointer, message: what }));
    const faults = [...tables.faults, ...ofWhole];
    const shown = options.showPersons === true ? samples : maskPersons(samples);
    results.push({ faults, blocking: report?.blocking ?? 0 });
    shownResults.push({
      file,
      leveringen,
      ...records,
      shown,
      faults,
      notes,
      ...(report === undefined ? {} : { check: report.json }),
    });
    output.line(
      `${file}: ${leveringen} levering(en), ${records.records} records, ${records.zaken} zaken; nothing stored`,
    );
    output.line(JSON.stringify(shown, undefined, 2));
    for (const fault of faults) output.line(`  ${faultText(fault)}`);
    for (const note of notes) output.line(`  note: ${faultText(note)}`);
    if (report !== undefined) output.line(report.text);
  }
  output.result({ dryRun: true, files: shownResults }, () => undefined);
  const faulty = results.filter(({ faults }) => faults.length > 0).length;
  if (faulty > 0) throw new CommandError(`${faulty} of ${files.length} files have faults`);
  const blocked = results.filter(({ blocking }) => blocking > 0).length;
  if (blocked > 0) throw new CommandError(`${blocked} of ${files.length} files would not be stored without --force`);
}

function asFault(fault: TableFault) {
  return { fault, text: faultText(fault) };
}
