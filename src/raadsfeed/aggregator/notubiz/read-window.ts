/** Reads one window: every meeting, child, agenda item, register and document in it. */
import { IssueLog } from '../supplier/issue-log.ts';
import { stampOf } from '../supplier/mapping.ts';
import type { KnownItem, ReadItem, RemovedItem, WindowReading, WindowRequest } from '../supplier/source-adapter.ts';
import { SupplierError } from '../supplier/supplier-client.ts';
import { inWindow } from '../supplier/windows.ts';
import { fetchOne, listWindow, type NotubizClient } from './api.ts';
import { documentsOf, NotubizDocuments } from './documents.ts';
import { agendapuntId, describeItem, type MappingContext, meetingId, modulePath } from './map.ts';
import { type ReferenceData, readNames } from './names.ts';
import { isWithheld, meetingItems, readMeetings, type WindowMeeting } from './read-meetings.ts';
import { agendaItemsOf, isHidden, type RegisterItem, readReference, readRegisterItem, registerDate } from './schema.ts';
import { dayOf, judgeMeeting, meetingPath, type ReadingSession, readReferred } from './session.ts';

/** @param readNames reads the names of the organisation; `undefined` when they could not be read, and the issues say so */
export async function readWindow(
  request: WindowRequest,
  { client, categories, now }: Pick<MappingContext, 'categories' | 'now'> & { readonly client: NotubizClient },
  readNames: (issues: IssueLog) => Promise<ReferenceData | undefined>,
): Promise<WindowReading> {
  const { window, depth, source } = request;
  const issues = new IssueLog();
  const reference = await readNames(issues);
  if (reference === undefined) {
    const empty = { items: [], unchanged: [], removed: [], documents: [], hidden: [], underHidden: [], unread: [] };
    return { window, depth, complete: false, ...empty, issues: issues.all() };
  }
  const context = { ...reference, source, base: client.base, now, categories };
  return await readWith({ client, request, issues, context, items: new Map(), registers: new Map() });
}

async function readWith(session: ReadingSession): Promise<WindowReading> {
  const { issues, request } = session;
  const [{ meetings, unread }, entries] = await Promise.all([readMeetings(session), readRegisters(session)]);
  const all = [...meetings.values()];
  const collector = new NotubizDocuments(session.context);
  const found = meetingItems(session, meetings, collector);
  const items = [...found.items];
  const removed: RemovedItem[] = all.filter(isWithheld).map(({ id }) => notPublic(meetingId(id)));
  for (const entry of entries) {
    if (entry.item === undefined) continue;
    if (isHidden(entry.item)) {
      collector.addHiddenRegisterItem(entry.item);
      removed.push(notPublic(registerKey(entry)));
    } else items.push(registerItem(entry, entry.item, session, collector));
  }
  const unreadEntries = entries.filter(({ item }) => item === undefined).length;
  const seen = new Set([...all.map(({ id }) => meetingId(id)), ...entries.map(registerKey)]);
  // A failed item may still exist: missing items are only fetched when everything else was read.
  const former = issues.blocked ? [] : request.known.filter(({ key }) => !seen.has(key));
  await addMissing(session, former, { items, removed, collector });
  const known = new Set(request.known.map(({ key }) => key));
  const documents = collector.documents();
  const hidden = [...found.hidden, ...collector.hidden()];
  const underHidden = collector.underHidden();
  const isShown = new Set(documents.map(({ bronidentificatie }) => bronidentificatie));
  const onlyHidden = underHidden.filter(({ bronidentificatie }) => !isShown.has(bronidentificatie));
  return {
    window: request.window,
    depth: request.depth,
    complete: !issues.blocked,
    items: items.map((item) => ({
      ...item,
      parts: item.parts.filter(({ bronidentificatie }) => !collector.isHidden(bronidentificatie)),
    })),
    unchanged: all.filter(({ outcome }) => outcome.kind === 'unchanged').map(({ id }) => meetingId(id)),
    removed: removed.filter(({ key }) => known.has(key)),
    documents,
    hidden,
    underHidden,
    unread:
      unreadEntries === 0 ? unread : [...unread, { month: request.window.from.slice(0, 7), count: unreadEntries }],
    leftOut: { confidential: hidden.length + onlyHidden.length, bodies: 0, period: 0 },
    issues: issues.all(),
  };
}

function notPublic(key: string): RemovedItem {
  return { key, verwijderreden: 'niet_langer_openbaar' };
}

interface RegisterEntry {
  readonly register: string;
  readonly id: string;
  /** `undefined` when it could not be read. */
  readonly item: RegisterItem | undefined;
}

function registerKey({ register, id }: RegisterEntry): string {
  return `register-${register}-${id}`;
}

/** Reads what every register of the organisation has in the window. */
async function readRegisters(session: ReadingSession): Promise<readonly RegisterEntry[]> {
  const { client, issues, request } = session;
  const path = `/organisations/${request.source.organisationId}/modules`;
  try {
    const registers = readNames(await client.get(path, {}, request.signal), 'modules', issues.at(path));
    for (const [id, name] of registers) session.registers.set(id, name);
    const entries = [...registers.keys()].map((id) => readRegister(session, `${path}/${id}/items`, id));
    return (await Promise.all(entries)).flat();
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    issues.failed(path, error);
    return [];
  }
}

/** The list shows entries whole; one with only its address is fetched. */
async function readRegister(session: ReadingSession, path: string, register: string): Promise<RegisterEntry[]> {
  const listed = await listWindow(session, { path, query: {}, member: 'items', isRegister: true });
  const issue = session.issues.at(path);
  const read = async (id: string, raw: Readonly<Record<string, unknown>>): Promise<RegisterItem | undefined> => {
    if (raw.attributes !== undefined || raw.attachments !== undefined) return readRegisterItem(raw, issue);
    const reference = readReference({ ...raw, self: raw.self ?? modulePath(register, id) }, issue);
    const outcome = reference && (await readReferred(session, reference, issue));
    return outcome?.kind === 'read' ? outcome.item : undefined;
  };
  return await Promise.all([...listed].map(async ([id, raw]) => ({ register, id, item: await read(id, raw) })));
}

/** The item of a register entry that may be published. */
function registerItem(
  entry: RegisterEntry,
  item: RegisterItem,
  { context, issues, registers, request }: ReadingSession,
  collector: NotubizDocuments,
): ReadItem {
  const { register, id } = entry;
  const day = dayOf(registerDate(item));
  const name = registers.get(register);
  const attachment = {
    vergaderingen: [],
    agendapunten: agendaItemsOf(item).map(agendapuntId),
    registerdag: day,
    omschrijving: describeItem(item, name),
    wooinformatiecategorie:
      context.categories.get(`register:${name?.toLowerCase()}`) ?? context.categories.get(`register:${register}`),
  };
  const attached = { documents: documentsOf(item), item, register: name, attachment };
  return {
    key: registerKey(entry),
    day: day !== undefined && inWindow(day, request.window) ? day : request.window.from,
    parent: null,
    lastModified: stampOf(item.last_modified),
    readAgainAfter: null,
    parts: collector.addAll([attached], issues.at(modulePath(register, id))),
    records: [],
  };
}

interface FoundItems {
  readonly items: ReadItem[];
  readonly removed: RemovedItem[];
  readonly collector: NotubizDocuments;
}

/**
 * Fetches known items that are in no list of their window any more. A list leaves out what was moved to another day, and only the item's
 * own response says whether it was removed or is not public any more.
 */
async function addMissing(session: ReadingSession, former: readonly KnownItem[], found: FoundItems): Promise<void> {
  const { items, removed, collector } = found;
  const hiddenParents = new Set(removed.map(({ key }) => key));
  const outcomes = await Promise.all(former.map((item) => findMissing(session, item, hiddenParents)));
  for (const [i, { key }] of former.entries()) {
    const outcome = outcomes[i];
    if (outcome === undefined) continue;
    if (typeof outcome === 'string') removed.push({ key, verwijderreden: outcome });
    else if ('item' in outcome) items.push(registerItem(outcome, outcome.item, session, collector));
    else items.push(...meetingItems(session, new Map([[outcome.id, outcome]]), collector).items);
  }
}

/**
 * What became of a known item that its list does not show: why it was removed, or what it is now, on another day or on no day at all;
 * `undefined` where that is not known, and an issue says why.
 */
type MissingItem =
  | RemovedItem['verwijderreden']
  | WindowMeeting
  | (RegisterEntry & { readonly item: RegisterItem })
  | undefined;

async function findMissing(
  session: ReadingSession,
  { key, parent }: KnownItem,
  hiddenParents: ReadonlySet<string>,
): Promise<MissingItem> {
  // A part of something that is not public any more is not public either, whatever its own response says.
  if (parent !== null && hiddenParents.has(parent)) return 'niet_langer_openbaar';
  const meeting = /^meeting-(\d+)$/.exec(key)?.[1];
  if (meeting !== undefined) return await findMeeting(session, meeting);
  const [, register, entry] = /^register-(\d+)-(\d+)$/.exec(key) ?? [];
  if (register === undefined || entry === undefined) throw new TypeError(`${key} is not the key of an item`);
  return await findEntry(session, register, entry);
}

async function findMeeting(session: ReadingSession, id: string): Promise<MissingItem> {
  const outcome = await judgeMeeting(session, id, await fetchOne(session, meetingPath(id), 'meeting'));
  if (outcome.kind === 'failed') return undefined;
  if (outcome.kind === 'missing') return 'ingetrokken';
  if (outcome.kind !== 'read') return 'niet_langer_openbaar';
  const day = dayOf(outcome.meeting.plannings[0]?.start_date);
  return isExpected(session, day) ? 'ingetrokken' : { id, day, outcome };
}

async function findEntry(session: ReadingSession, register: string, id: string): Promise<MissingItem> {
  const path = modulePath(register, id);
  const outcome = await fetchOne(session, path, 'item');
  if (outcome.kind === 'missing') return 'ingetrokken';
  if (outcome.kind === 'refused') return 'niet_langer_openbaar';
  const item = outcome.kind === 'found' ? readRegisterItem(outcome.raw, session.issues.at(path)) : undefined;
  if (item === undefined) return undefined;
  if (isHidden(item)) return 'niet_langer_openbaar';
  return isExpected(session, dayOf(registerDate(item))) ? 'ingetrokken' : { register, id, item };
}

/** Whether the list of this window should have shown it: then its absence means that it was removed. */
function isExpected({ request }: ReadingSession, day: string | undefined): boolean {
  return day !== undefined && inWindow(day, request.window);
}
