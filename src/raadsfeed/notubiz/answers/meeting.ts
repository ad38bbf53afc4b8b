import { isRecord } from '../../../kernel/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { flag, identifier, type JsonObject, text } from '../values/scalars.ts';
import { type AgendaItem, readAgendaItems } from './agenda-item.ts';
import { type Attributes, readAttributes } from './attributes.ts';
import { type NotubizDocument, readDocuments } from './document.ts';
import { objects } from './lists.ts';
import { type ModuleItemReference, readModuleItemReferences } from './module-item-reference.ts';
import { isHidden } from './visibility.ts';

export interface Planning {
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
export function readPlannings(raw: JsonObject, issue: IssueSink): readonly Planning[] {
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
