import { partKey } from '../../aggregator/part-key.ts';
import type { ReadPlace } from '../../aggregator/source-adapter.ts';
import type { Meeting } from '../answers/meeting.ts';
import type { ModuleItemReference } from '../answers/module-item-reference.ts';
import type { RegisterItem } from '../answers/register-item.ts';
import type { IssueSink } from '../issue-log.ts';
import { mapAgendapunt } from '../map/agendapunt.ts';
import { agendapuntId, meetingId } from '../map/identity.ts';
import type { MappingContext } from '../map/mapping-context.ts';
import { mapVergadering } from '../map/vergadering.ts';
import { readMoment } from '../values/moment.ts';
import type { DocumentCollector, Hook, HungThings } from './document-collector.ts';
import { flattenAgenda } from './flatten-agenda.ts';

export interface MeetingToPlace {
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

/** Makes the place of a meeting that may be published, and gives its documents to the collector. */
export function placeMeeting(
  found: MeetingToPlace,
  context: MappingContext,
  collector: DocumentCollector,
  issue: IssueSink,
): { readonly place: ReadPlace; readonly hidden: readonly string[] } {
  const { meeting, parent, children, day, complete } = found;
  const { shown, hidden } = flattenAgenda(meeting.agendaItems);
  const relations = { parent, children, agendaItems: shown.map(({ item }) => item.id) };
  const mapped = mapVergadering(meeting, relations, context, issue);
  const agenda = shown.map(({ item, parent: above }) => {
    const nested = shown.filter((other) => other.parent === item.id).map((other) => other.item.id);
    return mapAgendapunt(item, { meeting: meeting.id, parent: above, children: nested }, context, issue);
  });
  const records = [mapped.record, ...agenda];
  for (const item of hidden) collector.shield(item.documents);
  const vergaderdag = mapped.day ?? day;
  const vergaderingen = [meetingId(meeting.id)];
  const documents = collector.take(
    [
      ...hang(meeting, found.items, { vergaderingen, agendapunten: [], vergaderdag }, collector),
      ...shown.flatMap(({ item }) =>
        hang(item, found.items, { vergaderingen, agendapunten: [agendapuntId(item.id)], vergaderdag }, collector),
      ),
    ],
    issue,
  );
  const place = {
    place: meetingId(meeting.id),
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
    place,
    hidden: hidden.map(({ id }) => partKey({ resourceType: 'Agendapunt', bronidentificatie: agendapuntId(id) })),
  };
}

/** What hangs on a meeting or agenda item, directly or through a register item. */
function hang(
  holder: { documents: Meeting['documents']; moduleItems: readonly ModuleItemReference[] },
  items: ReadonlyMap<string, RegisterItem>,
  hook: Hook,
  collector: DocumentCollector,
): HungThings[] {
  const registered = holder.moduleItems.map(({ path }) => items.get(path)).filter((item) => item !== undefined);
  for (const item of registered.filter(({ hidden }) => hidden)) collector.shieldItem(item);
  return [
    { documents: holder.documents, hook },
    ...registered
      .filter(({ hidden }) => !hidden)
      .map((item) => ({
        documents: item.documents,
        item,
        hook: {
          ...hook,
          agendapunten: [...hook.agendapunten, ...item.agendaItems.map(agendapuntId)],
          registerdag: readMoment(item.date).moment?.day,
        },
      })),
  ];
}
