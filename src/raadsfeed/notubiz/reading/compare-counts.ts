import type { UnreadCount } from '../../aggregator/source-adapter.ts';
import type { EventSummary } from '../answers/event.ts';
import { readMoment } from '../values/moment.ts';
import type { WindowMeeting } from './read-events.ts';
import { countMeeting, meetingPath } from './read-meeting.ts';
import type { ReadingSession } from './session.ts';

/** Fewer items or documents than announced is an issue; what is short has no name, and counts as unread. */
export function compareCounts(
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
export function dayOfEvent({ plannings }: EventSummary, { request }: ReadingSession): string {
  return readMoment(plannings[0]?.start).moment?.day ?? request.window.from;
}
