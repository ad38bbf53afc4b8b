import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Pool, withAbort } from '../../kernel/database/pool.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Clock } from '../../kernel/time.ts';
import { answerFrame } from '../model/answer-frame.ts';
import {
  type ChosenLevering,
  type CountedLevering,
  chooseLeveringen,
  emptySlices,
  estimateBytes,
  type PagePlan,
  type PageQuery,
  planPage,
  type Uncovered,
  uncoveredDays,
} from '../model/leveringen.ts';
import type { Model } from '../model/model.ts';
import { type Filter, filterKey, periodOf } from '../model/request.ts';
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
import type { CachedPage, PageCache } from './page-cache.ts';
import { writePage } from './write-page.ts';

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
