import { createHash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { Pool } from '../../kernel/database/pool.ts';
import { withAbort } from '../../kernel/database/with-abort.ts';
import { Problem } from '../../kernel/problem.ts';
import { answerFrame } from '../domain/answer-frame.ts';
import type { Levering } from '../domain/levering.ts';
import type { Model } from '../domain/model/model.ts';
import { aboutBytes, emptySlices, type PagePlan, planPage } from '../domain/page-plan.ts';
import { type Filter, filterKey } from '../domain/request.ts';
import { gegevensProblems } from '../problems.ts';
import { findLeveringen, findOrganisations } from '../store/find-leveringen.ts';
import { findStand, keepStand } from '../store/stand.ts';
import type { CachedPage, PageCache } from './page-cache.ts';
import { writePage } from './write-page.ts';

export interface PageRequest {
  readonly filter: Filter;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** Whose pages belong together. */
  readonly afnemer: string;
}

export interface FoundPage extends CachedPage {
  readonly records: number;
  readonly page: number;
  readonly pageSize: number;
  readonly leveringen: readonly number[];
}

export interface PageFinderOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly model: Model;
  readonly cache: PageCache;
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
  const { pool, clock, model, cache, leverancierscode, maximum } = options;
  return async (request, signal) => {
    const at = clock.now();
    const asked = { page: request.page, pageSize: request.pageSize, maximum };
    const leveringen = await findState(request, options, at);
    const found = leveringen.length > 0 ? planPage(leveringen, asked) : await nothing(request, asked);
    const parts = answerFrame({
      model,
      ...found,
      leverancierscode,
      leveringen,
      otherwise: otherwiseBounds(request.filter, at),
    });
    const make = (abandoned: AbortSignal) => withAbort(pool, abandoned, (client) => writePage(client, parts));
    const key = createHash('sha256').update(JSON.stringify(parts, withoutHeads)).digest('base64');
    const page = await cache.get(key, { bytes: aboutBytes(found), make }, signal);
    return {
      ...page,
      records: found.records,
      page: found.paginering?.currentPage ?? 1,
      pageSize: found.paginering?.pageSize ?? maximum,
      leveringen: leveringen.map(({ id }) => id),
    };
  };

  async function nothing({ filter }: PageRequest, asked: Parameters<typeof planPage>[1]): Promise<PagePlan> {
    const organisations = await findOrganisations(pool, filter);
    if (organisations.length === 0 && filter.organisatie !== undefined) {
      throw new Problem(gegevensProblems.onbekendeOrganisatie, {
        detail: 'Deze leverancier levert niet voor de gevraagde organisatie.',
      });
    }
    return { ...planPage([], asked), slices: emptySlices(organisations) };
  }
}

/** The frame holds all that decides what a page is; of a levering only which one it is. */
function withoutHeads(name: string, value: unknown): unknown {
  return name === 'kop' ? undefined : value;
}

/** Later pages come from the state of the first; a first page, and what is not paged, from the present. */
async function findState(
  { filter, page, pageSize, afnemer }: PageRequest,
  { pool, maximum, pinMinutes: minutes }: PageFinderOptions,
  at: Date,
): Promise<Levering[]> {
  const key = { variant: filter.variant, afnemer, filter: filterKey(filter) };
  if (page !== undefined && page > 1) {
    const kept = await findStand(pool, key, at);
    if (kept !== undefined) return kept;
  }
  const leveringen = await findLeveringen(pool, filter);
  const records = leveringen.reduce((sum, levering) => sum + levering.records, 0);
  const paged = page !== undefined || pageSize !== undefined || records > maximum;
  if (paged && leveringen.length > 0) await keepStand(pool, { ...key, leveringen, at, minutes });
  return leveringen;
}

function otherwiseBounds({ periodeStart, periodeEinde }: Filter, moment: Date) {
  const today = moment.toISOString().slice(0, 10);
  return {
    periodeStart: periodeStart ?? periodeEinde ?? today,
    periodeEinde: periodeEinde ?? periodeStart ?? today,
    moment,
  };
}
