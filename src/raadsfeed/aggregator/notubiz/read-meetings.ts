/** Reads the meetings of a window, and makes the items of those that may be published. */
import type { Attachment } from '../supplier/document-collector.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { stampOf } from '../supplier/mapping.ts';
import { mapMeeting } from '../supplier/meeting.ts';
import type { PartName, ReadItem, UnreadCount } from '../supplier/source-adapter.ts';
import { fetchNamed, listWindow } from './api.ts';
import { type AttachedDocuments, documentsOf, type NotubizDocuments } from './documents.ts';
import { agendapuntId, meetingId, toFoundMeeting } from './map.ts';
import {
  agendaItemsOf,
  type EventSummary,
  isHidden,
  type ModuleReference,
  type NotubizDocument,
  type RegisterItem,
  readAssembly,
  readEvent,
  registerDate,
} from './schema.ts';
import {
  countMeeting,
  dayOf,
  flattenAgenda,
  type MeetingOutcome,
  meetingPath,
  pathOf,
  type ReadingSession,
  readNamedMeeting,
} from './session.ts';

/** A meeting of the window, with its event and its assembly or children. */
export interface WindowMeeting {
  readonly id: string;
  readonly outcome: MeetingOutcome | { readonly kind: 'unchanged' };
  /** The Dutch day of the event that shows it: itself, or the assembly that it is a part of. */
  readonly day: string | undefined;
  /** The children of an assembly, in order. */
  readonly children?: readonly string[];
  readonly parent?: string;
}

interface WindowMeetings {
  readonly meetings: ReadonlyMap<string, WindowMeeting>;
  readonly unread: readonly UnreadCount[];
}

/** Reads every event of the window, the children of assemblies included. */
export async function readMeetings(session: ReadingSession): Promise<WindowMeetings> {
  const path = '/events';
  const query = { organisation_id: session.request.source.organisationId };
  const listed = await listWindow(session, { path, query, member: 'events', isRegister: false });
  const issue = session.issues.at(path);
  const events = [...listed.values()]
    .map((raw) => readEvent(raw, issue, 'event'))
    .filter((event) => event !== undefined);
  for (const event of events) reportCounts(event, issue);
  const assemblies = await Promise.all(events.filter(isAssembly).map((event) => readChildren(session, event)));
  const meetings = new Map(assemblies.flat().map((meeting) => [meeting.id, meeting]));
  const others = events.filter((event) => !isAssembly(event) && !meetings.has(event.id));
  for (const meeting of await Promise.all(others.map((event) => readListed(session, event)))) {
    meetings.set(meeting.id, meeting);
  }
  return { meetings, unread: events.flatMap((event) => compareCounts(session, event, meetings)) };
}

function isAssembly({ type }: EventSummary): boolean {
  return type === 'assembly';
}

function reportCounts({ id, type, event_type_data: counts }: EventSummary, issue: IssueSink): void {
  const expected = { meeting: ['agenda_item_count', 'document_count'], assembly: ['document_count', 'meetings_count'] };
  for (const name of type === 'meeting' || type === 'assembly' ? expected[type] : []) {
    if (!(name in counts)) issue('unusable-value', `event ${id}: has no ${name} to check what was read`);
  }
}

async function readListed(session: ReadingSession, event: EventSummary): Promise<WindowMeeting> {
  const { id } = event;
  const found = { id, day: dayOf(event.plannings[0]?.start_date) };
  if (isHidden(event)) return { ...found, outcome: { kind: 'hidden' } };
  if (isUnchanged(session, event)) return { ...found, outcome: { kind: 'unchanged' } };
  return { ...found, outcome: await readNamedMeeting(session, id) };
}

/** In a quick round, a meeting that was not modified since it was last read as a whole is not read again. */
function isUnchanged({ request, context }: ReadingSession, { id, last_modified }: EventSummary): boolean {
  if (request.depth === 'full' || last_modified === undefined) return false;
  const known = request.known.find(({ key }) => key === meetingId(id));
  if (known === undefined || known.lastModified !== stampOf(last_modified)) return false;
  return known.readAgainAfter === null || Date.parse(known.readAgainAfter) > context.now.getTime();
}

/**
 * An assembly and its children. They are read in every round: no list says when a child was modified, and nearly all documents
 * belong to children.
 */
async function readChildren(session: ReadingSession, event: EventSummary): Promise<readonly WindowMeeting[]> {
  const { id } = event;
  const own = { id, day: dayOf(event.plannings[0]?.start_date) };
  if (isHidden(event)) return [{ ...own, outcome: { kind: 'hidden' } }];
  const path = `/events/assemblies/${id}`;
  const issue = session.issues.at(path);
  const fetched = await fetchNamed(session, path, 'assembly');
  if (fetched.kind !== 'found') {
    return [{ ...own, outcome: { kind: fetched.kind === 'refused' ? 'refused' : 'failed' } }];
  }
  // Without a `permission_group` of its own that of the list holds, where it is public.
  const group = fetched.raw.permission_group ?? 'public';
  const assembly = readAssembly({ ...fetched.raw, permission_group: group }, issue);
  if (assembly === undefined) return [{ ...own, outcome: { kind: 'failed' } }];
  if (isHidden(assembly)) return [{ ...own, outcome: { kind: 'hidden' } }];
  const order = (child: { readonly order?: number }): number => child.order ?? Number.MAX_SAFE_INTEGER;
  const sorted = assembly.meetings.toSorted((a, b) => order(a) - order(b));
  const children = [...new Set(sorted.map((child) => child.id))];
  const announced = event.event_type_data.meetings_count ?? 0;
  if (children.length < announced) {
    issue('count-mismatch', `${announced} child meetings announced, ${children.length} shown`);
  }
  const [outcome, ...others] = await Promise.all([
    readNamedMeeting(session, id, assembly),
    ...children.map((child) => readNamedMeeting(session, child)),
  ]);
  return [
    { ...own, children, outcome },
    ...children.map((child, i) => ({
      id: child,
      day: own.day,
      parent: id,
      outcome: others[i] ?? { kind: 'failed' as const },
    })),
  ];
}

/** Fewer items or documents than announced is an issue; the missing ones have no name, and count as unread. */
function compareCounts(
  session: ReadingSession,
  { id, plannings, event_type_data: counts }: EventSummary,
  meetings: ReadonlyMap<string, WindowMeeting>,
): readonly UnreadCount[] {
  const own = meetings.get(id);
  const month = (dayOf(plannings[0]?.start_date) ?? session.request.window.from).slice(0, 7);
  const { agenda_item_count: items = 0, document_count: documents = 0, meetings_count: children = 0 } = counts;
  if (own?.outcome.kind === 'failed') return [{ month, count: 1 + children + items + documents }];
  if (own?.outcome.kind !== 'read') return [];
  const parts = (own.children ?? []).map((child) => meetings.get(child)?.outcome ?? { kind: 'failed' as const });
  const read = [own.outcome, ...parts].map(countMeeting);
  let count = parts.filter(({ kind }) => kind === 'failed').length + Math.max(0, children - parts.length);
  const compare = (announced: number, shown: number, name: string): void => {
    if (shown >= announced) return;
    session.issues.add(
      'count-mismatch',
      meetingPath(id),
      `${announced - shown} of the announced ${name} are not shown`,
    );
    count += announced - shown;
  };
  compare(
    items,
    read.reduce((sum, one) => sum + one.items, 0),
    'agenda items',
  );
  compare(
    documents,
    read.reduce((sum, one) => sum + one.documents, 0),
    'documents',
  );
  return count === 0 ? [] : [{ month, count }];
}

interface MeetingItems {
  readonly items: readonly ReadItem[];
  /** Agenda items and meetings that are not public. */
  readonly hidden: readonly PartName[];
}

export function isWithheld({ outcome: { kind } }: WindowMeeting): boolean {
  return kind === 'hidden' || kind === 'refused';
}

/** The items of the meetings that may be published; called when that is known of all of them. */
export function meetingItems(
  session: ReadingSession,
  meetings: ReadonlyMap<string, WindowMeeting>,
  collector: NotubizDocuments,
): MeetingItems {
  const items: ReadItem[] = [];
  const hidden: PartName[] = [];
  const known = new Set(session.request.known.map(({ key }) => key));
  // Only relations to what is published too; of what could not be read, to what was published before.
  const isPublished = (id: string): boolean => {
    const kind = meetings.get(id)?.outcome.kind;
    return kind === 'read' || kind === 'unchanged' || (kind === 'failed' && known.has(meetingId(id)));
  };
  for (const found of meetings.values()) {
    const { id, outcome } = found;
    if (isWithheld(found)) hidden.push({ resourceType: 'Vergadering', bronidentificatie: meetingId(id) });
    if (outcome.kind === 'hidden') collector.addUnderHidden(outcome.meeting?.documents ?? []);
    if (outcome.kind !== 'read') continue;
    const parent = found.parent ?? outcome.meeting.parent?.id;
    const relations = {
      parent: parent !== undefined && parent !== id && isPublished(parent) ? parent : undefined,
      children: found.children?.filter(isPublished),
    };
    const placed = meetingItem(session, { ...outcome, ...relations, day: found.day }, collector);
    items.push(placed.item);
    hidden.push(...placed.hidden);
  }
  return { items, hidden };
}

type FoundMeeting = Extract<MeetingOutcome, { kind: 'read' }> & {
  /** Ids of the assembly and of the children that are published. */
  readonly parent: string | undefined;
  readonly children: readonly string[] | undefined;
  readonly day: string | undefined;
};

/** The item of a meeting that may be published; its documents are added to the collector. */
function meetingItem(
  { context, issues, request }: ReadingSession,
  { meeting, items, parent, children, day: listedDay, complete: allRead }: FoundMeeting,
  collector: NotubizDocuments,
): { readonly item: ReadItem; readonly hidden: readonly PartName[] } {
  const issue = issues.at(meetingPath(meeting.id));
  const { shown, hidden } = flattenAgenda(meeting.agenda_items);
  const found = toFoundMeeting(meeting, { parent, children, agenda: shown }, context, issue);
  // A child has the day of its assembly: that is how the supplier lists it.
  const day = listedDay ?? request.window.from;
  const { records, readAgainAfter } = mapMeeting(found, { ...context, issue, usualDay: day });
  for (const item of hidden) collector.addUnderHidden(item.documents);
  const own = { vergaderingen: [meetingId(meeting.id)], agendapunten: [], vergaderdag: found.start?.day ?? day };
  const documents = collector.addAll(
    [
      ...attachmentsOf(meeting, items, own, collector),
      ...shown.flatMap(({ item }) =>
        attachmentsOf(item, items, { ...own, agendapunten: [agendapuntId(item.id)] }, collector),
      ),
    ],
    issue,
  );
  // An incomplete meeting is read again in every round, and its window does not count as complete.
  const complete = allRead && ![meetingPath(meeting.id), ...items.keys()].some((where) => issues.blockedAt(where));
  return {
    item: {
      key: meetingId(meeting.id),
      day,
      parent: parent === undefined ? null : meetingId(parent),
      lastModified: complete ? stampOf(meeting.last_modified) : null,
      readAgainAfter,
      parts: [
        ...records.map(({ resourceType, data: { bronidentificatie } }) => ({ resourceType, bronidentificatie })),
        ...documents,
      ],
      records,
    },
    hidden: hidden.map(({ id }) => ({ resourceType: 'Agendapunt', bronidentificatie: agendapuntId(id) })),
  };
}

/** The documents of a meeting or agenda item, its own and those of register items that it refers to. */
function attachmentsOf(
  holder: { readonly documents: readonly NotubizDocument[]; readonly module_items: readonly ModuleReference[] },
  items: ReadonlyMap<string, RegisterItem>,
  attachment: Attachment,
  collector: NotubizDocuments,
): AttachedDocuments[] {
  const registered = holder.module_items.map((reference) => items.get(pathOf(reference)));
  const found = registered.filter((item) => item !== undefined);
  for (const item of found.filter(isHidden)) collector.addHiddenRegisterItem(item);
  return [
    { documents: holder.documents, attachment },
    ...found
      .filter((item) => !isHidden(item))
      .map((item) => ({
        documents: documentsOf(item),
        item,
        attachment: {
          ...attachment,
          agendapunten: [...attachment.agendapunten, ...agendaItemsOf(item).map(agendapuntId)],
          registerdag: dayOf(registerDate(item)),
        },
      })),
  ];
}
