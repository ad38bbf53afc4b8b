/** What the tools add to `gegevens import` and `gegevens journal`: tables, and the check. */

import { table } from '../../cli/output.ts';
import { UsageError } from '../../cli/run-command.ts';
import type { GegevensTools, Report } from '../../gegevens/commands/tools.ts';
import type { CheckReport } from './check/delivery-check.ts';
import { checkEntry } from './commands/check.ts';
import {
  addTableOptions,
  dryRun,
  faultText,
  inTables,
  missingMapping,
  readMapping,
  readTableFile,
  type TableOptions,
} from './commands/import-tables.ts';
import type { TableFault } from './tables/table-file.ts';

type Options = TableOptions & { readonly check?: boolean };

export const gegevensTools: GegevensTools = {
  addImportOptions(command) {
    addTableOptions(command)
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
    const missing = missingMapping(options, files);
    if (missing !== undefined) throw new UsageError(missing);
    if (options.dryRun !== true) return undefined;
    return async (context, model) => dryRun(context, await readMapping(options, model), options, files);
  },
  async beginImport(command, model) {
    const options = command.opts<Options>();
    const plan = await readMapping(options, model);
    const { DeliveryCheck } = await import('./check/delivery-check.ts');
    const { countFindings, reportJson, reportText } = await import('./check/report-text.ts');
    const asReport = (report: CheckReport): Report => ({
      text: reportText(report, table),
      json: reportJson(report),
      blocking: countFindings(report, 'blocking'),
    });
    return {
      ...(plan !== undefined && {
        read: async (context, path) => {
          const { tables, source } = await readTableFile(context, plan, options, path);
          return {
            source,
            faults: tables.faults.map(asFault),
            notes: tables.notes.map(asFault),
            placesOf: (faults) => inTables(faults, tables).map(asFault),
            close: () => tables.message.close(),
          };
        },
      }),
      ...(options.check === true && {
        createJudge: (now) => {
          const judge = new DeliveryCheck({ model, now });
          return { judge, report: () => asReport(judge.report()) };
        },
      }),
    };
  },
  describeAnswer: checkEntry,
};

function asFault(fault: TableFault) {
  return { fault, text: faultText(fault) };
}
