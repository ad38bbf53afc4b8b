import { isRecord } from '../../../../lib/json/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { type ModuleItemReference, type NotubizDocument, readDocuments, readModuleItemReferences } from './document.ts';
import {
  type Attributes,
  count,
  flag,
  identifier,
  isHidden,
  type JsonObject,
  objects,
  readAttributes,
  requiredObjects,
  text,
} from './values.ts';

/** An event as the list shows it; its content takes another call. */
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

interface Pagination {
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

interface Planning {
  readonly start: unknown;
  readonly end: unknown;
}

export interface Meeting {
  readonly id: string;
  readonly hidden: boolean;
  readonly organisationId: string | undefined;
  readonly parentId: string | undefined;
  readonly canceled: boolean;
  readonly body: string | undefined;
  /** Its page for people, as the supplier wrote it. */
  readonly url: string | undefined;
  readonly gremiumId: string | undefined;
  readonly lastModified: string | undefined;
  readonly plannings: readonly Planning[];
  readonly attributes: Attributes;
  readonly documents: readonly NotubizDocument[];
  readonly moduleItems: readonly ModuleItemReference[];
  readonly agendaItems: readonly AgendaItem[];
}

/** Reads the `meeting` of `/events/meetings/{id}`. */
export function readMeeting(raw: JsonObject, issue: IssueSink): Meeting | undefined {
  const id = identifier(raw.id);
  if (id === undefined) {
    issue('unexpected-answer', 'the meeting has no id');
    return undefined;
  }
  const organisation = isRecord(raw.organisation) ? identifier(raw.organisation.id) : undefined;
  if (organisation === undefined) issue('unexpected-answer', 'does not say of which organisation it is');
  return {
    id,
    hidden: isHidden(raw, true, issue),
    organisationId: organisation,
    parentId: isRecord(raw.parent) ? identifier(raw.parent.id) : undefined,
    canceled: readCanceled(raw, issue),
    body: text(raw.body),
    url: text(raw.url),
    gremiumId: readGremiumId(raw, issue),
    lastModified: text(raw.last_modified),
    plannings: readPlannings(raw, issue),
    attributes: readAttributes(raw, issue),
    documents: readDocuments(raw, 'documents', issue),
    moduleItems: readModuleItemReferences(raw, issue),
    agendaItems: readAgendaItems(raw, issue),
  };
}

/** Reads `plannings[]`. */
function readPlannings(raw: JsonObject, issue: IssueSink): readonly Planning[] {
  return objects(raw, 'plannings', issue).map(({ start_date, end_date }) => ({ start: start_date, end: end_date }));
}

function readCanceled(raw: JsonObject, issue: IssueSink): boolean {
  const canceled = flag(raw.canceled);
  if (canceled === undefined) issue('unusable-value', 'does not say whether it is canceled');
  return canceled ?? false;
}

function readGremiumId(raw: JsonObject, issue: IssueSink): string | undefined {
  if (raw.gremium === null || raw.gremium === undefined) return undefined;
  const id = isRecord(raw.gremium) ? identifier(raw.gremium.id) : undefined;
  if (id === undefined) issue('unusable-value', 'gremium has no id');
  return id;
}

export interface AgendaItem {
  readonly id: string;
  readonly hidden: boolean;
  /** Given by the supplier; nesting says it too. */
  readonly parentId: string | undefined;
  /** A heading between the items, not something that is treated. */
  readonly subheading: boolean;
  readonly order: string | undefined;
  readonly titlePrefix: string | undefined;
  readonly attributes: Attributes;
  readonly start: unknown;
  readonly end: unknown;
  readonly lastModified: unknown;
  readonly documents: readonly NotubizDocument[];
  readonly moduleItems: readonly ModuleItemReference[];
  readonly agendaItems: readonly AgendaItem[];
}

/** Deeper than any agenda; what is deeper is reported, so that a hostile answer cannot exhaust the stack. */
const MAX_DEPTH = 50;

/** Reads `agenda_items[]`, with the items nested in them. */
function readAgendaItems(holder: JsonObject, issue: IssueSink, depth = 1): readonly AgendaItem[] {
  const found = objects(holder, 'agenda_items', issue);
  if (depth > MAX_DEPTH && found.length > 0) {
    issue('unexpected-answer', `agenda items are nested deeper than ${MAX_DEPTH}`);
    return [];
  }
  return found.map((raw) => readAgendaItem(raw, issue, depth)).filter((item) => item !== undefined);
}

function readAgendaItem(raw: JsonObject, issue: IssueSink, depth: number): AgendaItem | undefined {
  const id = identifier(raw.id);
  if (id === undefined) {
    issue('unexpected-answer', 'an agenda item has no id');
    return undefined;
  }
  const about: IssueSink = (what, detail) => issue(what, `agenda item ${id}: ${detail}`);
  const typeData = isRecord(raw.type_data) ? raw.type_data : {};
  if (!isRecord(raw.type_data)) about('unexpected-answer', 'has no type_data');
  return {
    id,
    hidden: isHidden(raw, true, about),
    parentId: isRecord(raw.parent) ? identifier(raw.parent.id) : undefined,
    subheading: isSubheading(raw.type, typeData, about),
    order: text(raw.order),
    titlePrefix: text(typeData.title_prefix),
    attributes: readAttributes(typeData, about),
    start: raw.start_date,
    end: raw.end_date,
    lastModified: raw.last_modified,
    documents: readDocuments(raw, 'documents', about),
    moduleItems: readModuleItemReferences(raw, about),
    agendaItems: readAgendaItems(raw, issue, depth + 1),
  };
}

/** `heading` is a boolean in the recordings; text in it, or a type that is not an agenda point, says the same. */
function isSubheading(type: unknown, typeData: JsonObject, issue: IssueSink): boolean {
  if (typeof type !== 'string') issue('unexpected-answer', 'has no type');
  const { heading } = typeData;
  if (heading === undefined || heading === null || heading === '') return type === 'label' || type === 'heading';
  return type === 'label' || type === 'heading' || (flag(heading) ?? typeof heading === 'string');
}

/**
 * An assembly has two responses. Its documents and register items are in the one of a meeting; those that only the other one shows are
 * added.
 */
export function mergeAssembly(meeting: Meeting, assembly: JsonObject, issue: IssueSink): Meeting {
  const { documents, module_items } = assembly;
  const known = new Set(meeting.documents.map(({ id }) => id));
  const referred = new Set(meeting.moduleItems.map(({ id }) => id));
  const more = documents === undefined ? [] : readDocuments({ documents }, 'documents', issue);
  const items = module_items === undefined ? [] : readModuleItemReferences({ module_items }, issue);
  return {
    ...meeting,
    documents: [...meeting.documents, ...more.filter(({ id }) => !known.has(id))],
    moduleItems: [...meeting.moduleItems, ...items.filter(({ id }) => !referred.has(id))],
  };
}

interface AgendaEntry {
  readonly item: AgendaItem;
  readonly parent: string | undefined;
}

interface FlatAgenda {
  /** Items that may be published, each once, in the order of the agenda: an item before what is nested in it. */
  readonly shown: readonly AgendaEntry[];
  /** Items that may not, and those nested in such items only. */
  readonly hidden: readonly AgendaItem[];
}

/** Makes one list of a nested agenda. An item that comes twice counts once, with the parent that either occurrence gives. */
export function flattenAgenda(items: readonly AgendaItem[]): FlatAgenda {
  const entries = new Map<string, AgendaEntry>();
  const walk = (level: readonly AgendaItem[], nestedIn: string | undefined): void => {
    for (const item of level) {
      const known = entries.get(item.id);
      const parent = nestedIn ?? known?.parent ?? (item.parentId === item.id ? undefined : item.parentId);
      const hidden = item.hidden || known?.item.hidden === true;
      entries.set(item.id, { item: { ...(known?.item ?? item), hidden }, parent });
      walk(item.agendaItems, item.id);
    }
  };
  walk(items, undefined);
  const hidden = hiddenIds(entries);
  const all = [...entries.values()];
  return {
    shown: all
      .filter(({ item }) => !hidden.has(item.id))
      .map(({ item, parent }) => ({ item, parent: parent !== undefined && entries.has(parent) ? parent : undefined })),
    hidden: all.filter(({ item }) => hidden.has(item.id)).map(({ item }) => item),
  };
}

/** Hidden items, and those below them. Repeated until nothing is added, since parents may form a cycle. */
function hiddenIds(entries: ReadonlyMap<string, AgendaEntry>): ReadonlySet<string> {
  const hidden = new Set([...entries.values()].filter(({ item }) => item.hidden).map(({ item }) => item.id));
  for (let before = -1; before !== hidden.size; ) {
    before = hidden.size;
    for (const { item, parent } of entries.values())
      if (parent !== undefined && hidden.has(parent)) hidden.add(item.id);
  }
  return hidden;
}
