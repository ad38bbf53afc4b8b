/** An import of tables that stores nothing, and the judgement that a trial and an import have in common. */

import type { ToolContext } from '../../../commands/run-command.ts';
import { CommandError } from '../../../lib/command-error.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { Faults } from '../../import/faults.ts';
import type { Period } from '../../model/selection.ts';
import type { Report } from '../check/report.ts';
import type { Plan } from '../tables/plan.ts';
import { faultText } from '../tables/table-file.ts';
import { maskedText } from '../tables/target-form.ts';
import { type GivenTables, readTableFile } from './given-tables.ts';

interface JudgeOptions {
  readonly check?: boolean;
  readonly showPersons?: boolean;
}

export interface DryRunOptions extends JudgeOptions {
  readonly show: number;
  readonly period?: Period;
}

/** Judges a file that is imported or tried: by the blocking rules, or by all rules with `--check`. */
export async function createJudge(
  model: Model,
  { check: isWhole = false, showPersons = false }: JudgeOptions,
  { tables, now }: { readonly tables: GivenTables | undefined; readonly now: Date },
) {
  const { DeliveryCheck } = await import('../check/delivery-check.ts');
  const { describeReport } = await import('../check/report.ts');
  const check = new DeliveryCheck({ model, now, blockingOnly: !isWhole });
  return {
    check,
    report(): Report {
      tables?.locate(check.findings, showPersons);
      return describeReport(check.report(), isWhole);
    },
  };
}

/** Shows what an import would store, and all faults. @throws {CommandError} when something would keep it from being stored */
export async function dryRun(
  { output, ...context }: Pick<ToolContext, 'terminal' | 'output' | 'interrupted'>,
  plan: Plan,
  options: DryRunOptions,
  files: readonly string[],
): Promise<void> {
  const { readDelivery } = await import('../../store/import-file.ts');
  const { model } = plan;
  const results: object[] = [];
  let [faulty, blocked] = [0, 0];
  for (const file of files) {
    const tables = await readTableFile(context, { plan, period: options.period, samples: options.show }, file);
    const { check, report: judged } = await createJudge(model, options, { tables, now: new Date() });
    const { records, samples, notes, leveringen } = tables;
    const faults = [...tables.faults];
    let report: Report | undefined;
    try {
      // Includes faults that only all records together can have: two equal ones, a period that ends before it starts.
      if (faults.length === 0) {
        const ofMessage = new Faults();
        await readDelivery(tables.bytes, {
          model,
          faults: ofMessage,
          signal: context.interrupted,
          consumers: options.check === true ? [check] : [],
        });
        faults.push(...ofMessage.list.map(({ pointer, message }) => ({ pointer, message })));
        if (faults.length === 0 && options.check === true) report = judged();
      }
    } finally {
      check.close();
      tables.close();
    }
    faulty += Number(faults.length > 0);
    blocked += Number(report !== undefined && report.blocking > 0);
    const shown = options.showPersons === true ? samples : maskPersons(samples);
    const found = { shown, faults, notes, ...(report === undefined ? {} : { check: report.json }) };
    results.push({ file, leveringen, ...records, ...found });
    output.line(
      `${file}: ${leveringen} levering(en), ${records.records} records, ${records.zaken} zaken; nothing stored`,
    );
    output.line(JSON.stringify(shown, undefined, 2));
    for (const fault of faults) output.line(`  ${faultText(fault)}`);
    for (const note of notes) output.line(`  note: ${faultText(note)}`);
    if (report !== undefined) output.line(report.text);
  }
  output.result({ dryRun: true, files: results }, () => undefined);
  if (faulty > 0) throw new CommandError(`${faulty} of ${files.length} files have faults`);
  if (blocked > 0) throw new CommandError(`${blocked} of ${files.length} files would not be stored without --force`);
}

/** Names of members that identify a person, in the models and in likely mappings. */
const PERSONAL =
  /burgerservicenummer|bsn|naam|voorletters|voorvoegsel|geboorte|postcode|huisnummer|straat|adres|plaats|e-?mail|telefoon/i;

/** A copy of a record in which each letter and digit of identifying members is a placeholder. */
function maskPersons(value: unknown, isPersonal = false): unknown {
  if (Array.isArray(value)) return value.map((item) => maskPersons(item, isPersonal));
  if (isRecord(value)) {
    const members = Object.entries(value);
    return Object.fromEntries(
      members.map(([name, member]) => [name, maskPersons(member, isPersonal || PERSONAL.test(name))]),
    );
  }
  if (!isPersonal || (typeof value !== 'string' && typeof value !== 'number')) return value;
  return maskedText(String(value), { upper: 'X', lower: 'x' });
}
