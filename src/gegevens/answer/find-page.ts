import { createHash } from 'node:crypto';
import { type Pool, withAbort } from '../../kernel/database/pool.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Clock } from '../../kernel/time.ts';
import { answerFrame } from '../domain/answer-frame.ts';
import { chooseLeveringen, type Uncovered, uncoveredDays } from '../domain/choose-leveringen.ts';
import type { Model } from '../domain/model/model.ts';
import { aboutBytes, emptySlices, type PageAsked, type PagePlan, planPage } from '../domain/page-plan.ts';
import { type Filter, filterKey, periodOf } from '../domain/request.ts';
import { gegevensProblems } from '../problems.ts';
import { type Asked, findAsked, findLeveringen, findOrganisations } from '../store/find-leveringen.ts';
import { findStand, keepStand, type Stand } from '../store/stand.ts';
import { type CountCache, countRecords, selectedOf } from './count-records.ts';
import type { CachedPage, PageCache } from './page-cache.ts';
import { writePage } from './write-page.ts';

export interface PageRequest {
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

export interface PageFinderOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly model: Model;
  readonly cache: PageCache;
  readonly counts: CountCache;
  readonly leverancierscode: string;
  /** Most records in one answer. */
  readonly maximum: number;
  /** How long a requester that pages sees the state of its first page. */
  readonly pinMinutes: number;
}

/** Finds the page that is asked for, from the state that this requester's pages come from. */
export type PageFinder = (request: PageRequest, signal: AbortSignal) => Promise<FoundPage>;

/** @throws {Problem} `onbekende-organisatie`, `service-unreachable` when too much is under way; what the database throws; the signal's reason */
export function createPageFinder(options: PageFinderOptions): PageFinder {
  const { pool, clock, model, cache, leverancierscode, maximum, pinMinutes: minutes } = options;
  const byRunningTime = model.mapping.levering.recordId === undefined;
  return async (request, signal) => {
    const { filter, afnemer } = request;
    const at = clock.now();
    const asked: PageAsked = { page: request.page, pageSize: request.pageSize, maximum };
    const key = { variant: filter.variant, afnemer, filter: filterKey(filter) };
    const who = await findAsked(pool, filter);
    const pinned = (asked.page ?? 1) > 1 ? await findStand(pool, key, at) : undefined;
    const stand = pinned ?? (await present(filter, who, at));
    const chosen = chooseLeveringen(stand.leveringen, stand.period);
    const select = { all: selectedOf(chosen), byRunningTime };
    const plan =
      chosen.length > 0
        ? planPage(await countRecords(chosen, { pool, select, cache: options.counts, signal }), asked)
        : await nothing(filter, who, asked);
    // Page 1 begins anew; a later page goes on; one past the end changes nothing.
    const keeps = plan.paginering !== undefined && pinned === undefined && !plan.isPastEnd && chosen.length > 0;
    if (keeps) await keepStand(pool, { ...key, ...stand, at, minutes });
    const parts = answerFrame({
      model,
      ...plan,
      leverancierscode,
      period: stand.period,
      moment: newest(chosen.map(({ levering }) => levering.aangeleverdOp)) ?? at,
    });
    const make = (abandoned: AbortSignal) => withAbort(pool, abandoned, (client) => writePage(client, parts, select));
    const contents = [parts, select.all.map(({ levering }) => levering.id)];
    const page = await cache.get(
      createHash('sha256').update(JSON.stringify(contents, withoutHeads)).digest('base64'),
      { bytes: aboutBytes(plan), client: request.client, make },
      signal,
    );
    return {
      ...page,
      records: plan.records,
      page: plan.paginering?.currentPage ?? 1,
      pageSize: plan.paginering?.pageSize ?? maximum,
      leveringen: chosen.map(({ levering }) => levering.id),
      uncovered: uncoveredDays(who.deliverers, chosen, stand.period),
    };
  };

  async function present(filter: Filter, { recent }: Asked, at: Date): Promise<Stand> {
    const period = periodOf(filter, recent, at);
    return { period, leveringen: recent === undefined ? [] : await findLeveringen(pool, filter, period) };
  }

  async function nothing(filter: Filter, { deliverers }: Asked, asked: PageAsked): Promise<PagePlan> {
    if (deliverers.length === 0 && filter.organisatie !== undefined) {
      throw new Problem(gegevensProblems.onbekendeOrganisatie, {
        detail: 'Deze leverancier levert niet voor de gevraagde organisatie.',
      });
    }
    return { ...planPage([], asked), slices: emptySlices(await findOrganisations(pool, filter)) };
  }
}

/** The frame holds all that decides what a page is; of a levering only which one it is. */
function withoutHeads(name: string, value: unknown): unknown {
  return name === 'kop' ? undefined : value;
}

function newest(moments: readonly Date[]): Date | undefined {
  return moments.reduce<Date | undefined>(
    (last, moment) => (last === undefined || moment > last ? moment : last),
    undefined,
  );
}
