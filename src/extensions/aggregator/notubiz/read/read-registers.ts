import type { ReadItem } from '../../supplier/source-adapter.ts';
import { inWindow } from '../../supplier/windows.ts';
import { agendapuntId, categoryOfRegister } from '../map/context.ts';
import { NotubizError } from '../notubiz-error.ts';
import { modulePath, type RegisterItem, readModuleItemReference, readRegisterItem } from '../parse/document.ts';
import { readMoment } from '../parse/moment.ts';
import type { JsonObject } from '../parse/values.ts';
import type { DocumentCollector } from './document-collector.ts';
import { listWindow } from './list-window.ts';
import { readModules } from './organisation.ts';
import { type ReadingSession, readRegisterEntry } from './session.ts';

export interface RegisterEntry {
  readonly register: string;
  readonly id: string;
  /** `undefined` when it could not be read. */
  readonly item: RegisterItem | undefined;
}

/** Reads what every register of the organisation has in the window. */
export async function readRegisters(session: ReadingSession): Promise<readonly RegisterEntry[]> {
  const { client, issues, request } = session;
  const path = `/organisations/${request.source.organisationId}/modules`;
  try {
    const registers = readModules(await client.get(path, {}, request.signal), issues.at(path));
    for (const [id, name] of registers) session.registers.set(id, name);
    const entries = await Promise.all(
      [...registers.keys()].map((id) => readRegister(session, `${path}/${id}/items`, id)),
    );
    return entries.flat();
  } catch (error) {
    if (!(error instanceof NotubizError)) throw error;
    issues.add('call-failed', path, error.message);
    return [];
  }
}

async function readRegister(
  session: ReadingSession,
  path: string,
  register: string,
): Promise<readonly RegisterEntry[]> {
  const raws = await listWindow(session, { path, query: {}, member: 'items', mayBeRefused: true, mayBeWhole: true });
  return await Promise.all(
    raws.map(async (raw) => ({
      register,
      id: String(raw.id),
      item: await readEntry(session, register, raw, path),
    })),
  );
}

/** The list shows entries whole; one with only its address is fetched. */
async function readEntry(
  session: ReadingSession,
  register: string,
  raw: JsonObject,
  path: string,
): Promise<RegisterItem | undefined> {
  const issue = session.issues.at(path);
  if (raw.attributes !== undefined || raw.attachments !== undefined) return readRegisterItem(raw, issue);
  const named = { ...raw, self: raw.self ?? modulePath(register, String(raw.id)) };
  const reference = readModuleItemReference(named, issue);
  const outcome = reference === undefined ? undefined : await readRegisterEntry(session, reference);
  return outcome?.kind === 'read' ? outcome.item : undefined;
}

export function registerKey(register: string, id: string): string {
  return `register-${register}-${id}`;
}

/** The item of a register entry that may be published. */
export function registerItem(
  { register, id }: RegisterEntry,
  item: RegisterItem,
  session: ReadingSession,
  collector: DocumentCollector,
): ReadItem {
  const { context, issues, registers, request } = session;
  const day = ownDay(item, session) ?? request.window.from;
  const attachment = {
    vergaderingen: [],
    agendapunten: item.agendaItems.map(agendapuntId),
    registerdag: readMoment(item.date).moment?.day,
    wooinformatiecategorie: categoryOfRegister(context.categories, register, registers.get(register) ?? ''),
  };
  return {
    key: registerKey(register, id),
    day,
    parent: null,
    lastModified: item.lastModified ?? null,
    readAgainAfter: null,
    parts: collector.add(
      [{ documents: item.documents, item, register: registers.get(register), attachment }],
      issues.at(`/modules/${register}/items/${id}`),
    ),
    complete: true,
    records: [],
  };
}

/** The day that an entry gives itself, when that is why it is in the window. */
function ownDay(item: RegisterItem, { request }: ReadingSession): string | undefined {
  const day = readMoment(item.date).moment?.day;
  return day !== undefined && inWindow(day, request.window) ? day : undefined;
}
