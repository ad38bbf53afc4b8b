/** Register entries of NotuBiz, as their lists show them and as meetings refer to them. */
import type { JsonObject } from '../../../lib/json/json-value.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { mapEntry, withheldOf } from '../supplier/meeting.ts';
import { type Found, foundAs, type Listed, type MappedItem } from '../supplier/supplier.ts';
import { SupplierError } from '../supplier/supplier-client.ts';
import { readMoment } from '../supplier/values.ts';
import { inWindow } from '../supplier/windows.ts';
import { fetchNamed, fetchOne, listWindow, readNames, type Session } from './api.ts';
import { agendapuntId, describeItem, modulePath, toFoundDocuments, withheldDocuments } from './map.ts';
import {
  agendaItemsOf,
  isHidden,
  type ModuleReference,
  type RegisterItem,
  readReference,
  readRegisterItem,
  registerDate,
} from './schema.ts';

export function dayOf(value: unknown): string | undefined {
  return readMoment(value).moment?.day;
}

const ITEM_ADDRESS = /^(?:https?:\/\/)?[^/\s]*(\/modules\/\d{1,9}\/items\/[1-9]\d{0,17})\/?$/;

/** Only the path of an address in the known form counts: the call goes to the configured base. */
export function pathOf({ id, self = '' }: ModuleReference): string {
  return ITEM_ADDRESS.exec(self)?.[1] ?? modulePath('0', id);
}

export function readReferred(
  session: Session,
  reference: ModuleReference,
  issue: IssueSink,
): Promise<Found<RegisterItem>> {
  const { id, self = '' } = reference;
  if (!ITEM_ADDRESS.test(self)) issue('unusable-value', `register item ${id} has no address of the known form`);
  const path = pathOf(reference);
  const known = session.referred.get(path);
  if (known !== undefined) return known;
  const found = fetchRegisterItem(session, id, path);
  session.referred.set(path, found);
  return found;
}

async function fetchRegisterItem(session: Session, id: string, path: string): Promise<Found<RegisterItem>> {
  const answer = await fetchNamed(session, path, 'item');
  if (answer.kind !== 'found') return answer;
  const issue = session.issues.at(path);
  const item = readRegisterItem(answer.value, issue);
  if (item?.id === id) return { kind: 'found', value: item };
  if (item !== undefined) issue('unexpected-answer', `is register item ${item.id}`);
  return { kind: 'failed' };
}

export async function listEntries(session: Session): Promise<readonly Listed[]> {
  const { client, issues, request } = session;
  const path = `/organisations/${request.source.organisationId}/modules`;
  try {
    const registers = readNames(await client.get(path, {}, request.signal), 'modules', issues.at(path));
    const listed = await Promise.all(
      [...registers].map(async ([register, name]) => {
        session.registers.set(register, name);
        const items = `${path}/${register}/items`;
        const found = await listWindow(session, items, 'items');
        return found.map(({ key: id, raw }): Listed => {
          const read = async () =>
            foundAs(
              await readEntry(session, register, raw, items),
              (item) => () => mapRegisterEntry(session, register, item),
            );
          return { ...listedEntry(register, id), path: items, read };
        });
      }),
    );
    return listed.flat();
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    issues.failed(path, error);
    return [];
  }
}

function listedEntry(register: string, id: string) {
  const key = `register-${register}-${id}`;
  return { key, day: undefined, stamp: undefined, naam: key, hidden: false };
}

/** The list shows entries whole; one with only its address is fetched. */
async function readEntry(
  session: Session,
  register: string,
  raw: JsonObject,
  path: string,
): Promise<Found<RegisterItem>> {
  const issue = session.issues.at(path);
  if (raw.attributes !== undefined || raw.attachments !== undefined) return judgeEntry(readRegisterItem(raw, issue));
  const reference = readReference({ ...raw, self: raw.self ?? modulePath(register, String(raw.id)) }, issue);
  if (reference === undefined) return { kind: 'failed' };
  const found = await readReferred(session, reference, issue);
  return found.kind === 'found' ? judgeEntry(found.value) : found;
}

function judgeEntry(item: RegisterItem | undefined): Found<RegisterItem> {
  if (item === undefined) return { kind: 'failed' };
  if (isHidden(item)) return { kind: 'hidden', ...withheldOf(withheldDocuments(item)) };
  return { kind: 'found', value: item };
}

function mapRegisterEntry(session: Session, register: string, item: RegisterItem): MappedItem {
  const { client, request, categories } = session;
  const day = dayOf(registerDate(item));
  const name = session.registers.get(register) || undefined;
  const attachment = {
    agendapunten: agendaItemsOf(item).map(agendapuntId),
    registerdag: day,
    omschrijving: describeItem(item, name),
    wooinformatiecategorie: categories.get(`register:${name?.toLowerCase()}`) ?? categories.get(`register:${register}`),
  };
  const documents = toFoundDocuments(item, name, session, session.issues.at(modulePath(register, item.id)));
  return {
    ...mapEntry(documents, attachment, { source: request.source, page: client.base }),
    day: day !== undefined && inWindow(day, request.window) ? day : request.window.from,
    stamp: item.last_modified,
  };
}

export async function findEntry(session: Session, register: string, id: string): Promise<Found<Listed>> {
  const path = modulePath(register, id);
  const answer = await fetchOne(session, path, 'item');
  if (answer.kind !== 'found') return answer;
  const found = judgeEntry(readRegisterItem(answer.value, session.issues.at(path)));
  return foundAs(found, (item) => ({
    ...listedEntry(register, id),
    day: dayOf(registerDate(item)),
    read: async () => ({ kind: 'found', value: () => mapRegisterEntry(session, register, item) }),
  }));
}
