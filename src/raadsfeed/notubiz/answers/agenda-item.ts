import { isRecord } from '../../../kernel/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { flag, identifier, type JsonObject, text } from '../values/scalars.ts';
import { type Attributes, readAttributes } from './attributes.ts';
import { type NotubizDocument, readDocuments } from './document.ts';
import { objects } from './lists.ts';
import { type ModuleItemReference, readModuleItemReferences } from './module-item-reference.ts';
import { isHidden } from './visibility.ts';

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
export function readAgendaItems(holder: JsonObject, issue: IssueSink, depth = 1): readonly AgendaItem[] {
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
