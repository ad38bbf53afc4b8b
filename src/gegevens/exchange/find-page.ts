import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Pool, withAbort } from '../../database/pool.ts';
import { Problem } from '../../lib/problem.ts';
import { createSemaphore, type Permit, type Semaphore } from '../../lib/scheduling.ts';
import type { Clock } from '../../lib/time.ts';
import type { Model } from '../model/model.ts';
import {
  type ChosenLevering,
  type CountedLevering,
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
import { countSelected, type SelectOptions } from '../store/selected-records.ts';
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

export interface FoundPage extends CachedPage {
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
  readonly cache: PageCache;
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
  const { pool, clock, model, cache, leverancierscode, maximum, pinMinutes: minutes } = options;
  const byRunningTime = model.mapping.levering.recordId === undefined;
  const countRecords = createRecordCounter(pool);
  return async (request, signal) => {
    const { filter, afnemer } = request;
    const at = clock.now();
    const query: PageQuery = { page: request.page, pageSize: request.pageSize, maximum };
    const key = { variant: filter.variant, afnemer, filter: filterKey(filter) };
    const requested = await findDeliverers(pool, filter);
    const pinned = (query.page ?? 1) > 1 ? await findPagingState(pool, key, at) : undefined;
    const state = pinned ?? (await currentState(filter, requested, at));
    const chosen = chooseLeveringen(state.leveringen, state.period);
    const selected = chosen.flatMap(({ levering, selection }) =>
      selection === undefined ? [] : [{ levering, selection }],
    );
    const select = { all: selected, byRunningTime };
    const plan =
      chosen.length > 0
        ? planPage(await countRecords(chosen, select, signal), query)
        : await emptyPlan(filter, requested, query);
    // Page 1 pins a new state, a later page uses the pinned one, and a page past the end changes nothing.
    const pins = plan.paginering !== undefined && pinned === undefined && !plan.isPastEnd && chosen.length > 0;
    if (pins) await savePagingState(pool, { ...key, ...state, at, minutes });
    const parts = answerFrame({
      model,
      ...plan,
      leverancierscode,
      period: state.period,
      moment: newest(chosen.map(({ levering }) => levering.aangeleverdOp)) ?? at,
    });
    const write = (abandoned: AbortSignal) => withAbort(pool, abandoned, (client) => writePage(client, parts, select));
    const contents = [parts, selected.map(({ levering }) => levering.id)];
    const page = await cache.get(
      createHash('sha256').update(JSON.stringify(contents, withoutHead)).digest('base64'),
      { bytes: estimateBytes(plan), client: request.client, write },
      signal,
    );
    return {
      ...page,
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

const MAX_COUNT_BYTES = 4 * 1024 * 1024;

/** Counts the records of each chosen levering that are delivered. Leveringen never change, so counts are cached. */
function createRecordCounter(pool: Pool) {
  const cache = new LRUCache<string, readonly number[]>({
    maxSize: MAX_COUNT_BYTES,
    sizeCalculation: (counts, key) => 100 + 2 * key.length + 8 * counts.length,
  });
  return async (
    chosen: readonly ChosenLevering[],
    select: SelectOptions,
    signal: AbortSignal,
  ): Promise<CountedLevering[]> => {
    const [first] = select.all;
    const key = JSON.stringify([first?.selection.period, select.all.map(({ levering }) => levering.id)]);
    const counts = cache.get(key) ?? (await countSelected(pool, select, signal));
    cache.set(key, counts);
    let next = 0;
    return chosen.map(({ levering, selection }) => {
      if (selection === undefined) return { levering, selection, records: levering.records };
      const records = counts[next] ?? 0;
      next += 1;
      return { levering, selection, records };
    });
  };
}

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

/** Keeps pages that were written. Requests for a page that is being written or sent share that one. */
export interface PageCache {
  /**
   * @param signal fires when this request does not want it any more
   * @throws the signal's reason, what `write` throws, or what the semaphore throws
   */
  get(key: string, wanted: CacheablePage, signal: AbortSignal): Promise<CachedPage>;
  /** Empties the cache; pages that are being written or sent now are not cached either. */
  clear(): void;
}

interface CacheablePage {
  /** Estimated. */
  readonly bytes: number;
  /** Whose share of the memory it takes. */
  readonly client: string;
  /** Called when the page is not in memory; its signal fires when no request waits for it any more. */
  readonly write: (signal: AbortSignal) => Promise<PageBytes>;
}

interface CachedPage extends PageBytes {
  readonly from: 'memory' | 'shared' | 'database';
  /** To be called when its bytes are not needed any more: sent, or never to be. */
  readonly release: () => void;
}

/** A page that requests wait for or send. */
interface ActivePage {
  readonly page: Promise<PageBytes>;
  readonly abandon: AbortController;
  /** Absent until there is memory for it and its bytes are known. */
  permit: Permit | undefined;
  /** One for each request. */
  readonly clients: string[];
}

/** @param maxBytes for cached pages beside those that are being written or sent; 0 caches none */
export function createPageCache(maxBytes: number, semaphore: Semaphore): PageCache {
  const recent = new LRUCache<string, PageBytes>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length,
  });
  const active = new Map<string, ActivePage>();
  let generation = 0;

  const start = (key: string, found: PageBytes | undefined, wanted: CacheablePage): ActivePage => {
    const clients: string[] = [];
    const abandon = new AbortController();
    const { signal } = abandon;
    const obtain = async (): Promise<PageBytes> => {
      const startedIn = generation;
      const inMemory = found !== undefined;
      const permit = await semaphore.acquire({ bytes: found?.bytes ?? wanted.bytes, clients, inMemory }, signal);
      try {
        const page = found ?? (await wanted.write(signal));
        signal.throwIfAborted();
        permit.resize(page.bytes);
        entry.permit = permit;
        // The client that it was counted for may have disconnected meanwhile.
        permit.reassign();
        if (!inMemory && startedIn === generation) recent.set(key, page);
        return page;
      } catch (error) {
        permit.release();
        throw error;
      }
    };
    const page = Promise.resolve()
      .then(obtain)
      .catch((error: unknown) => {
        forget(key, entry);
        throw error;
      });
    const entry: ActivePage = { page, abandon, permit: undefined, clients };
    active.set(key, entry);
    return entry;
  };

  const forget = (key: string, entry: ActivePage): void => {
    if (active.get(key) === entry) active.delete(key);
  };

  const leave = (key: string, entry: ActivePage, client: string): void => {
    entry.clients.splice(entry.clients.indexOf(client), 1);
    if (entry.clients.length > 0) {
      entry.permit?.reassign();
      return;
    }
    forget(key, entry);
    entry.permit?.release();
    entry.abandon.abort();
    // No request is left that could report how it ended.
    entry.page.catch(() => undefined);
  };

  return {
    clear() {
      generation += 1;
      recent.clear();
      active.clear();
    },
    async get(key, wanted, signal) {
      signal.throwIfAborted();
      const running = active.get(key);
      const found = running === undefined ? recent.get(key) : undefined;
      const from = running?.permit !== undefined || found !== undefined ? 'memory' : running ? 'shared' : 'database';
      const entry = running ?? start(key, found, wanted);
      entry.clients.push(wanted.client);
      if (running !== undefined && running.permit === undefined) semaphore.retryWaiting();
      let isReleased = false;
      const release = (): void => {
        if (!isReleased) leave(key, entry, wanted.client);
        isReleased = true;
      };
      try {
        return { ...(await Promise.race([entry.page, aborted(signal)])), from, release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
