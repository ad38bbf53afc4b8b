import { partKey } from '../../resource-key.ts';
import type { ReadItem, RemovedItem } from '../../supplier/source-adapter.ts';
import type { IssueSink } from '../issue-log.ts';
import { agendapuntId, type MappingContext, meetingId } from '../map/context.ts';
import { mapAgendapunt, mapVergadering } from '../map/vergadering.ts';
import type { ModuleItemReference, RegisterItem } from '../parse/document.ts';
import { flattenAgenda, type Meeting } from '../parse/meeting.ts';
import { readMoment } from '../parse/moment.ts';
import type { AttachedDocuments, Attachment, DocumentCollector } from './document-collector.ts';
import type { WindowMeeting } from './read-events.ts';
import { meetingPath } from './read-meeting.ts';
import type { ReadingSession } from './session.ts';

interface MeetingItems {
  readonly items: readonly ReadItem[];
  readonly unchanged: readonly string[];
  /** Those that are not public (any more). */
  readonly removed: readonly RemovedItem[];
  readonly hidden: readonly string[];
  /** Keys of what the supplier showed, in whatever state. */
  readonly seen: readonly string[];
}

/** The items of the meetings that may be published; called when that is known of all of them. */
export function meetingItems(
  session: ReadingSession,
  meetings: ReadonlyMap<string, WindowMeeting>,
  collector: DocumentCollector,
): MeetingItems {
  const all = [...meetings.values()];
  const items: ReadItem[] = [];
  const hidden: string[] = [];
  for (const found of all) {
    const { id, outcome } = found;
    if (outcome.kind === 'hidden' || outcome.kind === 'refused')
      hidden.push(partKey({ resourceType: 'Vergadering', bronidentificatie: meetingId(id) }));
    if (outcome.kind === 'hidden') collector.addUnderHidden(outcome.meeting?.documents ?? []);
    if (outcome.kind !== 'read') continue;
    const relations = relate(session, found, outcome.meeting.parentId, meetings);
    const placed = meetingItem(
      { ...outcome, ...relations, day: dayOf(session, found), complete: isComplete(session, id, outcome) },
      session.context,
      collector,
      session.issues.at(meetingPath(id)),
    );
    items.push(placed.item);
    hidden.push(...placed.hidden);
  }
  return {
    items,
    hidden,
    unchanged: all.filter(({ outcome }) => outcome.kind === 'unchanged').map(({ id }) => meetingId(id)),
    removed: all
      .filter(({ outcome }) => outcome.kind === 'hidden' || outcome.kind === 'refused')
      .map(({ id }) => ({ key: meetingId(id), verwijderreden: 'niet_langer_openbaar' })),
    seen: all.map(({ id }) => meetingId(id)),
  };
}

/** Only relations to what is published too; of what could not be read, to what was published before. */
function relate(
  session: ReadingSession,
  found: WindowMeeting,
  parentId: string | undefined,
  meetings: ReadonlyMap<string, WindowMeeting>,
): { parent: string | undefined; children: readonly string[] | undefined } {
  const known = new Set(session.request.known.map(({ key }) => key));
  const isPublished = (id: string): boolean => {
    const kind = meetings.get(id)?.outcome.kind;
    return kind === 'read' || kind === 'unchanged' || (kind === 'failed' && known.has(meetingId(id)));
  };
  const parent = found.parent ?? parentId;
  return {
    parent: parent !== undefined && parent !== found.id && isPublished(parent) ? parent : undefined,
    children: found.children?.filter(isPublished),
  };
}

/** A meeting of which something is missing is read again in every round, so that its window does not count as complete. */
function isComplete(
  { issues }: ReadingSession,
  id: string,
  { complete, items }: { readonly complete: boolean; readonly items: ReadonlyMap<string, unknown> },
): boolean {
  return complete && ![meetingPath(id), ...items.keys()].some((where) => issues.blockedAt(where));
}

/** A child has the day of its assembly: that is how the supplier lists it. */
function dayOf({ request }: ReadingSession, { event }: WindowMeeting): string {
  return readMoment(event.plannings[0]?.start).moment?.day ?? request.window.from;
}

interface FoundMeeting {
  readonly meeting: Meeting;
  readonly items: ReadonlyMap<string, RegisterItem>;
  readonly complete: boolean;
  /** Id of the assembly, when that is published. */
  readonly parent: string | undefined;
  /** Ids of the children that are published. */
  readonly children: readonly string[] | undefined;
  /** The day of the event that shows it. */
  readonly day: string;
}

/** The item of a meeting that may be published; its documents are added to the collector. */
function meetingItem(
  found: FoundMeeting,
  context: MappingContext,
  collector: DocumentCollector,
  issue: IssueSink,
): { readonly item: ReadItem; readonly hidden: readonly string[] } {
  const { meeting, parent, children, day, complete } = found;
  const { shown, hidden } = flattenAgenda(meeting.agendaItems);
  const relations = { parent, children, agendaItems: shown.map(({ item }) => item.id) };
  const mapped = mapVergadering(meeting, relations, context, issue);
  const agenda = shown.map(({ item, parent: above }) => {
    const nested = shown.filter((other) => other.parent === item.id).map((other) => other.item.id);
    return mapAgendapunt(item, { meeting: meeting.id, parent: above, children: nested }, context, issue);
  });
  const records = [mapped.record, ...agenda];
  for (const item of hidden) collector.addUnderHidden(item.documents);
  const vergaderdag = mapped.day ?? day;
  const vergaderingen = [meetingId(meeting.id)];
  const documents = collector.add(
    [
      ...attachmentsOf(meeting, found.items, { vergaderingen, agendapunten: [], vergaderdag }, collector),
      ...shown.flatMap(({ item }) =>
        attachmentsOf(
          item,
          found.items,
          { vergaderingen, agendapunten: [agendapuntId(item.id)], vergaderdag },
          collector,
        ),
      ),
    ],
    issue,
  );
  const item = {
    key: meetingId(meeting.id),
    day,
    parent: parent === undefined ? null : meetingId(parent),
    lastModified: complete ? (meeting.lastModified ?? null) : null,
    readAgainAfter: mapped.endsAt,
    parts: [
      ...records.map(({ resourceType, data: { bronidentificatie } }) => ({ resourceType, bronidentificatie })),
      ...documents,
    ],
    complete,
    records,
  };
  return {
    item,
    hidden: hidden.map(({ id }) => partKey({ resourceType: 'Agendapunt', bronidentificatie: agendapuntId(id) })),
  };
}

/** The documents of a meeting or agenda item, its own and those of register items that it refers to. */
function attachmentsOf(
  holder: { documents: Meeting['documents']; moduleItems: readonly ModuleItemReference[] },
  items: ReadonlyMap<string, RegisterItem>,
  attachment: Attachment,
  collector: DocumentCollector,
): AttachedDocuments[] {
  const registered = holder.moduleItems.map(({ path }) => items.get(path)).filter((item) => item !== undefined);
  for (const item of registered.filter(({ hidden }) => hidden)) collector.addHiddenRegisterItem(item);
  return [
    { documents: holder.documents, attachment },
    ...registered
      .filter(({ hidden }) => !hidden)
      .map((item) => ({
        documents: item.documents,
        item,
        attachment: {
          ...attachment,
          agendapunten: [...attachment.agendapunten, ...item.agendaItems.map(agendapuntId)],
          registerdag: readMoment(item.date).moment?.day,
        },
      })),
  ];
}
