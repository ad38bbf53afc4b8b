import type {
  KnownItem,
  ReadItem,
  RemovedItem,
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
import { meetingItems } from './meeting-items.ts';
import type { ReferenceData } from './organisation.ts';
import { readEvents, type WindowMeeting } from './read-events.ts';
import { readMissingMeeting } from './read-meeting.ts';
import { type RegisterEntry, readRegisters, registerItem, registerKey } from './read-registers.ts';
import { fetchOne, type ReadingSession } from './session.ts';

interface WindowDependencies {
  readonly client: NotubizClient;
  readonly categories: WooCategories;
  readonly now: Date;
  /** Names of the organisation; `undefined` when they could not be read, and the issues say so. */
  readonly reference: (issues: IssueLog) => Promise<ReferenceData | undefined>;
}

/** Reads one window: every meeting, child, agenda item, register and document in it. */
export async function readWindow(request: WindowRequest, deps: WindowDependencies): Promise<WindowReading> {
  const issues = new IssueLog();
  const reference = await deps.reference(issues);
  if (reference === undefined) return emptyReading(request, issues);
  const session: ReadingSession = {
    client: deps.client,
    request,
    issues,
    context: {
      ...reference,
      source: request.source,
      base: deps.client.base,
      now: deps.now,
      categories: deps.categories,
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
  const found = meetingItems(session, meetings, collector);
  const items = [...found.items];
  const removed = [...found.removed];
  const seen = new Set(found.seen);
  for (const entry of entries) {
    const key = registerKey(entry.register, entry.id);
    seen.add(key);
    if (entry.item?.hidden === false) items.push(registerItem(entry, entry.item, session, collector));
    else if (entry.item !== undefined) {
      collector.addHiddenRegisterItem(entry.item);
      removed.push({ key, verwijderreden: 'niet_langer_openbaar' });
    }
  }
  // What failed may still exist: missing items are only fetched when everything else was read.
  const former = issues.blocked ? [] : request.known.filter(({ key }) => !seen.has(key));
  await addMissing(session, former, { items, removed, collector });
  return {
    window: request.window,
    depth: request.depth,
    complete: !issues.blocked,
    items: items.map((item) => withoutHidden(item, collector)),
    unchanged: found.unchanged,
    removed: knownOnly(removed, request.known),
    documents: collector.documents(),
    hidden: [...found.hidden, ...collector.hiddenKeys()],
    underHidden: collector.underHiddenKeys(),
    unread: [...unread, ...unreadEntries(entries, request)],
    issues: issues.all(),
  };
}

interface FoundItems {
  readonly items: ReadItem[];
  readonly removed: RemovedItem[];
  readonly collector: DocumentCollector;
}

async function addMissing(session: ReadingSession, former: readonly KnownItem[], found: FoundItems): Promise<void> {
  const { items, removed, collector } = found;
  const hiddenParents = new Set(removed.map(({ key }) => key));
  const outcomes = await Promise.all(
    former.map(async (known) => {
      // A part of something that is not public any more is not public either, whatever its own response says.
      if (known.parent !== null && hiddenParents.has(known.parent)) {
        removed.push({ key: known.key, verwijderreden: 'niet_langer_openbaar' });
        return undefined;
      }
      return await findRemoved(session, known);
    }),
  );
  for (const outcome of outcomes) {
    if (outcome?.kind === 'removed') removed.push(outcome.item);
    else if (outcome?.kind === 'entry' && outcome.entry.item !== undefined) {
      items.push(registerItem(outcome.entry, outcome.entry.item, session, collector));
    } else if (outcome?.kind === 'meeting') {
      items.push(...meetingItems(session, new Map([[outcome.id, outcome.meeting]]), collector).items);
    }
  }
}

function withoutHidden(item: ReadItem, collector: DocumentCollector): ReadItem {
  return { ...item, parts: item.parts.filter(({ bronidentificatie }) => !collector.isHidden(bronidentificatie)) };
}

function knownOnly(removed: readonly RemovedItem[], known: readonly KnownItem[]): readonly RemovedItem[] {
  const keys = new Set(known.map(({ key }) => key));
  return removed.filter(({ key }) => keys.has(key));
}

function unreadEntries(entries: Awaited<ReturnType<typeof readRegisters>>, { window }: WindowRequest): UnreadCount[] {
  return entries
    .filter(({ item }) => item === undefined)
    .map(({ register, id }) => ({
      month: window.from.slice(0, 7),
      where: registerKey(register, id),
      resourceType: 'Informatieobject',
      count: 1,
    }));
}

function emptyReading({ window, depth }: WindowRequest, issues: IssueLog): WindowReading {
  const empty = { items: [], unchanged: [], removed: [], documents: [], hidden: [], underHidden: [], unread: [] };
  return { window, depth, complete: false, ...empty, issues: issues.all() };
}

/** What became of a known item that its list does not show. */
type MissingItem =
  | { readonly kind: 'removed'; readonly item: RemovedItem }
  /** It still exists, on another day or on no day at all. */
  | { readonly kind: 'meeting'; readonly id: string; readonly meeting: WindowMeeting }
  | { readonly kind: 'entry'; readonly entry: RegisterEntry }
  /** Not known; an issue says why. */
  | { readonly kind: 'failed' };

/**
 * Fetches a known item that is in no list of its window any more. A list leaves out what was moved to another day, and only the item's
 * own response says whether it was removed or is not public any more.
 */
async function findRemoved(session: ReadingSession, known: KnownItem): Promise<MissingItem> {
  const meeting = /^meeting-(\d+)$/.exec(known.key)?.[1];
  if (meeting !== undefined) return await findRemovedMeeting(session, known, meeting);
  const [, register, entry] = /^register-(\d+)-(\d+)$/.exec(known.key) ?? [];
  if (register === undefined || entry === undefined) throw new TypeError(`${known.key} is not the key of an item`);
  return await findRemovedEntry(session, known, register, entry);
}

const NO_COUNTS = { agendaItemCount: undefined, documentCount: undefined, meetingsCount: undefined };

async function findRemovedMeeting(session: ReadingSession, known: KnownItem, id: string): Promise<MissingItem> {
  const outcome = await readMissingMeeting(session, id);
  if (outcome.kind === 'failed') return { kind: 'failed' };
  if (outcome.kind === 'missing') return removed(known, 'ingetrokken');
  if (outcome.kind !== 'read') return removed(known, 'niet_langer_openbaar');
  const day = readMoment(outcome.meeting.plannings[0]?.start).moment?.day;
  if (isExpected(session, day)) return removed(known, 'ingetrokken');
  const { plannings, lastModified } = outcome.meeting;
  const event = { id, type: 'meeting', hidden: false, lastModified, plannings, ...NO_COUNTS };
  return { kind: 'meeting', id, meeting: { id, event, outcome, children: undefined, parent: undefined } };
}

async function findRemovedEntry(
  session: ReadingSession,
  known: KnownItem,
  register: string,
  id: string,
): Promise<MissingItem> {
  const path = modulePath(register, id);
  const outcome = await fetchOne(session, path, 'item');
  if (outcome.kind === 'missing') return removed(known, 'ingetrokken');
  if (outcome.kind === 'refused') return removed(known, 'niet_langer_openbaar');
  if (outcome.kind !== 'found') return { kind: 'failed' };
  const item = readRegisterItem(outcome.raw, session.issues.at(path));
  if (item === undefined) return { kind: 'failed' };
  if (item.hidden) return removed(known, 'niet_langer_openbaar');
  const day = readMoment(item.date).moment?.day;
  if (isExpected(session, day)) return removed(known, 'ingetrokken');
  return { kind: 'entry', entry: { register, id, item } };
}

/** Whether the list of this window should have shown it: then its absence means that it was removed. */
function isExpected({ request }: ReadingSession, day: string | undefined): boolean {
  return day !== undefined && inWindow(day, request.window);
}

function removed({ key }: KnownItem, verwijderreden: RemovedItem['verwijderreden']): MissingItem {
  return { kind: 'removed', item: { key, verwijderreden } };
}
