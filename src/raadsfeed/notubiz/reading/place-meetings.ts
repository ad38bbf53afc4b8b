import { partKey } from '../../aggregator/part-key.ts';
import type { GonePlace, ReadPlace } from '../../aggregator/source-adapter.ts';
import { meetingId } from '../map/identity.ts';
import { readMoment } from '../values/moment.ts';
import type { DocumentCollector } from './document-collector.ts';
import { placeMeeting } from './place-meeting.ts';
import type { WindowMeeting } from './read-events.ts';
import { meetingPath } from './read-meeting.ts';
import type { ReadingSession } from './session.ts';

export interface PlacedMeetings {
  readonly places: readonly ReadPlace[];
  readonly unchanged: readonly string[];
  /** What is not public (any more). */
  readonly gone: readonly GonePlace[];
  readonly hidden: readonly string[];
  /** Places that the supplier showed, in whatever state. */
  readonly seen: readonly string[];
}

/** Makes places of the meetings that may be published, once it is known of all of them whether they may. */
export function placeMeetings(
  session: ReadingSession,
  meetings: ReadonlyMap<string, WindowMeeting>,
  collector: DocumentCollector,
): PlacedMeetings {
  const all = [...meetings.values()];
  const places: ReadPlace[] = [];
  const hidden: string[] = [];
  for (const found of all) {
    const { id, outcome } = found;
    if (outcome.kind === 'hidden' || outcome.kind === 'refused')
      hidden.push(partKey({ resourceType: 'Vergadering', bronidentificatie: meetingId(id) }));
    if (outcome.kind === 'hidden') collector.shield(outcome.meeting?.documents ?? []);
    if (outcome.kind !== 'read') continue;
    const relations = relate(session, found, outcome.meeting.parentId, meetings);
    const placed = placeMeeting(
      { ...outcome, ...relations, day: dayOf(session, found), complete: isComplete(session, id, outcome) },
      session.context,
      collector,
      session.issues.at(meetingPath(id)),
    );
    places.push(placed.place);
    hidden.push(...placed.hidden);
  }
  return {
    places,
    hidden,
    unchanged: all.filter(({ outcome }) => outcome.kind === 'unchanged').map(({ id }) => meetingId(id)),
    gone: all
      .filter(({ outcome }) => outcome.kind === 'hidden' || outcome.kind === 'refused')
      .map(({ id }) => ({ place: meetingId(id), verwijderreden: 'niet_langer_openbaar' })),
    seen: all.map(({ id }) => meetingId(id)),
  };
}

/** References go only to what is published too; of what could not be read, to what was published before. */
function relate(
  session: ReadingSession,
  found: WindowMeeting,
  parentId: string | undefined,
  meetings: ReadonlyMap<string, WindowMeeting>,
): { parent: string | undefined; children: readonly string[] | undefined } {
  const known = new Set(session.request.known.map(({ place }) => place));
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

/** A meeting of which something is missing is read again in every round, so that its window cannot pass for complete. */
function isComplete(
  { issues }: ReadingSession,
  id: string,
  { complete, items }: { readonly complete: boolean; readonly items: ReadonlyMap<string, unknown> },
): boolean {
  return complete && ![meetingPath(id), ...items.keys()].some((where) => issues.blockedAt(where));
}

/** A child stands on the day of its assembly: that is how the supplier lists it. */
function dayOf({ request }: ReadingSession, { event }: WindowMeeting): string {
  return readMoment(event.plannings[0]?.start).moment?.day ?? request.window.from;
}
