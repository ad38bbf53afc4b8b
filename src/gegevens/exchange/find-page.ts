import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Pool, withAbort } from '../../database/pool.ts';
import { Problem } from '../../lib/problem.ts';
import { createSemaphore, type Semaphore } from '../../lib/scheduling.ts';
import type { Clock } from '../../lib/time.ts';
import type { Model } from '../model/model.ts';
import {
  chooseLeveringen,
  emptySlices,
  estimateBytes,
  type Filter,
  filterKey,
  type PagePlan,
  type PageQuery,
  periodOf,
  planPage,
  type Uncovered,
  uncoveredDays,
  withCounts,
} from '../model/selection.ts';
import { gegevensProblems } from '../problems.ts';
import {
  findDeliverers,
  findLeveringen,
  findOrganisations,
  findPagingState,
  type PagingState,
  type RequestedDeliverers,
  savePagingState,
} from '../store/find-leveringen.ts';
import { countSelected } from '../store/selected-records.ts';
import { answerFrame, type PageBytes, writePage } from './write-page.ts';

interface PageRequest {
  readonly filter: Filter;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** Whose pages belong together. */
  readonly afnemer: string;
  /** Whose share of the memory for answers it takes. */
  readonly client: string;
}

export interface FoundPage extends PageBytes {
  readonly from: 'memory' | 'database';
  /** To be called when its bytes are not needed any more: sent, or never to be. */
  readonly release: () => void;
  readonly records: number;
  readonly page: number;
  readonly pageSize: number;
  readonly leveringen: readonly number[];
  /** Days asked for that no delivery covers. */
  readonly uncovered: readonly Uncovered[];
}

interface PageFinderOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly model: Model;
  /** Keeps pages that were written. */
  readonly cache: LRUCache<string, PageBytes>;
  /** The memory for large answers that are being made or sent. */
  readonly memory: Semaphore;
  readonly leverancierscode: string;
  /** Most records in one answer. */
  readonly maximum: number;
  /** How long the later pages of a requester come from the state of its first. */
  readonly pinMinutes: number;
}

/** Finds the requested page, in the state that this requester's pages come from. */
export type PageFinder = (request: PageRequest, signal: AbortSignal) => Promise<FoundPage>;

/** @throws {Problem} `onbekende-organisatie`, or `service-unreachable` when there is no memory for it; what the database throws; the signal's reason */
export function createPageFinder(options: PageFinderOptions): PageFinder {
  const { pool, clock, model, cache, memory, leverancierscode, maximum, pinMinutes: minutes } = options;
  const byRunningTime = model.mapping.levering.recordId === undefined;
  const counts = new LRUCache<string, ReadonlyMap<number, number>>({
    maxSize: MAX_COUNT_BYTES,
    sizeCalculation: (counted, key) => 100 + 2 * key.length + 50 * counted.size,
  });
  return async (request, signal) => {
    const { filter, afnemer } = request;
    const at = clock.now();
    const query: PageQuery = { page: request.page, pageSize: request.pageSize, maximum };
    const pagingKey = { variant: filter.variant, afnemer, filter: filterKey(filter) };
    const requested = await findDeliverers(pool, filter);
    const pinned = (query.page ?? 1) > 1 ? await findPagingState(pool, pagingKey, at) : undefined;
    const state = pinned ?? (await currentState(filter, requested, at));
    const chosen = chooseLeveringen(state.leveringen, state.period);
    const selected = chosen.flatMap(({ levering, selection }) =>
      selection === undefined ? [] : [{ levering, selection }],
    );
    const select = { all: selected, byRunningTime };
    const ids = selected.map(({ levering }) => levering.id);
    // Leveringen never change, so what was counted stays right.
    const countKey = JSON.stringify([state.period, ids]);
    const counted = counts.get(countKey) ?? (await countSelected(pool, select, signal));
    counts.set(countKey, counted);
    const plan =
      chosen.length > 0 ? planPage(withCounts(chosen, counted), query) : await emptyPlan(filter, requested, query);
    // Page 1 pins a new state, a later page uses the pinned one, and a page past the end changes nothing.
    const pins = plan.paginering !== undefined && pinned === undefined && !plan.isPastEnd && chosen.length > 0;
    if (pins) await savePagingState(pool, { ...pagingKey, ...state, at, minutes });
    const parts = answerFrame({
      model,
      ...plan,
      leverancierscode,
      period: state.period,
      moment: newest(chosen.map(({ levering }) => levering.aangeleverdOp)) ?? at,
    });
    const contents = JSON.stringify([parts, ids], withoutHead);
    const key = createHash('sha256').update(contents).digest('base64');
    const permit = await memory.acquire({ bytes: estimateBytes(plan), client: request.client }, signal);
    const known = cache.get(key);
    const write = () => withAbort(pool, signal, (client) => writePage(client, parts, select));
    const page =
      known ??
      (await write().catch((error: unknown) => {
        permit.release();
        throw error;
      }));
    permit.resize(page.bytes);
    cache.set(key, page);
    return {
      ...page,
      from: known === undefined ? 'database' : 'memory',
      release: permit.release,
      records: plan.records,
      page: plan.paginering?.currentPage ?? 1,
      pageSize: plan.paginering?.pageSize ?? maximum,
      leveringen: chosen.map(({ levering }) => levering.id),
      uncovered: uncoveredDays(requested.deliverers, chosen, state.period),
    };
  };

  async function currentState(filter: Filter, { recent }: RequestedDeliverers, at: Date): Promise<PagingState> {
    const period = periodOf(filter, recent, at);
    return { period, leveringen: recent === undefined ? [] : await findLeveringen(pool, filter, period) };
  }

  async function emptyPlan(filter: Filter, { deliverers }: RequestedDeliverers, query: PageQuery): Promise<PagePlan> {
    if (deliverers.length === 0 && filter.organisatie !== undefined) {
      throw new Problem(gegevensProblems.onbekendeOrganisatie, {
        detail: 'Deze leverancier levert niet voor de gevraagde organisatie.',
      });
    }
    return { ...planPage([], query), slices: emptySlices(await findOrganisations(pool, filter)) };
  }
}

/** The key of a page: its frame decides what it is; a levering in it is known by its number, without its text. */
function withoutHead(name: string, value: unknown): unknown {
  return name === 'head' ? undefined : value;
}

function newest(moments: readonly Date[]): Date | undefined {
  return moments.reduce<Date | undefined>(
    (last, moment) => (last === undefined || moment > last ? moment : last),
    undefined,
  );
}

/** Counts of some ten thousands of leveringen. */
const MAX_COUNT_BYTES = 4 * 1024 * 1024;
/** Smaller answers are not counted: thousands of them take less than the connections that ask for them. */
const SMALL_BYTES = 256 * 1024;
/** One client gets at most this part of the memory for large answers. */
const CLIENT_SHARE = 1 / 2;

/** Whether an answer counts. */
export function isLarge(bytes: number): boolean {
  return bytes > SMALL_BYTES;
}

interface AnswerMemoryOptions {
  readonly maxBytes: number;
  /** Longest time in milliseconds that an answer waits. */
  readonly waitMs: number;
  readonly changed: (state: { readonly bytes: number; readonly waiting: number }) => void;
}

/** The memory for large answers that are being made or sent; who waits in vain is answered with `service-unreachable`. */
export function createAnswerMemory({ maxBytes, waitMs, changed }: AnswerMemoryOptions): Semaphore {
  const full = (): Problem =>
    new Problem(gegevensProblems.dienstOnbereikbaar, {
      detail: 'Er zijn nu te veel grote leveringen tegelijk onderweg; er is niets geleverd.',
      headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
      fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
    });
  return createSemaphore({ maxBytes, waitMs, smallBytes: SMALL_BYTES, clientShare: CLIENT_SHARE, full, changed });
}

/**
 * Keeps pages that were written, for as long as a requester can page. The key of a page names the leveringen in it, so a page with one that
 * was removed is not found any more.
 * @param maxBytes 0 keeps none
 */
export function createPageCache(maxBytes: number, minutes: number): LRUCache<string, PageBytes> {
  return new LRUCache({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length,
    ttl: minutes * 60_000,
    ttlAutopurge: true,
  });
}
