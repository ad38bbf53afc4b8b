import type { UnreadCount } from '../../supplier/source-adapter.ts';
import { type EventSummary, readAssemblyChildren, readEvent } from '../parse/meeting.ts';
import { readMoment } from '../parse/moment.ts';
import { isHidden } from '../parse/values.ts';
import { listWindow } from './list-window.ts';
import { countMeeting, type MeetingOutcome, meetingPath, readNamedMeeting } from './read-meeting.ts';
import { fetchNamed, type ReadingSession } from './session.ts';

/** A meeting of the window, with its event and its assembly or children. */
export interface WindowMeeting {
  readonly id: string;
  readonly outcome: MeetingOutcome | { readonly kind: 'unchanged' };
  /** The event that shows it: itself, or the assembly that it is a part of. */
  readonly event: EventSummary;
  /** Of an assembly: its children, in order. */
  readonly children: readonly string[] | undefined;
  readonly parent: string | undefined;
}

interface WindowMeetings {
  readonly meetings: ReadonlyMap<string, WindowMeeting>;
  readonly unread: readonly UnreadCount[];
}

/** Reads every event of the window, the children of assemblies included. */
export async function readEvents(session: ReadingSession): Promise<WindowMeetings> {
  const { organisationId } = session.request.source;
  const list = {
    path: '/events',
    query: { organisation_id: organisationId },
    member: 'events',
    mayBeRefused: false,
    mayBeWhole: false,
  };
  const issue = session.issues.at(list.path);
  const raws = await listWindow(session, list);
  const events = raws.map((raw) => readEvent(raw, issue)).filter((event) => event !== undefined);
  const assemblies = await Promise.all(events.filter(isAssembly).map((event) => readAssembly(session, event)));
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

async function readListed(session: ReadingSession, event: EventSummary): Promise<WindowMeeting> {
  const found = { id: event.id, event, children: undefined, parent: undefined };
  if (event.hidden) return { ...found, outcome: { kind: 'hidden' } };
  if (isUnchanged(session, event)) return { ...found, outcome: { kind: 'unchanged' } };
  return { ...found, outcome: await readNamedMeeting(session, event.id) };
}

/** In a quick round, a meeting that was not modified since it was last read as a whole is not read again. */
function isUnchanged({ request, context }: ReadingSession, { id, lastModified }: EventSummary): boolean {
  if (request.depth === 'full' || lastModified === undefined) return false;
  const known = request.known.find(({ key }) => key === `meeting-${id}`);
  if (known === undefined || known.lastModified !== lastModified) return false;
  return known.readAgainAfter === null || Date.parse(known.readAgainAfter) > context.now.getTime();
}

/**
 * An assembly and its children. They are read in every round: no list says when a child was modified, and nearly all documents
 * belong to children.
 */
async function readAssembly(session: ReadingSession, event: EventSummary): Promise<readonly WindowMeeting[]> {
  const own = { id: event.id, event, parent: undefined };
  if (event.hidden) return [{ ...own, children: undefined, outcome: { kind: 'hidden' } }];
  const path = `/events/assemblies/${event.id}`;
  const issue = session.issues.at(path);
  const fetched = await fetchNamed(session, path, 'assembly');
  if (fetched.kind !== 'found') {
    const kind = fetched.kind === 'refused' ? 'refused' : 'failed';
    return [{ ...own, children: undefined, outcome: { kind } }];
  }
  // Without a `permission_group` of its own that of the list holds, where it is public.
  const assembly = { ...fetched.raw, permission_group: fetched.raw.permission_group ?? 'public' };
  if (isHidden(assembly, true, issue)) return [{ ...own, children: undefined, outcome: { kind: 'hidden' } }];
  const children = readAssemblyChildren(fetched.raw, issue) ?? [];
  if (children.length < (event.meetingsCount ?? 0)) {
    issue('count-mismatch', `${event.meetingsCount} child meetings announced, ${children.length} shown`);
  }
  const [outcome, ...others] = await Promise.all([
    readNamedMeeting(session, event.id, assembly),
    ...children.map(async (id) => ({ id, outcome: await readNamedMeeting(session, id) })),
  ]);
  return [
    { ...own, children, outcome },
    ...others.map((child) => ({ ...child, event, children: undefined, parent: event.id })),
  ];
}

/** Fewer items or documents than announced is an issue; the missing ones have no name, and count as unread. */
function compareCounts(
  session: ReadingSession,
  event: EventSummary,
  meetings: ReadonlyMap<string, WindowMeeting>,
): readonly UnreadCount[] {
  const own = meetings.get(event.id);
  if (own === undefined || own.outcome.kind !== 'read')
    return own?.outcome.kind === 'failed' ? announced(session, event) : [];
  const parts = (own.children ?? []).map((id) => meetings.get(id)?.outcome).filter((outcome) => outcome !== undefined);
  const total = [own.outcome, ...parts.filter((outcome) => outcome.kind !== 'unchanged')]
    .map(countMeeting)
    .reduce((sum, one) => ({ items: sum.items + one.items, documents: sum.documents + one.documents }));
  const failedChildren = parts.filter((outcome) => outcome.kind === 'failed').length;
  return [
    short(session, event, 'Vergadering', failedChildren + lacking(event.meetingsCount, own.children?.length ?? 0)),
    short(session, event, 'Agendapunt', lacking(event.agendaItemCount, total.items), 'agenda items'),
    short(session, event, 'Informatieobject', lacking(event.documentCount, total.documents), 'documents'),
  ].filter(({ count }) => count > 0);
}

function lacking(announcedCount: number | undefined, read: number): number {
  return Math.max(0, (announcedCount ?? 0) - read);
}

function announced(session: ReadingSession, event: EventSummary): readonly UnreadCount[] {
  return [
    short(session, event, 'Vergadering', 1 + (event.meetingsCount ?? 0)),
    short(session, event, 'Agendapunt', event.agendaItemCount ?? 0),
    short(session, event, 'Informatieobject', event.documentCount ?? 0),
  ].filter(({ count }) => count > 0);
}

function short(
  session: ReadingSession,
  event: EventSummary,
  resourceType: UnreadCount['resourceType'],
  count: number,
  named?: string,
): UnreadCount {
  const where = meetingPath(event.id);
  if (named !== undefined && count > 0) {
    session.issues.add('count-mismatch', where, `${count} of the announced ${named} are not shown`);
  }
  return { month: dayOfEvent(event, session).slice(0, 7), where, resourceType, count };
}

/** The day of an event as its list shows it; the first of the window when it gives none. */
function dayOfEvent({ plannings }: EventSummary, { request }: ReadingSession): string {
  return readMoment(plannings[0]?.start).moment?.day ?? request.window.from;
}
