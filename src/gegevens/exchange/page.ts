// The page of an answer: first how it is found, in the state of its requester, then how its bytes are written from stored texts.
// @see docs/decisions/0012-pages-come-from-a-list-of-leveringen.md
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { withAbort } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { listsOf } from '../../lib/exchange-model/mapping.ts';
import type { Model } from '../../lib/exchange-model/model.ts';
import { isRecord, type JsonObject, textAround, withValueAt } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import { createSemaphore, eventLoopBudget } from '../../lib/scheduling.ts';
import { moment } from '../../lib/time.ts';
import type { GegevensMetrics } from '../metrics.ts';
import {
  type AnswerPart,
  chooseLeveringen,
  emptySlices,
  estimateBytes,
  type Filter,
  filterKey,
  groupLists,
  latestDelivery,
  type PagePlan,
  type PageQuery,
  periodOf,
  planPage,
  type Slice,
  type TextsPart,
  type Uncovered,
  uncoveredDays,
} from '../model/selection.ts';
import { gegevensProblems } from '../problems.ts';
import {
  countSelected,
  findDeliverers,
  findLeveringen,
  findOrganisations,
  findPagingState,
  type PagingState,
  type RequestedDeliverers,
  type SelectOptions,
  savePagingState,
  streamList,
  streamSelected,
} from '../store/read-leveringen.ts';

interface PageRequest {
  readonly filter: Filter;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** The requester whose pages belong together. */
  readonly afnemer: string;
  readonly client: string;
}

export interface FoundPage extends PageBytes {
  readonly from: 'memory' | 'database';
  /** Call this when the bytes are no longer needed, whether they were sent or not. */
  readonly release: () => void;
  /** Saves the state for the later pages, if this is the first of several, in the transaction that records the answer. */
  readonly saveState: (db: Db) => Promise<void>;
  readonly records: number;
  readonly page: number;
  readonly pageSize: number;
  readonly leveringen: readonly number[];
  readonly uncovered: readonly Uncovered[];
}

const MEGABYTE = 1024 * 1024;
const CLIENT_SHARE = 1 / 2;
/** Smaller answers are not counted: thousands of them take less memory than the connections that request them. */
export const SMALL_BYTES = 256 * 1024;
const MAX_COUNT_BYTES = 4 * 1024 * 1024;

/** Finds the requested page, in the state that this requester's pages come from. */
export type PageFinder = (request: PageRequest, signal: AbortSignal) => Promise<FoundPage>;

/** The finders of both mounts, which share the memory for large answers that are being made or sent, and for pages that were served. */
export function createPageFinders({ database, clock, settings }: FastifyInstance, metrics: GegevensMetrics) {
  const { answersMb, answersWaitMs, cacheMb, pagePinMinutes: minutes, supplierCode } = settings.gegevens;
  const pool = database.exchangePool;
  const memory = createSemaphore({
    maxWeight: answersMb * MEGABYTE,
    waitMs: answersWaitMs,
    smallWeight: SMALL_BYTES,
    clientShare: CLIENT_SHARE,
    full: () =>
      new Problem(gegevensProblems.dienstOnbereikbaar, {
        detail: 'Er zijn nu te veel grote leveringen tegelijk onderweg; er is niets geleverd.',
        headers: { 'retry-after': String(Math.max(1, Math.ceil(answersWaitMs / 1000))) },
        fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
      }),
    changed: ({ weight, waiting }) => {
      metrics.answersBytes.set(weight);
      metrics.answersWaiting.set(waiting);
    },
  });
  // Pages while a requester can ask for them. The key of one names its leveringen, so a page with a removed levering is not found.
  const cache = new LRUCache<string, PageBytes>({
    maxSize: Math.max(1, cacheMb * MEGABYTE),
    sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length,
    ttl: minutes * 60_000,
    ttlAutopurge: true,
  });
  const countCache = new LRUCache<string, ReadonlyMap<number, number>>({
    maxSize: MAX_COUNT_BYTES,
    sizeCalculation: (counts, key) => 100 + 2 * key.length + 50 * counts.size,
  });
  return { finderOf, close: () => cache.clear() };

  /** The finder throws {Problem} `onbekende-organisatie`, `service-unreachable` (no memory for a page); errors of the database; the signal's reason. */
  function finderOf(model: Model, maximum: number): PageFinder {
    const byRunningTime = model.mapping.levering.recordId === undefined;
    return async ({ filter, afnemer, client, page: number, pageSize }, signal) => {
      const at = clock.now();
      const query: PageQuery = { page: number, pageSize, maximum };
      const requested = await findDeliverers(pool, filter);
      const pagingKey = { variant: filter.variant, afnemer, filter: filterKey(filter) };
      const savedState = (number ?? 1) > 1 ? await findPagingState(pool, pagingKey, at) : undefined;
      const state = savedState ?? (await currentState(filter, requested, at));
      const { period } = state;
      const chosen = chooseLeveringen(state.leveringen, period);
      const selection: SelectOptions = { chosen, period, byRunningTime };
      const plan =
        chosen.length > 0
          ? planPage(chosen, await countsOf(selection, signal), query)
          : await emptyPlan(filter, requested, query);
      const planned: PlannedPage = { plan, selection, deliveredAt: latestDelivery(chosen) ?? at };
      const permit = await memory.acquire({ weight: estimateBytes(plan), client }, signal);
      const { page, from } = await reuseOrWrite(filter, model, planned, signal).catch((error: unknown) => {
        permit.release();
        throw error;
      });
      permit.resize(page.bytes);
      // Page 1 starts paging through a new state, a later page comes from the saved one, and a page past the end changes nothing.
      const startsPaging =
        plan.paginering !== undefined && savedState === undefined && !plan.isPastEnd && chosen.length > 0;
      return {
        ...page,
        from,
        release: permit.release,
        async saveState(db) {
          if (startsPaging) await savePagingState(db, { ...pagingKey, ...state, at, minutes });
        },
        records: plan.records,
        page: plan.paginering?.currentPage ?? 1,
        pageSize: plan.paginering?.pageSize ?? maximum,
        leveringen: chosen.map(({ levering }) => levering.id),
        uncovered: uncoveredDays(requested.deliverers, chosen, period),
      };
    };
  }

  async function currentState(filter: Filter, { recent }: RequestedDeliverers, at: Date): Promise<PagingState> {
    const period = periodOf(filter, recent, at);
    return { period, leveringen: recent === undefined ? [] : await findLeveringen(pool, filter, period) };
  }

  /** The numbers of records of the leveringen that are delivered in part. Leveringen never change, so counts stay correct. */
  async function countsOf(selection: SelectOptions, signal: AbortSignal) {
    const key = JSON.stringify([selection.period, partialIds(selection)]);
    const counts = countCache.get(key) ?? (await countSelected(pool, selection, signal));
    countCache.set(key, counts);
    return counts;
  }

  async function emptyPlan(filter: Filter, { deliverers }: RequestedDeliverers, query: PageQuery): Promise<PagePlan> {
    if (deliverers.length === 0 && filter.organisatie !== undefined) {
      throw new Problem(gegevensProblems.onbekendeOrganisatie, {
        detail: 'Deze leverancier levert niet voor de gevraagde organisatie.',
      });
    }
    return { ...planPage([], new Map(), query), slices: emptySlices(await findOrganisations(pool, filter)) };
  }

  async function reuseOrWrite(filter: Filter, model: Model, planned: PlannedPage, signal: AbortSignal) {
    const key = pageKey(filter, planned);
    const cached = cache.get(key);
    const write = async (client: pg.ClientBase) =>
      await writePage(client, answerParts(model, supplierCode, planned), planned.selection);
    const page = cached ?? (await withAbort(pool, signal, write));
    cache.set(key, page);
    return { page, from: cached === undefined ? ('database' as const) : ('memory' as const) };
  }
}

interface PlannedPage {
  readonly plan: PagePlan;
  readonly selection: SelectOptions;
  /** When the newest levering of all pages was delivered, so that every page has the same value. */
  readonly deliveredAt: Date;
}

/** Equal for pages with the same bytes. A stored levering never changes, so its number identifies its contents. */
function pageKey({ variant, model }: Filter, { plan, selection, deliveredAt }: PlannedPage): string {
  const slices = plan.slices.map(({ levering: { id, records, zaken }, from, to, group }) => {
    return [id, records, zaken, from, to, group];
  });
  const { period } = selection;
  return JSON.stringify([variant, model, period, deliveredAt, plan.paginering, slices, partialIds(selection)]);
}

function partialIds({ chosen }: SelectOptions): number[] {
  return chosen.flatMap(({ levering, group }) => (group === undefined ? [] : [levering.id]));
}

function answerParts(
  model: Model,
  supplierCode: string,
  { plan: { slices, paginering }, selection: { period }, deliveredAt }: PlannedPage,
): AnswerPart[] {
  const { envelop } = model.mapping;
  let message: JsonObject = {};
  message = withValueAt(message, envelop.startdatum, period.start);
  message = withValueAt(message, envelop.einddatum, period.end);
  message = withValueAt(message, envelop.aanleverdatumEnTijd, moment(deliveredAt));
  message = withValueAt(message, envelop.leverancierscode, supplierCode);
  if (slices.length > 0 || model.leveringenRequired) message = withValueAt(message, envelop.leveringen, []);
  const parts = textAround(message, new Map([['leveringen', envelop.leveringen]])).flatMap((piece) => {
    if (piece.list === undefined) return [piece.text];
    return ['[', ...(slices.length === 0 ? [emptyLevering(model)] : leveringParts(slices, model)), ']'];
  });
  return ['{"gegevens":', ...parts, paginering === undefined ? '}' : `,"paginering":${JSON.stringify(paginering)}}`];
}

function leveringParts(slices: readonly Slice[], { mapping }: Model): AnswerPart[] {
  const { teller, records } = mapping.levering;
  const lists = listsOf(mapping);
  return slices.flatMap((slice, index): AnswerPart[] => {
    const stored: unknown = JSON.parse(slice.levering.head);
    if (!isRecord(stored)) throw new TypeError(`levering ${slice.levering.id} has no readable head`);
    const head = withValueAt(withValueAt(stored, teller, index + 1), records, []);
    const pieces = textAround(head, lists).flatMap((piece): AnswerPart[] =>
      piece.list === undefined ? [piece.text] : ['[', { slice, list: piece.list }, ']'],
    );
    return index === 0 ? pieces : [',', ...pieces];
  });
}

/** A levering of an unnamed organisation, for a model that requires one even when there are none. */
function emptyLevering({ mapping: { levering: paths } }: Model): string {
  let levering: JsonObject = withValueAt({}, paths.teller, 1);
  levering = withValueAt(levering, paths.organisatie.object, {});
  levering = withValueAt(levering, paths.records, []);
  return JSON.stringify(levering);
}

/** Bytes of an answer, in pieces, so that nothing large is ever joined or hashed in one go. */
export interface PageBytes {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  /** `SHA-256=<base64>`. */
  readonly digest: string;
}

/** Most answers are small, and allocating large buffers outside the heap for each would trigger the garbage collector often. */
const FIRST_BYTES = 8 * 1024;
const PIECE_BYTES = 256 * 1024;
const MAX_BYTES_PER_CHARACTER = 3;

/** Writes an answer from its frame and the stored texts. @throws {Error} when records are missing that existed when the page was planned */
async function writePage(
  client: pg.ClientBase,
  parts: readonly AnswerPart[],
  selection: SelectOptions,
): Promise<PageBytes> {
  const writer = new PieceWriter();
  let next = 0;
  const writeUpTo = (index: number): void => {
    for (; next < index; next += 1) {
      const part = parts[next];
      if (typeof part === 'string') writer.add(part);
    }
  };
  for (const group of groupLists(parts)) {
    const counts = new Map<number, number>();
    const take = (text: string, index: number): void => {
      writeUpTo(index);
      const count = counts.get(index) ?? 0;
      if (count > 0) writer.add(',');
      counts.set(index, count + 1);
      writer.add(text);
    };
    const [first] = group;
    if (first?.part.slice.group !== undefined) await streamSelected(client, group, take, selection);
    else if (first !== undefined) await streamList(client, first.part, (text) => take(text, first.index));
    for (const { part, index } of group) checkCount(part, counts.get(index) ?? 0);
  }
  writeUpTo(parts.length);
  return writer.finish();
}

/** The body of the reply: the pieces of a large answer as a stream that yields to the event loop. */
export function sendPage({ pieces, bytes }: PageBytes): Buffer | Readable {
  return bytes <= PIECE_BYTES ? Buffer.concat(pieces) : Readable.from(yieldingPieces(pieces));
}

/** A fast connection takes megabytes at once, and copying those also blocks the event loop. */
async function* yieldingPieces(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    // A single text can be much larger than a piece. Dividing it lets a slow reader be noticed between the parts.
    for (let from = 0; from < piece.length; from += PIECE_BYTES) {
      yield piece.subarray(from, from + PIECE_BYTES);
      await eventLoopBudget.yield();
    }
  }
}

function checkCount({ slice: { levering, from, to }, list }: TextsPart, count: number): void {
  if (list === 'records' && count !== to - from) {
    throw new Error(`levering ${levering.id}: ${count} records instead of ${to - from}`);
  }
}

/** Encodes text into pieces, and hashes each when it is full. */
class PieceWriter {
  readonly #pieces: Buffer[] = [];
  readonly #hash = createHash('sha256');
  #piece = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #bytes = 0;

  add(text: string): void {
    const worst = text.length * MAX_BYTES_PER_CHARACTER;
    if (this.#used + worst > this.#piece.length) this.#next(worst);
    this.#used += this.#piece.write(text, this.#used);
  }

  finish(): PageBytes {
    this.#close();
    return { pieces: this.#pieces, bytes: this.#bytes, digest: `SHA-256=${this.#hash.digest('base64')}` };
  }

  #next(needed: number): void {
    this.#close();
    const size = Math.min(PIECE_BYTES, this.#piece.length * 4);
    this.#piece = Buffer.allocUnsafeSlow(Math.max(size, needed));
  }

  #close(): void {
    if (this.#used === 0) return;
    const filled = this.#piece.subarray(0, this.#used);
    this.#hash.update(filled);
    this.#pieces.push(this.#used * 2 < this.#piece.length ? Buffer.from(filled) : filled);
    this.#bytes += this.#used;
    this.#used = 0;
  }
}
