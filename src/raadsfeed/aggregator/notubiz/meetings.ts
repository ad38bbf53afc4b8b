/** Meetings of NotuBiz, and assemblies with their children. */
import type { JsonObject } from '../../../lib/json/json-value.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { type FoundDocument, mapMeeting, withheldOf } from '../supplier/meeting.ts';
import type { Found, Listed, MappedItem, Mapping } from '../supplier/supplier.ts';
import { fetchNamed, fetchOne, listWindow } from './api.ts';
import { type Counts, dayOf, pathOf, readReferred, type Session } from './entries.ts';
import {
  agendapuntId,
  documentsOf,
  flattenAgenda,
  meetingId,
  toFoundDocument,
  toFoundDocuments,
  toFoundMeeting,
  withheld,
  withheldDocuments,
} from './map.ts';
import {
  type AgendaItem,
  type Assembly,
  type Attached,
  agendaItemsOf,
  type EventSummary,
  isHidden,
  type Meeting,
  type RegisterItem,
  readAssembly,
  readEvent,
  readMeeting,
  registerDate,
} from './schema.ts';

export interface ListedMeeting extends Listed {
  readonly kind: 'meeting';
  readonly id: string;
  /** Announced by the list. */
  readonly counts?: EventSummary['event_type_data'];
  /** Of an assembly: its other answer, and its children in order. */
  readonly assembly?: Assembly;
  readonly children?: readonly string[];
  readonly parent?: string;
  readonly outcome?: Found<MeetingDetail>;
}

export interface MeetingDetail {
  readonly kind: 'meeting';
  readonly meeting: Meeting;
  /** The register items that it and its public agenda items refer to, by path, as far as they were read. */
  readonly entries: ReadonlyMap<string, RegisterItem>;
  readonly isWhole: boolean;
}

function meetingPath(id: string): string {
  return `/events/meetings/${id}`;
}

/** Every event of the window, with the children of assemblies. */
export async function listMeetings(session: Session): Promise<readonly ListedMeeting[]> {
  const path = '/events';
  const query = { organisation_id: session.request.source.organisationId };
  const found = await listWindow(session, { path, query, member: 'events', isRegister: false });
  const issue = session.issues.at(path);
  const events = [...found.values()]
    .map((raw) => readEvent(raw, issue, 'event'))
    .filter((event) => event !== undefined);
  for (const event of events) reportCounts(event, issue);
  const isAssembly = ({ type }: EventSummary): boolean => type === 'assembly';
  const assemblies = await Promise.all(events.filter(isAssembly).map((event) => listAssembly(session, event)));
  const listed = new Map(assemblies.flat().map((meeting) => [meeting.id, meeting]));
  for (const event of events) {
    if (isAssembly(event) || listed.has(event.id)) continue;
    listed.set(event.id, { ...listedEvent(session, event), stamp: event.last_modified });
  }
  return [...listed.values()];
}

function reportCounts({ id, type, event_type_data: counts }: EventSummary, issue: IssueSink): void {
  const expected = { meeting: ['agenda_item_count', 'document_count'], assembly: ['document_count', 'meetings_count'] };
  for (const name of type === 'meeting' || type === 'assembly' ? expected[type] : []) {
    if (!(name in counts)) issue('unusable-value', `event ${id}: has no ${name} to check what was read`);
  }
}

function listedEvent({ request }: Session, event: EventSummary): ListedMeeting {
  const day = dayOf(event.plannings[0]?.start_date);
  const {
    agenda_item_count: items = 0,
    document_count: documents = 0,
    meetings_count: children = 0,
  } = event.event_type_data;
  const month = (day ?? request.window.from).slice(0, 7);
  return {
    ...listedMeeting(event.id, day),
    hidden: isHidden(event),
    counts: event.event_type_data,
    announced: { month, count: 1 + children + items + documents },
  };
}

function listedMeeting(id: string, day: string | undefined): ListedMeeting {
  const key = meetingId(id);
  return { kind: 'meeting', id, key, day, stamp: undefined, naam: key, hidden: false, path: meetingPath(id) };
}

/** An assembly and its children. They are read in every round: no list says when a child was modified, and children have nearly all documents. */
async function listAssembly(session: Session, event: EventSummary): Promise<readonly ListedMeeting[]> {
  const own = listedEvent(session, event);
  if (own.hidden) return [own];
  const path = `/events/assemblies/${own.id}`;
  const issue = session.issues.at(path);
  const fetched = await fetchNamed(session, path, 'assembly');
  if (fetched.kind === 'hidden') return [{ ...own, hidden: true }];
  if (fetched.kind !== 'found') return [{ ...own, outcome: { kind: 'failed' } }];
  // Without its own `permission_group` that of the list holds, which is public.
  const group = fetched.value.permission_group ?? 'public';
  const assembly = readAssembly({ ...fetched.value, permission_group: group }, issue);
  if (assembly === undefined) return [{ ...own, outcome: { kind: 'failed' } }];
  if (isHidden(assembly)) return [{ ...own, hidden: true }];
  const order = (child: { readonly order?: number }): number => child.order ?? Number.MAX_SAFE_INTEGER;
  const sorted = assembly.meetings.toSorted((a, b) => order(a) - order(b));
  const children = [...new Set(sorted.map((child) => child.id))];
  const announced = event.event_type_data.meetings_count ?? 0;
  if (children.length < announced) {
    issue('count-mismatch', `${announced} child meetings announced, ${children.length} shown`);
  }
  // The supplier lists a child by the day of its assembly.
  const listedChildren = children.map((child) => ({ ...listedMeeting(child, own.day), parent: own.id }));
  return [{ ...own, assembly, children }, ...listedChildren];
}

export async function readListedMeeting(
  session: Session,
  { id, assembly }: ListedMeeting,
): Promise<Found<MeetingDetail>> {
  return await judgeMeeting(session, id, await fetchNamed(session, meetingPath(id), 'meeting'), assembly);
}

async function judgeMeeting(
  session: Session,
  id: string,
  answer: Found<JsonObject>,
  assembly?: Assembly,
): Promise<Found<MeetingDetail>> {
  if (answer.kind !== 'found') return answer;
  const issue = session.issues.at(meetingPath(id));
  // Only one of the two answers of an assembly may have it; the other was public.
  const group = answer.value.permission_group ?? (assembly === undefined ? undefined : 'public');
  const own = readMeeting({ ...answer.value, permission_group: group }, issue);
  if (own === undefined) return { kind: 'failed' };
  if (own.id !== id) {
    issue('unexpected-answer', `is meeting ${own.id}`);
    return { kind: 'failed' };
  }
  const organisation = own.organisation?.id;
  if (organisation === undefined) issue('unexpected-answer', 'does not name its organisation');
  else if (organisation !== session.request.source.organisationId) {
    issue('other-organisation', `is of organisation ${organisation}`);
    return { kind: 'failed' };
  }
  const meeting = assembly === undefined ? own : mergeAssembly(own, assembly);
  if (isHidden(meeting)) {
    session.shown.set(id, countMeeting(meeting));
    return { kind: 'hidden', ...withheldOf(meeting.documents.map(withheld)) };
  }
  const detail = await withEntries(session, meeting);
  session.shown.set(id, countMeeting(meeting, detail.entries));
  return { kind: 'found', value: detail };
}

/** Documents and register items are in the answer of a meeting; those that only the other answer of an assembly shows are added. */
function mergeAssembly(meeting: Meeting, { documents = [], module_items: items = [] }: Assembly): Meeting {
  const known = new Set(meeting.documents.map(({ id }) => id));
  const referred = new Set(meeting.module_items.map(({ id }) => id));
  return {
    ...meeting,
    documents: [...meeting.documents, ...documents.filter(({ id }) => !known.has(id))],
    module_items: [...meeting.module_items, ...items.filter(({ id }) => !referred.has(id))],
  };
}

async function withEntries(session: Session, meeting: Meeting): Promise<MeetingDetail> {
  const { shown } = flattenAgenda(meeting.agenda_items);
  const references = [...meeting.module_items, ...shown.flatMap(({ item }) => item.module_items)];
  const issue = session.issues.at(meetingPath(meeting.id));
  const entries = new Map<string, RegisterItem>();
  const done = await Promise.all(
    references.map(async (reference) => {
      const found = await readReferred(session, reference, issue);
      if (found.kind === 'found') entries.set(pathOf(reference), found.value);
      return found.kind !== 'failed';
    }),
  );
  return { kind: 'meeting', meeting, entries, isWhole: done.every((one) => one) };
}

function countMeeting(meeting: Meeting, entries: ReadonlyMap<string, RegisterItem> = new Map()): Counts {
  const below = ({ agenda_items }: Pick<AgendaItem, 'agenda_items'>): AgendaItem[] =>
    agenda_items.flatMap((item) => [item, ...below(item)]);
  const items = below(meeting);
  const documents = [meeting, ...items].reduce((sum, holder) => sum + holder.documents.length, 0);
  return { items: items.length, documents: documents + [...entries.values()].flatMap(documentsOf).length };
}

/** @returns how many announced children, items and documents are missing */
function compareCounts({ issues, shown }: Session, { id, counts = {}, children = [] }: ListedMeeting): number {
  const { agenda_item_count = 0, document_count = 0, meetings_count = 0 } = counts;
  const read = [id, ...children].map((one) => shown.get(one) ?? { items: 0, documents: 0 });
  const compare = (announced: number, of: keyof Counts, name: string): number => {
    const missing = announced - read.reduce((sum, one) => sum + one[of], 0);
    if (missing <= 0) return 0;
    issues.add('count-mismatch', meetingPath(id), `${missing} of the announced ${name} are not shown`);
    return missing;
  };
  return (
    Math.max(0, meetings_count - children.length) +
    compare(agenda_item_count, 'items', 'agenda items') +
    compare(document_count, 'documents', 'documents')
  );
}

export function mapWholeMeeting(
  session: Session,
  listed: ListedMeeting,
  { meeting, entries, isWhole }: MeetingDetail,
  { isShown }: Mapping,
): MappedItem {
  const { context, issues, request } = session;
  const path = meetingPath(meeting.id);
  const issue = issues.at(path);
  const unread = compareCounts(session, listed);
  const isPublished = (id: string): boolean => isShown(meetingId(id));
  const above = listed.parent ?? meeting.parent?.id;
  const parent = above !== undefined && above !== meeting.id && isPublished(above) ? above : undefined;
  const agenda = flattenAgenda(meeting.agenda_items);
  const documents = (holder: Attached) => attachedTo(session, holder, entries, issue);
  const children = listed.children?.filter(isPublished);
  const found = toFoundMeeting(meeting, { parent, children, agenda, documents }, context, issue);
  const mapped = mapMeeting(found, { ...context, issue, usualDay: listed.day ?? request.window.from });
  const isComplete = isWhole && ![path, ...entries.keys()].some((where) => issues.blockedAt(where));
  return {
    ...mapped,
    unread,
    parent: parent === undefined ? undefined : meetingId(parent),
    stamp: isComplete ? meeting.last_modified : undefined,
  };
}

/** Its own documents, and those of register items that it refers to. */
function attachedTo(
  { context }: Session,
  { documents, module_items }: Attached,
  entries: ReadonlyMap<string, RegisterItem>,
  issue: IssueSink,
): readonly FoundDocument[] {
  const referred = module_items.map((reference) => entries.get(pathOf(reference))).filter((item) => item !== undefined);
  return [
    ...documents.map((document) => toFoundDocument(document, undefined, context, issue)),
    ...referred.flatMap((item) => {
      if (isHidden(item)) return withheldDocuments(item);
      const agendapunten = agendaItemsOf(item).map(agendapuntId);
      const registerdag = dayOf(registerDate(item));
      return toFoundDocuments(item, undefined, context, issue).map((one) => ({ ...one, agendapunten, registerdag }));
    }),
  ];
}

/** A known meeting that its list lacks may have been moved to another day. */
export async function findMeeting(session: Session, id: string): Promise<Found<ListedMeeting>> {
  const outcome = await judgeMeeting(session, id, await fetchOne(session, meetingPath(id), 'meeting'));
  if (outcome.kind !== 'found') return outcome;
  const day = dayOf(outcome.value.meeting.plannings[0]?.start_date);
  return { kind: 'found', value: { ...listedMeeting(id, day), outcome } };
}
