/** Runs the check over files, stored leveringen, or an answer that was delivered. */
import { basename } from 'node:path';
import { type Pool, withAbort } from '../../../database/pool.ts';
import { listsOf } from '../../../lib/exchange-model/mapping.ts';
import { builtInVersions, loadModel, type Model } from '../../../lib/exchange-model/model.ts';
import { pointerSteps, toPointer, withValueAt } from '../../../lib/json/json-value.ts';
import { Faults, type ImportFault, ImportStopped } from '../../import/faults.ts';
import {
  chooseLeveringen,
  filterOf,
  type GegevensRequest,
  type Levering,
  type PageQuery,
  type Period,
  periodOf,
  planPage,
} from '../../model/selection.ts';
import { readDelivery } from '../../store/import-file.ts';
import type { Journalled } from '../../store/journal.ts';
import { findLeveringenById } from '../../store/manage-leveringen.ts';
import {
  countSelected,
  findDeliverers,
  findLeveringen,
  streamList,
  streamSelected,
} from '../../store/read-leveringen.ts';
import type { GivenTables } from '../commands/given-tables.ts';
import { memberNames } from '../model-shape.ts';
import { type CheckOptions, DeliveryCheck } from './delivery-check.ts';
import type { CheckReport, Place } from './findings.ts';

type RunOptions = CheckOptions & { readonly signal: AbortSignal };

interface FilesOptions extends RunOptions {
  /** Opens a file of tables; `undefined`: the files are JSON. */
  readonly open: ((path: string) => Promise<Pick<GivenTables, 'bytes' | 'locate' | 'close'>>) | undefined;
  /** Whether the keys of rows may be shown. */
  readonly showPersons?: boolean;
  readonly progress?: (bytesRead: number, records: number) => void;
}

/** Judges files together: persons are counted once, records compared with those of their own file. @throws errors of `open`; the signal's reason */
export async function checkFiles(
  paths: readonly string[],
  { open, showPersons = false, ...options }: FilesOptions,
): Promise<CheckReport> {
  const known = memberNames(options.model.schema);
  const check = new DeliveryCheck(options);
  try {
    for (const path of paths) {
      const prefix = paths.length === 1 ? '' : `${basename(path)}#`;
      const tables = await open?.(path);
      try {
        check.start(prefix);
        const faults = new PassedFaults((fault) =>
          check.findings.add('model', 'blocking', modelPlace(fault, prefix, known)),
        );
        await readDelivery(tables?.bytes ?? path, { ...options, faults, consumers: [check] });
        tables?.locate(check.findings, showPersons);
      } finally {
        tables?.close();
      }
    }
    return check.report();
  } finally {
    check.close();
  }
}

/** Passes on every fault and keeps the first: reading continues, so that the counts are complete. */
class PassedFaults extends Faults {
  readonly #pass: (fault: ImportFault) => void;

  constructor(pass: (fault: ImportFault) => void) {
    super();
    this.#pass = pass;
  }

  override add(fault: ImportFault): void {
    if (this.list.length === 0) this.list.push(fault);
    this.#pass(fault);
  }

  override stop(fault: ImportFault): never {
    this.add(fault);
    throw new ImportStopped();
  }
}

/** Names of members that the model does not know are part of the file, and could be anything: they are not shown. @param known names of the model */
function modelPlace({ pointer, line, message }: ImportFault, prefix: string, known: ReadonlySet<string>): Place {
  const shown = message
    .replace(/^(has a member that the model does not know): .*$/s, '$1')
    .replace(/^member .* occurs twice$/s, 'a member occurs twice');
  const steps = pointerSteps(pointer);
  const unknown = steps.findIndex((step) => !/^\d{1,8}$/.test(step) && !known.has(step));
  const place = toPointer(unknown === -1 ? steps : steps.slice(0, unknown));
  return { pointer: prefix + place, what: `line ${line}: ${shown}` };
}

/** Judges the answer to a request for a period and all organisations; without a period, the most recent one. @throws the signal's reason */
export async function checkStored(
  pool: Pool,
  { leverancierscode, ...options }: RunOptions & { readonly leverancierscode: string },
): Promise<{ readonly report: CheckReport; readonly leveringen: readonly Levering[] }> {
  const { model, period: asked, now } = options;
  const { envelop } = model.mapping;
  const filter = { ...filterOf(model.mapping, {}), periodeStart: asked?.start, periodeEinde: asked?.end };
  const { recent } = await findDeliverers(pool, filter);
  const period = periodOf(filter, recent, now);
  const found = recent === undefined ? [] : await findLeveringen(pool, filter, period);
  const check = new DeliveryCheck({ ...options, period: recent === undefined ? asked : period });
  const query = { page: undefined, pageSize: undefined, maximum: Number.MAX_SAFE_INTEGER };
  const leveringen = await judgeAnswer(pool, check, { ...options, leveringen: found, period, query });
  if (leveringen.length > 0) {
    const dates = withValueAt(withValueAt({}, envelop.startdatum, period.start), envelop.einddatum, period.end);
    check.envelop(withValueAt(dates, envelop.leverancierscode, leverancierscode));
  }
  return { report: check.report(), leveringen };
}

/** Judges an answer that was delivered: the same records, for leveringen never change. @returns `undefined` when records of it have been pruned */
export async function checkAnswer(
  pool: Pool,
  entry: Pick<Journalled, 'leveringen' | 'vraag' | 'pagina' | 'paginaGrootte'>,
  { configured, ...options }: Pick<RunOptions, 'now' | 'signal'> & { readonly configured: Model },
): Promise<CheckReport | undefined> {
  const leveringen = await findLeveringenById(pool, entry.leveringen);
  if (leveringen.length !== entry.leveringen.length) return undefined;
  const { variant, mapping } = configured;
  const version = leveringen[0]?.modelVersie ?? mapping.versie;
  const isConfigured = version === mapping.versie || !builtInVersions(variant).includes(version);
  const model = isConfigured ? configured : loadModel(variant, version);
  const request: GegevensRequest = entry.vraag === '' ? {} : JSON.parse(entry.vraag);
  // The reporting period that ends last, and of those the one that starts last.
  const [recent] = leveringen
    .map(({ periodeStart: start, periodeEinde: end }) => ({ start, end }))
    .toSorted((a, b) => (`${a.end} ${a.start}` < `${b.end} ${b.start}` ? 1 : -1));
  const period = periodOf(filterOf(model.mapping, request), recent, options.now);
  const query = { page: entry.pagina, pageSize: entry.paginaGrootte, maximum: entry.paginaGrootte };
  const check = new DeliveryCheck({ ...options, model, period });
  await judgeAnswer(pool, check, { ...options, model, leveringen, period, query });
  // The journal has no envelope.
  check.endLeveringen();
  return check.report();
}

interface JudgeOptions extends Pick<RunOptions, 'model' | 'signal'> {
  readonly leveringen: readonly Levering[];
  readonly period: Period;
  readonly query: PageQuery;
}

/** The largest number in an answer, so that no statement takes longer than those of requests. */
const CHUNK_RECORDS = 25_000;

/** @returns the leveringen that the answer is selected from */
async function judgeAnswer(
  pool: Pool,
  check: DeliveryCheck,
  { model, signal, leveringen, period, query }: JudgeOptions,
): Promise<readonly Levering[]> {
  const chosen = chooseLeveringen(leveringen, period);
  const selectOptions = { chosen, period, byRunningTime: model.mapping.levering.recordId === undefined };
  const counts = await countSelected(pool, selectOptions, signal);
  for (const [index, slice] of planPage(chosen, counts, query).slices.entries()) {
    const nummers = { records: 0, zaken: 0 };
    for (let { from } = slice; from === slice.from || from < slice.to; from += CHUNK_RECORDS) {
      const chunk = { ...slice, from, to: Math.min(from + CHUNK_RECORDS, slice.to) };
      for (const list of listsOf(model.mapping).keys()) {
        const part = { slice: chunk, list };
        const take = (text: string): void => {
          check.item({ levering: index, list, nummer: nummers[list], value: JSON.parse(text), fits: true });
          nummers[list] += 1;
        };
        await withAbort(pool, signal, (client) =>
          slice.group === undefined
            ? streamList(client, part, take)
            : streamSelected(client, [{ part, index: 0 }], take, selectOptions),
        );
      }
    }
    check.levering(index, JSON.parse(slice.levering.head));
    check.judgePeriod({ start: slice.levering.periodeStart, end: slice.levering.periodeEinde });
  }
  return chosen.map(({ levering }) => levering);
}
