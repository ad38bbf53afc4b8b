/** Runs the check over files, over what is stored, and over an answer that was delivered. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Pool, withAbort } from '../../../database/pool.ts';
import { DeliveryReader } from '../../../gegevens/import/delivery-reader.ts';
import { Faults, type ImportFault, ImportStopped } from '../../../gegevens/import/faults.ts';
import type { ItemList, Variant } from '../../../gegevens/model/mapping.ts';
import { builtInVersions, loadModel, type Model } from '../../../gegevens/model/model.ts';
import {
  type CountedLevering,
  chooseLeveringen,
  type Filter,
  type Levering,
  type Period,
  periodOf,
  planPage,
} from '../../../gegevens/model/selection.ts';
import { findDeliverers, findLeveringen, findLeveringenById } from '../../../gegevens/store/find-leveringen.ts';
import { feedFile, NO_TRAITS, recogniseModel } from '../../../gegevens/store/import-file.ts';
import type { Journalled } from '../../../gegevens/store/journal.ts';
import {
  countSelected,
  type SelectOptions,
  streamList,
  streamSelected,
} from '../../../gegevens/store/selected-records.ts';
import type { JsonObject } from '../../../lib/jades/protected-header.ts';
import { pointerSteps, toPointer, valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { memberNames } from '../model-shape.ts';
import { type CheckReport, DeliveryCheck } from './delivery-check.ts';

interface CheckOptions {
  readonly model: Model;
  readonly period?: Period | undefined;
  readonly now: Date;
  readonly signal: AbortSignal;
}

interface CheckFilesOptions extends CheckOptions {
  readonly progress?: (bytesRead: number, records: number) => void;
}

/** The built-in model of a file. */
interface OtherModel {
  readonly variant: Variant;
  readonly version: string;
}

interface CheckedFiles {
  readonly report: CheckReport;
  /** Files that fit another built-in model: of these only the first faults of the model are reported. */
  readonly otherModels: ReadonlyMap<string, OtherModel>;
}

/**
 * Judges files together: persons are counted once, records are compared with those of their own file.
 * @throws what the file system says; the signal's reason
 */
export async function checkFiles(paths: readonly string[], options: CheckFilesOptions): Promise<CheckedFiles> {
  const otherModels = new Map<string, OtherModel>();
  const ofNoOther = new Set<string>();
  for (;;) {
    const check = new DeliveryCheck(options);
    const doubtful = await checkEach(paths, check, { ...options, otherModels, ofNoOther });
    if (doubtful === undefined) return { report: check.report(), otherModels };
    // In a file of another model the rules look for members that it does not have: all is read again, without them.
    const other = await otherModel(doubtful, options);
    if (other === undefined) ofNoOther.add(doubtful);
    else otherModels.set(doubtful, other);
  }
}

interface CheckEachOptions extends CheckFilesOptions {
  readonly otherModels: ReadonlyMap<string, OtherModel>;
  /** Files that were found to fit no other model. */
  readonly ofNoOther: ReadonlySet<string>;
}

/** @returns a file that may be of another model; the rest is not read then */
async function checkEach(
  paths: readonly string[],
  check: DeliveryCheck,
  { otherModels, ofNoOther, ...options }: CheckEachOptions,
): Promise<string | undefined> {
  for (const path of paths) {
    const isOther = otherModels.has(path);
    const stopAfter = isOther || !ofNoOther.has(path) ? ENOUGH_FAULTS : Number.POSITIVE_INFINITY;
    const prefix = paths.length === 1 ? '' : `${basename(path)}#`;
    const hasOtherMembers = await checkFile(path, prefix, check, { ...options, rules: !isOther, stopAfter });
    if (hasOtherMembers && !isOther && !ofNoOther.has(path)) return path;
  }
  return undefined;
}

async function otherModel(path: string, { model, signal }: CheckFilesOptions): Promise<OtherModel | undefined> {
  const { variant, mapping } = model;
  const version = await recogniseModel(path, { variant, except: mapping.versie }, signal);
  if (version !== undefined) return { variant, version };
  const other = variant === 'shv' ? 'vs' : 'shv';
  const ofOther = await recogniseModel(path, { variant: other }, signal);
  return ofOther === undefined ? undefined : { variant: other, version: ofOther };
}

/** By then it shows whether a file is of another model, in which every record has faults. */
const ENOUGH_FAULTS = 100;

interface CheckFileOptions extends CheckFilesOptions {
  /** Whether the rules are judged too. */
  readonly rules: boolean;
  /** Faults after which reading stops when they are about other members than those of the model. */
  readonly stopAfter: number;
}

/** @returns whether members are missing in the file that the model requires, or there are ones that it does not know */
async function checkFile(
  path: string,
  prefix: string,
  check: DeliveryCheck,
  { model, signal, progress, rules, stopAfter }: CheckFileOptions,
): Promise<boolean> {
  check.start(prefix);
  let hasOtherMembers = false;
  let count = 0;
  const known = memberNames(model.schema);
  const faults = new CountedFaults(({ pointer, line, message }) => {
    hasOtherMembers ||= /^has a member that the model does not know|required property/.test(message);
    const place = (): string => prefix + knownPart(pointer, known);
    check.findings.add('model', 'blocking', `line ${line}: ${withoutNames(message)}`, place);
    count += 1;
    if (hasOtherMembers && count >= stopAfter) throw new ImportStopped();
  });
  const reader = new DeliveryReader({
    ...{ model, faults, traitsOf: () => NO_TRAITS, judge: rules ? check : undefined },
    sink: { text: () => undefined, traits: () => undefined },
  });
  const file = await open(path);
  try {
    await feedFile(file, reader, { signal, after: async (bytesRead) => progress?.(bytesRead, reader.records) });
    reader.finish();
  } catch (error) {
    if (!(error instanceof ImportStopped)) throw error;
  } finally {
    await file.close();
  }
  return hasOtherMembers;
}

/** Hands every fault on, and keeps the first: reading goes on, so that the counts are complete. */
class CountedFaults extends Faults {
  readonly #take: (fault: ImportFault) => void;

  constructor(take: (fault: ImportFault) => void) {
    super();
    this.#take = take;
  }

  override add(fault: ImportFault): void {
    if (this.list.length === 0) this.list.push(fault);
    this.#take(fault);
  }

  override stop(fault: ImportFault): never {
    this.add(fault);
    throw new ImportStopped();
  }
}

/** Names of members that the model does not know are part of the file, and could be anything. */
function withoutNames(message: string): string {
  return message
    .replace(/^(has a member that the model does not know): .*$/s, '$1')
    .replace(/^member .* occurs twice$/s, 'a member occurs twice');
}

/** The part of a pointer that consists of indexes and of members that the model names. */
function knownPart(pointer: string, known: ReadonlySet<string>): string {
  const steps = pointerSteps(pointer);
  const unknown = steps.findIndex((step) => !/^\d{1,8}$/.test(step) && !known.has(step));
  return unknown === -1 ? pointer : toPointer(steps.slice(0, unknown));
}

interface StoredOptions extends CheckOptions {
  /** `codeGegevensleverancier` of answers. */
  readonly leverancierscode: string;
}

/**
 * Judges what a request for a period would get, of all organisations; without a period that of the most recent one. Places are those in
 * its answer.
 * @throws what the database throws; the signal's reason
 */
export async function checkStored(
  pool: Pool,
  options: StoredOptions,
): Promise<{ readonly report: CheckReport; readonly leveringen: readonly Levering[] }> {
  const { model, period: asked, now, signal } = options;
  const { variant, versie } = model.mapping;
  const filter: Filter = {
    ...{ variant, model: versie, organisatie: undefined },
    ...{ periodeStart: asked?.start, periodeEinde: asked?.end },
  };
  const { recent } = await findDeliverers(pool, filter);
  const period = periodOf(filter, recent, now);
  const leveringen = recent === undefined ? [] : await findLeveringen(pool, filter, period);
  const { counted, select } = await countChosen(pool, leveringen, period, model, signal);
  const check = new DeliveryCheck({ ...options, period: recent === undefined ? asked : period });
  check.start('');
  for (const [index, each] of counted.entries()) {
    await judgeLevering(pool, { ...each, index, from: 0, to: each.records, check, select, model, signal });
  }
  if (counted.length > 0) check.envelop(envelopOf(model, period, options.leverancierscode));
  return { report: check.report(), leveringen: counted.map(({ levering }) => levering) };
}

/**
 * Judges an answer that was delivered: the same records, for leveringen never change. Places are those in the answer.
 * @param entry of the journal
 * @returns `undefined` when records of it have been pruned
 */
export async function checkAnswer(
  pool: Pool,
  entry: Pick<Journalled, 'variant' | 'leveringen' | 'vraag' | 'pagina' | 'paginaGrootte'>,
  { configured, ...options }: Pick<CheckOptions, 'now' | 'signal'> & { readonly configured: Model },
): Promise<CheckReport | undefined> {
  const leveringen = await findLeveringenById(pool, entry.leveringen);
  if (leveringen.length !== entry.leveringen.length) return undefined;
  const versions = new Set(leveringen.map(({ modelVersie }) => modelVersie));
  const [version = configured.mapping.versie] = versions;
  const model = modelOf(version, configured);
  const period = periodOf(askedPeriod(entry.vraag), mostRecent(leveringen), options.now);
  const { counted, select } = await countChosen(pool, leveringen, period, model, options.signal);
  const query = { page: entry.pagina, pageSize: entry.paginaGrootte, maximum: entry.paginaGrootte };
  const check = new DeliveryCheck({ ...options, model, period });
  check.start('');
  for (const [index, slice] of planPage(counted, query).slices.entries()) {
    await judgeLevering(pool, { ...slice, index, check, select, model, signal: options.signal });
  }
  // The journal has no envelope.
  check.endLeveringen();
  return check.report();
}

function modelOf(version: string, configured: Model): Model {
  const { variant, mapping } = configured;
  if (version === mapping.versie || !builtInVersions(variant).includes(version)) return configured;
  return loadModel(variant, version);
}

/** The dates of a request, as the journal has it. */
function askedPeriod(vraag: string): Pick<Filter, 'periodeStart' | 'periodeEinde'> & Filter {
  const request: unknown = vraag === '' ? {} : JSON.parse(vraag);
  const date = (name: string): string | undefined => {
    const value = valueAt(request, [name]);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    ...{ variant: 'shv', model: '', organisatie: undefined },
    periodeStart: date('aanleverperiodeStartdatum'),
    periodeEinde: date('aanleverperiodeEinddatum'),
  };
}

/** The reporting period that ends last, and of those the one that starts last. */
function mostRecent(leveringen: readonly Levering[]): Period | undefined {
  return leveringen
    .map(({ periodeStart: start, periodeEinde: end }) => ({ start, end }))
    .toSorted((a, b) => (`${a.end} ${a.start}` < `${b.end} ${b.start}` ? 1 : -1))[0];
}

async function countChosen(
  pool: Pool,
  leveringen: readonly Levering[],
  period: Period,
  model: Model,
  signal: AbortSignal,
): Promise<{ readonly counted: readonly CountedLevering[]; readonly select: SelectOptions }> {
  const chosen = chooseLeveringen(leveringen, period);
  const all = chosen.flatMap(({ levering, selection }) => (selection === undefined ? [] : [{ levering, selection }]));
  const select = { all, byRunningTime: model.mapping.levering.recordId === undefined };
  const counts = await countSelected(pool, select, signal);
  const records = new Map(all.map(({ levering }, index) => [levering.id, counts[index] ?? 0]));
  return {
    counted: chosen.map((each) => ({ ...each, records: records.get(each.levering.id) ?? each.levering.records })),
    select,
  };
}

interface JudgedSlice extends Omit<CountedLevering, 'records'> {
  /** Place of the levering in the answer. */
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly check: DeliveryCheck;
  readonly select: SelectOptions;
  readonly model: Model;
  readonly signal: AbortSignal;
}

/** As many as an answer has at most, so that no statement takes longer than those of requests. */
const CHUNK_RECORDS = 25_000;

async function judgeLevering(pool: Pool, slice: JudgedSlice): Promise<void> {
  const { levering, selection, index, from: first, to: last, check, select, model, signal } = slice;
  const counts: Record<ItemList, number> = { records: 0, zaken: 0 };
  const lists: readonly ItemList[] =
    model.mapping.levering.zaken === undefined || levering.zaken === 0 ? ['records'] : ['records', 'zaken'];
  for (let from = first; from === first || from < last; from += CHUNK_RECORDS) {
    const part = { levering, selection, from, to: Math.min(from + CHUNK_RECORDS, last), zaken: true };
    for (const list of lists) {
      const take = (text: string): void => {
        const value: unknown = JSON.parse(text);
        check.item(index, list, counts[list], value, true);
        counts[list] += 1;
      };
      await withAbort(pool, signal, (client) =>
        selection === undefined
          ? streamList(client, { slice: part, list }, take)
          : streamSelected(client, [{ slice: part, list }], take, select),
      );
    }
  }
  const head: unknown = JSON.parse(levering.head);
  check.levering(index, head);
}

/** The members of an answer around its leveringen. */
function envelopOf({ mapping: { envelop } }: Model, { start, end }: Period, leverancierscode: string): JsonObject {
  const dates = withValueAt(withValueAt({}, envelop.startdatum, start), envelop.einddatum, end);
  return withValueAt(dates, envelop.leverancierscode, leverancierscode);
}
