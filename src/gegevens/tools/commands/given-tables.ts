/** Files of tables passed to a command, as messages of the model. */
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { ToolContext } from '../../../commands/run-command.ts';
import { UsageError } from '../../../lib/command-error.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { type JsonObject, pointerSteps, toPointer, withValueAt } from '../../../lib/json/json-value.ts';
import { createProgress } from '../../../lib/output.ts';
import { limitYoungGeneration } from '../../../lib/scheduling.ts';
import type { Period } from '../../model/selection.ts';
import type { DeliveryBytes } from '../../store/import-file.ts';
import type { Findings } from '../check/findings.ts';
import { askPeriod, BeginDays, periodInName, quarterAround, readPeriod } from '../table-period.ts';
import type { Plan } from '../tables/plan.ts';
import type { ReadTables } from '../tables/read-tables.ts';
import type { TableFault } from '../tables/table-file.ts';

const TABLE_NAMES: ReadonlySet<string> = new Set(['.csv', '.tsv', '.xls', '.xlsx', '.xlsm', '.ods']);

/** @throws {UsageError} when a file is a table and there is no mapping */
export function refuseTables(files: readonly string[]): void {
  const table = files.find((file) => TABLE_NAMES.has(extname(file).toLowerCase()));
  if (table !== undefined) throw new UsageError(`${table} is a table: --mapping is missing`);
}

/** @throws {MappingError} */
export async function readMapping(path: string, model: Model): Promise<Plan> {
  const { readMappingFile } = await import('../tables/mapping-file.ts');
  const { planTables } = await import('../tables/plan.ts');
  return planTables(readMappingFile(path), model);
}

export interface TableOptions {
  readonly plan: Plan;
  /** Instead of that in the mapping. */
  readonly period?: Period | undefined;
  /** A dry run: how many of the first records of each list are kept for display. */
  readonly samples?: number;
}

/** Tables that have been read, and the message to import or judge when they have no faults. To be closed. */
export interface GivenTables extends Omit<ReadTables, 'message'> {
  readonly leveringen: number;
  readonly bytes: DeliveryBytes;
  /** Names the rows of the findings in the message. @param showPersons the keys of the rows too, which may be of persons */
  locate(findings: Findings, showPersons: boolean): void;
  close(): void;
}

/** Reads the tables of a file and judges their records by the model; asks for the period if it is in doubt. */
export async function readTableFile(
  { terminal, interrupted: signal }: Pick<ToolContext, 'terminal' | 'interrupted'>,
  { plan, period: given, samples }: TableOptions,
  path: string,
): Promise<GivenTables> {
  const { readTables } = await import('../tables/read-tables.ts');
  // Rows are short-lived: a large young generation would hold a hundred megabytes of them.
  limitYoungGeneration();
  const { size } = await stat(path);
  const now = new Date();
  const file = basename(path);
  const ofMapping = periodOfMapping(plan);
  const own = ofMapping ?? undefined;
  const isSettled = given !== undefined || ofMapping === null;
  const faults: TableFault[] = [];
  const notes: TableFault[] = [];
  const ask = async (found: Period | undefined, by: 'name' | 'dates'): Promise<Period | undefined> => {
    const answer = await askPeriod(terminal, { file, said: { mapping: own, file: found, by }, signal });
    if (typeof answer !== 'string') return answer;
    // The few rows of a trial may all be from earlier periods: only a note.
    const isTried = samples !== undefined && own !== undefined && by === 'dates';
    (isTried ? notes : faults).push({ message: answer });
    return own;
  };
  const named = periodInName(file, own, now);
  const isInDoubt = !isSettled && named !== undefined && !isSame(named, own);
  let period = given ?? (isInDoubt ? await ask(named, 'name') : own);
  const days = new BeginDays(plan.model.mapping, period, now);
  const envelop = (): JsonObject =>
    envelopOf(plan, now, period ?? (isSettled ? undefined : quarterAround(now.toISOString())));
  const progress = createProgress(terminal, 'records read', path.toLowerCase().endsWith('.csv') ? size : undefined);
  const tables = await readTables({
    plan,
    path,
    envelop: envelop(),
    signal,
    samples: samples ?? 0,
    onBytes: progress.reached,
    progress: progress.update,
    onRecord: (list, record) => {
      if (list === 'records') days.add(record);
    },
  }).finally(() => progress.end());
  const { message, mainTables } = tables;
  try {
    const isDoubtful = period === undefined || (days.quarter !== undefined && !days.isWithin);
    if (!isSettled && !isInDoubt && isDoubtful && tables.faults.length === 0) period = await ask(days.quarter, 'dates');
  } catch (error) {
    message.close();
    throw error;
  }
  return {
    ...tables,
    faults: [...faults, ...tables.faults],
    notes: [...notes, ...tables.notes],
    leveringen: message.leveringen.length,
    bytes: message.bytes(envelop()),
    locate: (findings, showPersons) =>
      findings.locate((items) => {
        const rowOf = message.rowsOf(items);
        return (item) => {
          const found = rowOf(item);
          if (found === undefined) return undefined;
          const { sheet, key: columns = [] } = mainTables.get(item.list) ?? {};
          const values: readonly unknown[] = showPersons && found.key !== undefined ? JSON.parse(found.key) : [];
          const key = columns.map((column, at) => ({
            column,
            ...(values[at] === undefined ? {} : { value: String(values[at]) }),
          }));
          return { file, ...(sheet === undefined ? {} : { sheet }), row: found.row, key };
        };
      }),
    close: () => message.close(),
  };
}

/** The members of the message around its leveringen. */
function envelopOf({ content, model }: Plan, now: Date, period: Period | undefined): JsonObject {
  const { startdatum, einddatum, aanleverdatumEnTijd, leveringen } = model.mapping.envelop;
  let envelop = withValueAt({}, aanleverdatumEnTijd, now.toISOString());
  for (const [pointer, value] of Object.entries(content.envelope))
    envelop = withValueAt(envelop, pointerSteps(pointer), value);
  if (period !== undefined)
    envelop = withValueAt(withValueAt(envelop, startdatum, period.start), einddatum, period.end);
  return withValueAt(envelop, leveringen, []);
}

/** The period that a mapping has. @returns null when its days are no period, which is a fault of the message */
function periodOfMapping({ content, model }: Plan): Period | null | undefined {
  const { startdatum, einddatum } = model.mapping.envelop;
  const [start, end] = [startdatum, einddatum].map((path) => content.envelope[toPointer(path)]);
  return start === undefined || end === undefined ? undefined : (readPeriod(`${start}/${end}`) ?? null);
}

function isSame(one: Period, other: Period | undefined): boolean {
  return one.start === other?.start && one.end === other.end;
}
