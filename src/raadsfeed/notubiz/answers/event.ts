import { isRecord } from '../../../kernel/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { count, identifier, type JsonObject, text } from '../values/scalars.ts';
import { requiredObjects } from './lists.ts';
import { type Planning, readPlannings } from './meeting.ts';
import { isHidden } from './visibility.ts';

/** An event as the list shows it; what it holds has to be asked for. */
export interface EventSummary {
  readonly id: string;
  readonly type: string;
  readonly hidden: boolean;
  readonly lastModified: string | undefined;
  readonly plannings: readonly Planning[];
  /** What the supplier says there is: a check on what was read. */
  readonly agendaItemCount: number | undefined;
  readonly documentCount: number | undefined;
  readonly meetingsCount: number | undefined;
}

export interface Pagination {
  readonly totalItems: number | undefined;
  readonly hasMore: boolean;
  /** Where the next range begins, where the list is in ranges. */
  readonly nextStart?: number;
}

/** Reads one of `events[]` of `/events`. */
export function readEvent(raw: JsonObject, issue: IssueSink): EventSummary | undefined {
  const id = identifier(raw.id);
  if (id === undefined) {
    issue('unexpected-answer', 'an event has no id');
    return undefined;
  }
  const about: IssueSink = (what, detail) => issue(what, `event ${id}: ${detail}`);
  const type = text(raw.type);
  if (type !== 'meeting' && type !== 'assembly') about('unexpected-answer', 'is neither a meeting nor an assembly');
  const data = isRecord(raw.event_type_data) ? raw.event_type_data : {};
  return {
    id,
    type: type ?? '',
    hidden: isHidden({ confidential: 0, ...raw }, true, about),
    lastModified: text(raw.last_modified),
    plannings: readPlannings(raw, about),
    agendaItemCount: readCount(data, 'agenda_item_count', type === 'meeting', about),
    documentCount: readCount(data, 'document_count', true, about),
    meetingsCount: readCount(data, 'meetings_count', type === 'assembly', about),
  };
}

function readCount(data: JsonObject, name: string, expected: boolean, issue: IssueSink): number | undefined {
  const number = count(data[name]);
  if (number === undefined && expected) issue('unusable-value', `has no ${name} to check what was read`);
  return number;
}

/**
 * Reads `pagination` in all the forms that were recorded: pages, ranges of a register, or nothing.
 * @param mayBeWhole a list without it is all there is; elsewhere it may have had a next page
 */
export function readPagination(answer: JsonObject, mayBeWhole: boolean, issue: IssueSink): Pagination {
  const raw = isRecord(answer.pagination) ? answer.pagination : {};
  if (mayBeWhole && Object.keys(raw).length === 0) return { totalItems: undefined, hasMore: false };
  const [total, end] = [count(raw.total_results), count(raw.list_end)];
  if (total !== undefined && raw.has_more_pages === undefined) {
    return {
      totalItems: total,
      hasMore: end !== undefined && end < total,
      ...(end === undefined ? {} : { nextStart: end + 1 }),
    };
  }
  const page = count(raw.page);
  const totalPages = count(raw.total_pages);
  if (typeof raw.has_more_pages !== 'boolean')
    issue('unexpected-answer', 'pagination does not say whether there is more');
  const morePages = page !== undefined && totalPages !== undefined && page < totalPages;
  return { totalItems: count(raw.total_items), hasMore: raw.has_more_pages === true || morePages };
}

/** Ids of the child meetings in the `assembly` of `/events/assemblies/{id}`, in their order. */
export function readAssemblyChildren(assembly: JsonObject, issue: IssueSink): readonly string[] | undefined {
  const meetings = requiredObjects(assembly, 'meetings', issue);
  if (meetings === undefined) return undefined;
  const ids = meetings.map((child) => ({
    id: identifier(child.id),
    order: count(child.order) ?? Number.POSITIVE_INFINITY,
  }));
  if (ids.some(({ id }) => id === undefined)) issue('unexpected-answer', 'a child meeting has no id');
  const sorted = ids.toSorted((a, b) => (a.order === b.order ? 0 : a.order - b.order));
  return [...new Set(sorted.map(({ id }) => id).filter((id) => id !== undefined))];
}
