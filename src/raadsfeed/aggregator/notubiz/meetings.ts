/** Meetings of NotuBiz, and assemblies with their children. */
import type { JsonObject } from '../../../lib/json/json-value.ts';
import { lineOfHtml, textOfHtml } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { references } from '../supplier/mapping.ts';
import { type FoundDocument, mapMeeting, withheldOf } from '../supplier/meeting.ts';
import { type Found, foundAs, type Listed, type MappedItem, type Mapping } from '../supplier/supplier.ts';
import { addressOf, momentOf, timeOf } from '../supplier/values.ts';
import { type Counts, fetchNamed, fetchOne, listWindow, type Session } from './api.ts';
import { dayOf, pathOf, readReferred } from './entries.ts';
import {
  agendapuntId,
  documentsOfEntry,
  flattenAgenda,
  labelledText,
  meetingId,
  portalPage,
  toFoundDocument,
  toFoundDocuments,
  toFoundItem,
  withheld,
  withheldDocuments,
  withheldItem,
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

interface Announced {
  readonly id: string;
  readonly day: string | undefined;
  readonly counts?: EventSummary['event_type_data'];
  /** Of an assembly: its other answer, and its children in order. */
  readonly assembly?: Assembly;
  readonly children?: readonly string[];
  readonly parent?: string;
}

interface MeetingDetail {
  readonly meeting: Meeting;
  /** The register items that it and its public agenda items refer to, by path, as far as they were read. */
  readonly entries: ReadonlyMap<string, RegisterItem>;
  readonly isWhole: boolean;
}

function meetingPath(id: string): string {
  return `/events/meetings/${id}`;
}

export async function listMeetings(session: Session): Promise<readonly Listed[]> {
  const path = '/events';
  const query = { organisation_id: session.request.source.organisationId };
  const found = await listWindow(session, path, 'events', query);
  const issue = session.issues.at(path);
  const events = found.map(({ raw }) => readEvent(raw, issue, 'event')).filter((event) => event !== undefined);
  for (const event of events) reportCounts(event, issue);
  const assemblies = events.filter(({ type }) => type === 'assembly');
  const withChildren = await Promise.all(assemblies.map((event) => listAssembly(session, event)));
  const listed = new Map(withChildren.flat().map((meeting) => [meeting.key, meeting]));
  for (const event of events) {
    const key = meetingId(event.id);
    if (event.type === 'assembly' || listed.has(key)) continue;
    listed.set(key, { ...listedEvent(session, event), stamp: event.last_modified });
  }
  return [...listed.values()];
}

function reportCounts({ id, type, event_type_data: counts }: EventSummary, issue: IssueSink): void {
  const expected = { meeting: ['agenda_item_count', 'document_count'], assembly: ['document_count', 'meetings_count'] };
  for (const name of type === 'meeting' || type === 'assembly' ? expected[type] : []) {
    if (!(name in counts)) issue('unusable-value', `event ${id}: has no ${name} to check what was read`);
  }
}

function listedEvent(session: Session, event: EventSummary, more: Partial<Announced> = {}): Listed {
  const day = dayOf(event.plannings[0]?.start_date);
  const { event_type_data: counts } = event;
  const { agenda_item_count: items = 0, document_count: documents = 0, meetings_count: children = 0 } = counts;
  const month = (day ?? session.request.window.from).slice(0, 7);
  return {
    ...listedMeeting(session, { id: event.id, day, counts, ...more }),
    hidden: isHidden(event),
    announced: { month, count: 1 + children + items + documents },
  };
}

function listedMeeting(session: Session, announced: Announced): Listed {
  const { id, day, assembly } = announced;
  const key = meetingId(id);
  const read = async (): Promise<Found<Mapping>> => {
    const found = await judgeMeeting(session, id, await fetchNamed(session, meetingPath(id), 'meeting'), assembly);
    return foundAs(found, (detail) => (isShown) => mapWholeMeeting(session, announced, detail, isShown));
  };
  return { key, day, stamp: undefined, naam: key, hidden: false, path: meetingPath(id), read };
}

/** An assembly and its children. They are read in every round: no list says when a child was modified, and children have nearly all documents. */
async function listAssembly(session: Session, event: EventSummary): Promise<readonly Listed[]> {
  const own = listedEvent(session, event);
  if (own.hidden) return [own];
  const path = `/events/assemblies/${event.id}`;
  const issue = session.issues.at(path);
  const fetched = await fetchNamed(session, path, 'assembly');
  if (fetched.kind === 'hidden') return [{ ...own, hidden: true }];
  // Without its own `permission_group` that of the list holds, which is public.
  const assembly = fetched.kind === 'found' ? readAssembly(fetched.value, issue) : undefined;
  if (assembly === undefined) return [{ ...own, read: async () => ({ kind: 'failed' }) }];
  if (isHidden(assembly)) return [{ ...own, hidden: true }];
  const order = (child: { readonly order?: number }): number => child.order ?? Number.MAX_SAFE_INTEGER;
  const sorted = assembly.meetings.toSorted((a, b) => order(a) - order(b));
  const children = [...new Set(sorted.map((child) => child.id))];
  const announced = event.event_type_data.meetings_count ?? 0;
  if (children.length < announced) {
    issue('count-mismatch', `${announced} child meetings announced, ${children.length} shown`);
  }
  return [
    listedEvent(session, event, { assembly, children }),
    // The supplier lists a child by the day of its assembly.
    ...children.map((child) => listedMeeting(session, { id: child, day: own.day, parent: event.id })),
  ];
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
  const detail = isHidden(meeting) ? undefined : await withEntries(session, meeting);
  session.shown.set(id, countMeeting(meeting, detail?.entries));
  if (detail === undefined) return { kind: 'hidden', ...withheldOf(meeting.documents.map(withheld)) };
  return { kind: 'found', value: detail };
}

/** Documents and register items are in the answer of a meeting; those that only the other answer of an assembly shows are added. */
function mergeAssembly(meeting: Meeting, { documents, module_items: items }: Assembly): Meeting {
  const merge = <T extends { readonly id: string }>(own: readonly T[], others: readonly T[] = []): readonly T[] => {
    const known = new Set(own.map(({ id }) => id));
    return [...own, ...others.filter(({ id }) => !known.has(id))];
  };
  return {
    ...meeting,
    documents: merge(meeting.documents, documents),
    module_items: merge(meeting.module_items, items),
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
  return { meeting, entries, isWhole: done.every((one) => one) };
}

function countMeeting(meeting: Meeting, entries: ReadonlyMap<string, RegisterItem> = new Map()): Counts {
  const below = ({ agenda_items }: Pick<AgendaItem, 'agenda_items'>): AgendaItem[] =>
    agenda_items.flatMap((item) => [item, ...below(item)]);
  const items = below(meeting);
  const documents = [meeting, ...items].reduce((sum, holder) => sum + holder.documents.length, 0);
  return { items: items.length, documents: documents + [...entries.values()].flatMap(documentsOfEntry).length };
}

/** @returns how many announced children, items and documents are missing */
function compareCounts({ issues, shown }: Session, { id, counts = {}, children = [] }: Announced): number {
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

/** @param isShown whether an assembly or a child is published too */
function mapWholeMeeting(
  session: Session,
  announced: Announced,
  { meeting, entries, isWhole }: MeetingDetail,
  isShown: (key: string) => boolean,
): MappedItem {
  const { client, issues, request, gremia, labels } = session;
  const { id, gremium, plannings } = meeting;
  const path = meetingPath(id);
  const issue = issues.at(path);
  const unread = compareCounts(session, announced);
  const above = announced.parent ?? meeting.parent?.id;
  const parent = above !== undefined && above !== id && isShown(meetingId(above)) ? meetingId(above) : undefined;
  const children = announced.children?.map(meetingId).filter(isShown);
  const agenda = flattenAgenda(meeting.agenda_items);
  const textOf = (label: string, usualId: string) => labelledText(meeting.attributes, label, usualId, labels, issue);
  const documentsOf = (holder: Attached) => attachedTo(session, holder, entries, issue);
  const found = {
    bronidentificatie: meetingId(id),
    isCancelled: meeting.canceled,
    start: momentOf(plannings[0]?.start_date, 'start_date', issue),
    end: timeOf(plannings[0]?.end_date, 'end_date', issue),
    naam: lineOfHtml(textOf('Titel', '1')),
    members: {
      gewijzigdop: timeOf(meeting.last_modified, 'last_modified', issue),
      webpaginalink: portalPage(request.source, `vergadering/${id}`) ?? addressOf(meeting.url, 'url', issue),
      locatie: lineOfHtml(textOf('Locatie', '50')),
      vergadertoelichting: textOfHtml(textOf('Omschrijving', '3')),
      vergaderingstype: meeting.body,
      hoofdvergadering: parent === undefined ? undefined : { bronidentificatie: parent },
      deelvergaderingen: children && references(children),
    },
    gremium: { id: gremium?.id, naam: gremia.get(gremium?.id ?? '') || undefined },
    documents: documentsOf(meeting),
    items: [
      ...agenda.shown.map(({ item, parent: holder }) => ({
        ...toFoundItem(item, holder, issue),
        documents: documentsOf(item),
      })),
      ...agenda.hidden.map(withheldItem),
    ],
  };
  const isComplete = isWhole && ![path, ...entries.keys()].some((where) => issues.blockedAt(where));
  return {
    ...mapMeeting(found, session, { issue, base: client.base, usualDay: announced.day }),
    unread,
    parent,
    stamp: isComplete ? meeting.last_modified : undefined,
  };
}

function attachedTo(
  session: Session,
  { documents, module_items }: Attached,
  entries: ReadonlyMap<string, RegisterItem>,
  issue: IssueSink,
): readonly FoundDocument[] {
  const referred = module_items.map((reference) => entries.get(pathOf(reference))).filter((item) => item !== undefined);
  return [
    ...documents.map((document) => toFoundDocument(document, undefined, session, issue)),
    ...referred.flatMap((item) => {
      if (isHidden(item)) return withheldDocuments(item);
      const agendapunten = agendaItemsOf(item).map(agendapuntId);
      const registerdag = dayOf(registerDate(item));
      return toFoundDocuments(item, undefined, session, issue).map((one) => ({ ...one, agendapunten, registerdag }));
    }),
  ];
}

/** A known meeting that its list lacks may have been moved to another day. */
export async function findMeeting(session: Session, id: string): Promise<Found<Listed>> {
  const found = await judgeMeeting(session, id, await fetchOne(session, meetingPath(id), 'meeting'));
  return foundAs(found, (detail) => {
    const announced = { id, day: dayOf(detail.meeting.plannings[0]?.start_date) };
    const mapping: Mapping = (isShown) => mapWholeMeeting(session, announced, detail, isShown);
    return { ...listedMeeting(session, announced), read: async () => ({ kind: 'found', value: mapping }) };
  });
}
