import type {
  GonePlace,
  KnownPlace,
  ReadPlace,
  UnreadCount,
  WindowReading,
  WindowRequest,
} from '../../aggregator/source-adapter.ts';
import type { NotubizClient } from '../client/notubiz-client.ts';
import { IssueLog } from '../issue-log.ts';
import type { WooCategories } from '../map/woo-categories.ts';
import { DocumentCollector } from './document-collector.ts';
import { findFormer } from './find-gone.ts';
import { placeMeetings } from './place-meetings.ts';
import { readEvents } from './read-events.ts';
import type { ReferenceData } from './read-reference.ts';
import { placeEntry, readRegisters, registerPlace } from './read-registers.ts';
import type { ReadingSession } from './session.ts';

export interface WindowDependencies {
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
