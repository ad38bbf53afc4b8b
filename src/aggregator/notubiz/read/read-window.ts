import type {
  GonePlace,
  KnownPlace,
  ReadPlace,
  UnreadCount,
  WindowReading,
  WindowRequest,
} from '../../supplier/source-adapter.ts';
import { inWindow } from '../../supplier/windows.ts';
import type { NotubizClient } from '../client.ts';
import { IssueLog } from '../issue-log.ts';
import type { WooCategories } from '../map/context.ts';
import { modulePath, readRegisterItem } from '../parse/document.ts';
import { readMoment } from '../parse/moment.ts';
import { DocumentCollector } from './document-collector.ts';
import { placeMeetings } from './meeting-items.ts';
import type { ReferenceData } from './organisation.ts';
import { readEvents, type WindowMeeting } from './read-events.ts';
import { readFormerMeeting } from './read-meeting.ts';
import { placeEntry, type RegisterEntry, readRegisters, registerPlace } from './read-registers.ts';
import { askOne, type ReadingSession } from './session.ts';

interface WindowDependencies {
  readonly client: NotubizClient;
  readonly categories: WooCategories;
  readonly now: Date;
  /** Names of the organisation; `undefined` when they could not be read, and the issues say so. */
  readonly reference: (issues: IssueLog) => Promise<ReferenceData | undefined>;
}

/** Reads one window: every meeting, child, agenda item, register and document in it. */
export async function readWindow(request: WindowRequest, needs: WindowDependencies): Promise<WindowReading> {
  const issues = new IssueLog();
  const reference = await needs.reference(issues);
  if (reference === undefined) return nothing(request, issues);
  const session: ReadingSession = {
    client: needs.client,
    request,
    issues,
    context: {
      ...reference,
      source: request.source,
      base: needs.client.base,
      now: needs.now,
      categories: needs.categories,
    },
    items: new Map(),
    registers: new Map(),
  };
  return await readWith(session);
}

async function readWith(session: ReadingSession): Promise<WindowReading> {
  const { issues, request } = session;
  const [{ meetings, unread }, entries] = await Promise.all([readEvents(session), readRegisters(session)]);
  const collector = new DocumentCollector(session.context);
  const placed = placeMeetings(session, meetings, collector);
  const places = [...placed.places];
  const gone = [...placed.gone];
  const seen = new Set(placed.seen);
  for (const entry of entries) {
    const place = registerPlace(entry.register, entry.id);
    seen.add(place);
    if (entry.item?.hidden === false) places.push(placeEntry(entry, entry.item, session, collector));
    else if (entry.item !== undefined) {
      collector.shieldItem(entry.item);
      gone.push({ place, verwijderreden: 'niet_langer_openbaar' });
    }
  }
  // What failed may still be there: only when everything was read does it make sense to ask for what was not shown.
  const former = issues.blocked ? [] : request.known.filter(({ place }) => !seen.has(place));
  await placeFormer(session, former, { places, gone, collector });
  return {
    window: request.window,
    depth: request.depth,
    complete: !issues.blocked,
    places: places.map((place) => withoutHidden(place, collector)),
    unchanged: placed.unchanged,
    gone: knownOnly(gone, request.known),
    documents: collector.documents(),
    hidden: [...placed.hidden, ...collector.hiddenKeys()],
    shielded: collector.shieldedKeys(),
    unread: [...unread, ...unreadEntries(entries, request)],
    issues: issues.all(),
  };
}

interface Found {
  readonly places: ReadPlace[];
  readonly gone: GonePlace[];
  readonly collector: DocumentCollector;
}

async function placeFormer(session: ReadingSession, former: readonly KnownPlace[], found: Found): Promise<void> {
  const { places, gone, collector } = found;
  const hiddenParents = new Set(gone.map(({ place }) => place));
  const outcomes = await Promise.all(
    former.map(async (known) => {
      // What hung on something that is not public any more is not either, whatever it says of itself.
      if (known.parent !== null && hiddenParents.has(known.parent)) {
        gone.push({ place: known.place, verwijderreden: 'niet_langer_openbaar' });
        return undefined;
      }
      return await findFormer(session, known);
    }),
  );
  for (const outcome of outcomes) {
    if (outcome?.kind === 'gone') gone.push(outcome.gone);
    else if (outcome?.kind === 'entry' && outcome.entry.item !== undefined) {
      places.push(placeEntry(outcome.entry, outcome.entry.item, session, collector));
    } else if (outcome?.kind === 'meeting') {
      places.push(...placeMeetings(session, new Map([[outcome.id, outcome.meeting]]), collector).places);
    }
  }
}

function withoutHidden(place: ReadPlace, collector: DocumentCollector): ReadPlace {
  return { ...place, parts: place.parts.filter(({ bronidentificatie }) => !collector.isHidden(bronidentificatie)) };
}

function knownOnly(gone: readonly GonePlace[], known: readonly KnownPlace[]): readonly GonePlace[] {
  const places = new Set(known.map(({ place }) => place));
  return gone.filter(({ place }) => places.has(place));
}

function unreadEntries(entries: Awaited<ReturnType<typeof readRegisters>>, { window }: WindowRequest): UnreadCount[] {
  return entries
    .filter(({ item }) => item === undefined)
    .map(({ register, id }) => ({
      month: window.from.slice(0, 7),
      where: registerPlace(register, id),
      resourceType: 'Informatieobject',
      count: 1,
    }));
}

function nothing({ window, depth }: WindowRequest, issues: IssueLog): WindowReading {
  const empty = { places: [], unchanged: [], gone: [], documents: [], hidden: [], shielded: [], unread: [] };
  return { window, depth, complete: false, ...empty, issues: issues.all() };
}

/** What became of a known place that its list does not show. */
type FormerPlace =
  | { readonly kind: 'gone'; readonly gone: GonePlace }
  /** It is still there, on another day or on no day at all. */
  | { readonly kind: 'meeting'; readonly id: string; readonly meeting: WindowMeeting }
  | { readonly kind: 'entry'; readonly entry: RegisterEntry }
  /** Not known; an issue says why. */
  | { readonly kind: 'failed' };

/**
 * Asks for a known place that is in no list of its window any more. A list may leave out what was moved to another day; and only
 * the thing itself says whether it is gone, or not public any more.
 */
async function findFormer(session: ReadingSession, known: KnownPlace): Promise<FormerPlace> {
  const meeting = /^meeting-(\d+)$/.exec(known.place)?.[1];
  if (meeting !== undefined) return await findFormerMeeting(session, known, meeting);
  const [, register, entry] = /^register-(\d+)-(\d+)$/.exec(known.place) ?? [];
  if (register === undefined || entry === undefined) throw new TypeError(`${known.place} is not a place`);
  return await findFormerEntry(session, known, register, entry);
}

const NO_COUNTS = { agendaItemCount: undefined, documentCount: undefined, meetingsCount: undefined };

async function findFormerMeeting(session: ReadingSession, known: KnownPlace, id: string): Promise<FormerPlace> {
  const outcome = await readFormerMeeting(session, id);
  if (outcome.kind === 'failed') return { kind: 'failed' };
  if (outcome.kind === 'missing') return gone(known, 'ingetrokken');
  if (outcome.kind !== 'read') return gone(known, 'niet_langer_openbaar');
  const day = readMoment(outcome.meeting.plannings[0]?.start).moment?.day;
  if (isExpected(session, day)) return gone(known, 'ingetrokken');
  const { plannings, lastModified } = outcome.meeting;
  const event = { id, type: 'meeting', hidden: false, lastModified, plannings, ...NO_COUNTS };
  return { kind: 'meeting', id, meeting: { id, event, outcome, children: undefined, parent: undefined } };
}

async function findFormerEntry(
  session: ReadingSession,
  known: KnownPlace,
  register: string,
  id: string,
): Promise<FormerPlace> {
  const path = modulePath(register, id);
  const outcome = await askOne(session, path, 'item');
  if (outcome.kind === 'missing') return gone(known, 'ingetrokken');
  if (outcome.kind === 'refused') return gone(known, 'niet_langer_openbaar');
  if (outcome.kind !== 'found') return { kind: 'failed' };
  const item = readRegisterItem(outcome.raw, session.issues.at(path));
  if (item === undefined) return { kind: 'failed' };
  if (item.hidden) return gone(known, 'niet_langer_openbaar');
  const day = readMoment(item.date).moment?.day;
  if (isExpected(session, day)) return gone(known, 'ingetrokken');
  return { kind: 'entry', entry: { register, id, item } };
}

/** Whether the list of this window should have shown it: then that it did not means that it was taken out. */
function isExpected({ request }: ReadingSession, day: string | undefined): boolean {
  return day !== undefined && inWindow(day, request.window);
}

function gone({ place }: KnownPlace, verwijderreden: GonePlace['verwijderreden']): FormerPlace {
  return { kind: 'gone', gone: { place, verwijderreden } };
}
