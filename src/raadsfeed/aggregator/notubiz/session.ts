/** What the parts of one reading share, and the things that are read by their id: meetings and register items. */
import type { IssueSink } from '../supplier/issue-log.ts';
import { withNested } from '../supplier/mapping.ts';
import type { WindowRequest } from '../supplier/source-adapter.ts';
import { readMoment } from '../supplier/values.ts';
import { type Fetcher, fetchNamed, type OneOutcome } from './api.ts';
import { documentsOf } from './documents.ts';
import { type MappingContext, modulePath } from './map.ts';
import {
  type AgendaItem,
  type Assembly,
  isHidden,
  type Meeting,
  type ModuleReference,
  type RegisterItem,
  readMeeting,
  readRegisterItem,
} from './schema.ts';

export interface ReadingSession extends Fetcher {
  readonly request: WindowRequest;
  readonly context: MappingContext;
  /** Register items that were requested, by path: many agenda items refer to the same one. */
  readonly items: Map<string, Promise<ItemOutcome>>;
  /** Names of the registers, by id, as soon as they are read. */
  readonly registers: Map<string, string>;
}

type ItemOutcome = { readonly kind: 'read'; readonly item: RegisterItem } | { readonly kind: 'refused' | 'failed' };

/**
 * The result of reading a meeting.
 * - `read`: it may be published
 * - `hidden`: the supplier marks it as not public; `meeting` is there when it was shown all the same
 * - `refused`: the supplier does not show it
 * - `missing`: the supplier does not have it (any more)
 * - `failed`: not known
 */
export type MeetingOutcome =
  | {
      readonly kind: 'read';
      readonly meeting: Meeting;
      /** The register items that it and its public agenda items refer to, by path, as far as they were read. */
      readonly items: ReadonlyMap<string, RegisterItem>;
      /** All of those were read. */
      readonly complete: boolean;
    }
  | { readonly kind: 'hidden'; readonly meeting?: Meeting }
  | { readonly kind: 'refused' | 'missing' | 'failed' };

export function meetingPath(id: string): string {
  return `/events/meetings/${id}`;
}

/** The Dutch day of a time of the supplier. */
export function dayOf(value: unknown): string | undefined {
  return readMoment(value).moment?.day;
}

/**
 * Reads a meeting from the response to its path.
 * @param assembly of an assembly: its other answer
 */
export async function judgeMeeting(
  session: ReadingSession,
  id: string,
  outcome: OneOutcome,
  assembly?: Assembly,
): Promise<MeetingOutcome> {
  if (outcome.kind !== 'found') return { kind: outcome.kind };
  const issue = session.issues.at(meetingPath(id));
  // An assembly need not repeat in one response what it says in the other.
  const group = outcome.raw.permission_group ?? assembly?.permission_group;
  const meeting = readMeeting({ ...outcome.raw, permission_group: group }, issue);
  if (meeting === undefined) return { kind: 'failed' };
  if (meeting.id !== id) {
    issue('unexpected-answer', `is meeting ${meeting.id}`);
    return { kind: 'failed' };
  }
  const organisation = meeting.organisation?.id;
  if (organisation === undefined) issue('unexpected-answer', 'does not name its organisation');
  else if (organisation !== session.request.source.organisationId) {
    issue('other-organisation', `is of organisation ${organisation}`);
    return { kind: 'failed' };
  }
  const whole = assembly === undefined ? meeting : mergeAssembly(meeting, assembly);
  return isHidden(whole) ? { kind: 'hidden', meeting: whole } : await withItems(session, whole);
}

/** Reads a meeting that the supplier itself named. */
export async function readNamedMeeting(
  session: ReadingSession,
  id: string,
  assembly?: Assembly,
): Promise<MeetingOutcome> {
  return await judgeMeeting(session, id, await fetchNamed(session, meetingPath(id), 'meeting'), assembly);
}

/**
 * An assembly has two responses. Its documents and register items are in the one of a meeting; those that only the other one shows are
 * added.
 */
function mergeAssembly(meeting: Meeting, { documents = [], module_items: items = [] }: Assembly): Meeting {
  const known = new Set(meeting.documents.map(({ id }) => id));
  const referred = new Set(meeting.module_items.map(({ id }) => id));
  return {
    ...meeting,
    documents: [...meeting.documents, ...documents.filter(({ id }) => !known.has(id))],
    module_items: [...meeting.module_items, ...items.filter(({ id }) => !referred.has(id))],
  };
}

async function withItems(session: ReadingSession, meeting: Meeting): Promise<MeetingOutcome> {
  const { shown } = flattenAgenda(meeting.agenda_items);
  const references = [...meeting.module_items, ...shown.flatMap(({ item }) => item.module_items)];
  const issue = session.issues.at(meetingPath(meeting.id));
  const items = new Map<string, RegisterItem>();
  const done = await Promise.all(
    references.map(async (reference) => {
      const outcome = await readReferred(session, reference, issue);
      if (outcome.kind === 'read') items.set(pathOf(reference), outcome.item);
      return outcome.kind !== 'failed';
    }),
  );
  return { kind: 'read', meeting, items, complete: done.every((one) => one) };
}

const ITEM_ADDRESS = /^(?:https?:\/\/)?[^/\s]*(\/modules\/\d{1,9}\/items\/[1-9]\d{0,17})\/?$/;

/** Only the path of an address counts, and only in the known form: the call goes to the configured base. */
export function pathOf({ id, self = '' }: ModuleReference): string {
  return ITEM_ADDRESS.exec(self)?.[1] ?? modulePath('0', id);
}

/** Reads a register item that something refers to; once per reading. */
export function readReferred(
  session: ReadingSession,
  reference: ModuleReference,
  issue: IssueSink,
): Promise<ItemOutcome> {
  const { id, self = '' } = reference;
  if (!ITEM_ADDRESS.test(self)) issue('unusable-value', `register item ${id} has no address of the known form`);
  const path = pathOf(reference);
  const known = session.items.get(path);
  if (known !== undefined) return known;
  const outcome = fetchRegisterItem(session, id, path);
  session.items.set(path, outcome);
  return outcome;
}

async function fetchRegisterItem(session: ReadingSession, id: string, path: string): Promise<ItemOutcome> {
  const outcome = await fetchNamed(session, path, 'item');
  if (outcome.kind !== 'found') return { kind: outcome.kind === 'refused' ? 'refused' : 'failed' };
  const issue = session.issues.at(path);
  const item = readRegisterItem(outcome.raw, issue);
  if (item?.id === id) return { kind: 'read', item };
  if (item !== undefined) issue('unexpected-answer', `is register item ${item.id}`);
  return { kind: 'failed' };
}

/** How many items and documents a response has, hidden ones too: to be compared with what the supplier announced. */
export function countMeeting(outcome: { readonly kind: string } | MeetingOutcome): {
  items: number;
  documents: number;
} {
  if (!('meeting' in outcome) || outcome.meeting === undefined) return { items: 0, documents: 0 };
  const below = ({ agenda_items }: Pick<AgendaItem, 'agenda_items'>): AgendaItem[] =>
    agenda_items.flatMap((item) => [item, ...below(item)]);
  const items = below(outcome.meeting);
  const registered = outcome.kind === 'read' ? [...outcome.items.values()].flatMap(documentsOf) : [];
  const documents = [outcome.meeting, ...items].reduce((sum, holder) => sum + holder.documents.length, 0);
  return { items: items.length, documents: documents + registered.length };
}

interface AgendaEntry {
  readonly item: AgendaItem;
  readonly hidden: boolean;
  readonly parent: string | undefined;
}

interface FlatAgenda {
  /** Items that may be published, each once, in the order of the agenda: an item before what is nested in it. */
  readonly shown: readonly AgendaEntry[];
  /** Items that may not, and those nested in such items only. */
  readonly hidden: readonly AgendaItem[];
}

/** Makes one list of a nested agenda. An item that comes twice counts once, with the parent that either occurrence gives. */
export function flattenAgenda(items: readonly AgendaItem[]): FlatAgenda {
  const entries = new Map<string, AgendaEntry>();
  const walk = (level: readonly AgendaItem[], nestedIn: string | undefined): void => {
    for (const item of level) {
      const known = entries.get(item.id);
      const parent = nestedIn ?? known?.parent ?? (item.parent?.id === item.id ? undefined : item.parent?.id);
      entries.set(item.id, { item: known?.item ?? item, hidden: isHidden(item) || known?.hidden === true, parent });
      walk(item.agenda_items, item.id);
    }
  };
  walk(items, undefined);
  const hidden = withNested(
    [...entries].filter(([, entry]) => entry.hidden).map(([id]) => id),
    [...entries].map(([id, { parent }]) => [id, parent]),
  );
  const all = [...entries.values()];
  return {
    shown: all
      .filter(({ item }) => !hidden.has(item.id))
      .map((entry) => ({ ...entry, parent: entries.has(entry.parent ?? '') ? entry.parent : undefined })),
    hidden: all.filter(({ item }) => hidden.has(item.id)).map(({ item }) => item),
  };
}
