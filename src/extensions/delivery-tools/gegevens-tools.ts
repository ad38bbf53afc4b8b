/** What the tools add to `gegevens import` and `gegevens journal`: tables, and the check. */
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { createProgress, table } from '../../cli/output.ts';
import { type CommandContext, CommandError, type ToolContext, UsageError } from '../../cli/run-command.ts';
import type { GegevensTools } from '../../gegevens/commands/tools.ts';
import { Faults } from '../../gegevens/import/faults.ts';
import type { Model } from '../../gegevens/model/model.ts';
import type { DeliveryBytes } from '../../gegevens/store/import-file.ts';
import { limitYoungGeneration } from '../../lib/scheduling.ts';
import { checkEntry } from './commands/check.ts';
import { parsePeriod, wholeNumber } from './commands/options.ts';
import type { Plan } from './tables/plan.ts';
import type { ReadTables } from './tables/read-tables.ts';
import type { TableFault } from './tables/table-file.ts';

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
const TABLE_NAMES: ReadonlySet<string> = new Set(['.csv', '.tsv', '.xls', '.xlsx', '.xlsm', '.ods']);

export const gegevensTools: GegevensTools = {
  addImportOptions(command) {
    command
      .option('--mapping <file>', 'the files are tables; this says which column becomes which member')
      .option('--period <start/end>', 'first and last day of the tables, instead of those in the mapping', parsePeriod)
      .option('--dry-run', 'show the first records of tables as they would be, and every fault; store nothing')
      .option('--show <count>', 'how many records of each list a dry run shows', wholeNumber(0, MAX_SHOWN), SHOWN)
      .option('--show-persons', 'show BSN, names and addresses in a dry run as they are')
      .option(
        '--check',
        'report on what was stored, as `gegevens check` does; exit status 1 when something in it blocks',
      )
      .addHelpText(
        'after',
        '  $ koppelvlak gegevens import --variant shv --mapping mapping.yaml --dry-run 2026-q1.csv',
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
    const table = files.find((file) => TABLE_NAMES.has(extname(file).toLowerCase()));
    if (table !== undefined) throw new UsageError(`${table} is a table: --mapping is missing`);
    return undefined;
  },
  async beginImport(command, model) {
    const options = command.opts<Options>();
    const plan = options.mapping === undefined ? undefined : await readMapping(options.mapping, model);
    const { DeliveryCheck } = await import('./check/delivery-check.ts');
    const { describeReport } = await import('./check/report-text.ts');
    return {
      ...(plan !== undefined && {
        read: async (context, path) => {
          const { tables, bytes } = await readTableFile(context, plan, options, path);
          return {
            bytes,
            faults: tables.faults.map(asFault),
            notes: tables.notes.map(asFault),
            close: () => tables.message.close(),
          };
        },
      }),
      ...(options.check === true && {
        createJudge: (now) => {
          const judge = new DeliveryCheck({ model, now });
          return { judge, report: () => describeReport(judge.report(), table), close: () => judge.close() };
        },
      }),
    };
  },
  describeAnswer: checkEntry,
};

/** @throws {MappingError} */
async function readMapping(path: string, model: Model): Promise<Plan> {
  const { readMappingFile } = await import('./tables/mapping-file.ts');
  const { planTables } = await import('./tables/plan.ts');
  return planTables(readMappingFile(path), model);
}

/** Reads the tables of a file and judges their records. @returns them, and the message to import when they have no faults */
async function readTableFile(
  { terminal, interrupted: signal }: Pick<CommandContext, 'terminal' | 'interrupted'>,
  plan: Plan,
  { period, dryRun: isDry, show }: Options,
  path: string,
): Promise<{ readonly tables: ReadTables; readonly bytes: DeliveryBytes }> {
  const { envelopOf, messageBytes, openTableFile } = await import('./tables/table-source.ts');
  const { readTables } = await import('./tables/read-tables.ts');
  // Rows are short-lived: a large young generation would hold a hundred megabytes of them.
  limitYoungGeneration();
  const { size } = await stat(path);
  const progress = createProgress(terminal, 'records read', path.toLowerCase().endsWith('.csv') ? size : undefined);
  const envelop = envelopOf({ plan, now: new Date(), period });
  try {
    const tables = await readTables({
      ...{ plan, envelop, signal, samples: isDry === true ? show : 0, progress: progress.update },
      open: () => openTableFile(path, plan, { signal, onBytes: progress.reached }),
    });
    return { tables, bytes: messageBytes(tables.message, plan, envelop) };
  } finally {
    progress.end();
  }
}

/** Shows what an import would store, and all faults. @throws {CommandError} when there are any */
async function dryRun(
  { output, ...context }: Pick<ToolContext, 'terminal' | 'output' | 'interrupted'>,
  plan: Plan,
  options: Options,
  files: readonly string[],
): Promise<void> {
  const { readDelivery } = await import('../../gegevens/store/import-file.ts');
  const { maskPersons } = await import('./tables/mask.ts');
  const results: { readonly file: string; readonly faults: readonly TableFault[] }[] = [];
  for (const file of files) {
    const { tables, bytes } = await readTableFile(context, plan, options, file);
    const { records, samples, message, notes } = tables;
    const ofMessage = new Faults();
    if (tables.faults.length === 0) {
      // Down to what only all records together can have wrong: two equal ones, a period that ends before it starts.
      await readDelivery(bytes, { model: plan.model, faults: ofMessage, signal: context.interrupted });
    }
    const ofWhole = ofMessage.list.map(({ pointer, message: what }) => ({ pointer, message: what }));
    const faults = [...tables.faults, ...ofWhole];
    message.close();
    const shown = options.showPersons === true ? samples : maskPersons(samples);
    const result = { file, leveringen: message.leveringen.length, ...records, shown, faults, notes };
    results.push(result);
    if (output.json) continue;
    output.line(
      `${file}: ${result.leveringen} levering(en), ${records.records} records, ${records.zaken} zaken; nothing stored`,
    );
    output.line(JSON.stringify(shown, undefined, 2));
    for (const fault of faults) output.line(`  ${faultText(fault)}`);
    for (const note of notes) output.line(`  note: ${faultText(note)}`);
  }
  output.result({ dryRun: true, files: results }, () => undefined);
  const faulty = results.filter(({ faults }) => faults.length > 0).length;
  if (faulty > 0) throw new CommandError(`${faulty} of ${files.length} files have faults`);
}

function asFault(fault: TableFault) {
  return { fault, text: faultText(fault) };
}

/** A fault with its sheet, row and column. */
function faultText({ sheet, row, column, cell, pointer, message }: TableFault): string {
  const place = [
    ...(sheet === undefined ? [] : [`sheet ${sheet}`]),
    ...(row === undefined ? [] : [`row ${row}`]),
    ...(column === undefined ? [] : [`column ${column}${cell === undefined ? '' : ` (${cell})`}`]),
  ];
  return [place.join(', '), pointer, message].filter((part) => part !== undefined && part !== '').join('  ');
}
