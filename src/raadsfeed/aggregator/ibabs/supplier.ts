/** iBabs: a meeting is one call, and so is each register entry. */
import { createHash } from 'node:crypto';
import { lineOfHtml } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { bareNumber } from '../supplier/mapping.ts';
import { readInHalves } from '../supplier/read-in-halves.ts';
import type { KnownItem } from '../supplier/source-adapter.ts';
import {
  type Found,
  keptForAnHour,
  type Listed,
  type ListedWindow,
  type Mapping,
  type Reading,
  type Supplier,
} from '../supplier/supplier.ts';
import { SupplierError } from '../supplier/supplier-client.ts';
import { isRegisters } from '../supplier/windows.ts';
import type { IbabsClient } from './calls.ts';
import {
  entryValues,
  type IbabsMeeting,
  type ItemReference,
  type MeetingType,
  mapIbabsEntry,
  mapIbabsMeeting,
  meetingDay,
  meetingId,
  portalOf,
  type RegisterEntry,
  readDetail,
  readEntry,
  readMeeting,
  readMeetingType,
  readRegister,
  registerItemId,
  typeName,
} from './map.ts';
import type { XmlElement } from './read-xml.ts';

const EVER = '1900-01-01T00:00:00';
const DAY_MS = 86_400_000;

export function createIbabs(client: IbabsClient): Supplier {
  const typesOf = keptForAnHour(async ({ request, issues }: Reading): Promise<ReadonlyMap<string, MeetingType>> => {
    const issue = issues.at('GetMeetingtypes');
    const found = await client.meetingTypes(request.source.organisationId, request.signal);
    const types = found.map((raw) => readMeetingType(raw, issue)).filter((type) => type !== undefined);
    return new Map(types.map((type) => [type.Id, type]));
  });

  return {
    hasRegisters: true,
    async list(reading) {
      if (isRegisters(reading.request.window)) return await listEntries(client, reading);
      return { listed: await listMeetings(client, reading, await typesOf(reading)) };
    },
    unconfirmed: (source) =>
      source.portaal === undefined
        ? [`pages are linked at ${portalOf(source)}, guessed from the name of the site: give its address with --portal`]
        : [],
    close: () => client.close(),
  };
}

/** The element that has `Documents` and `Values`: the result itself, or one below it. */
function detailOf(result: XmlElement): XmlElement {
  const has = ({ children }: XmlElement): boolean =>
    children.some(({ name }) => name === 'Values' || name === 'Documents');
  return has(result) ? result : (result.children.find(has) ?? result);
}

async function listMeetings(
  client: IbabsClient,
  reading: Reading,
  types: ReadonlyMap<string, MeetingType>,
): Promise<readonly Listed[]> {
  const { request, issues } = reading;
  const path = 'GetMeetingsByDateRange';
  const issue = issues.at(path);
  return await readInHalves({
    issues,
    request,
    path,
    isTooLarge: ({ passing, kind }) => passing || kind === 'unreadable',
    read: async (part, divisible) => {
      const site = request.source.organisationId;
      const found = await client.meetings(site, part, request.signal, divisible ? 1 : undefined);
      const meetings = found.map((raw) => readMeeting(raw, issue)).filter((meeting) => meeting !== undefined);
      return meetings.map((meeting) => listedMeeting(meeting, types.get(meeting.MeetingtypeId ?? ''), reading, issue));
    },
  });
}

function listedMeeting(
  meeting: IbabsMeeting,
  type: MeetingType | undefined,
  reading: Reading,
  issue: IssueSink,
): Listed {
  if (type === undefined) issue('unknown-gremium', `meeting ${meeting.Id}: its type is not among the meeting types`);
  const key = meetingId(meeting.Id);
  const day = meetingDay(meeting);
  return {
    key,
    day,
    stamp: createHash('sha256')
      .update(JSON.stringify([meeting, type]))
      .digest('base64'),
    naam: [typeName(type) ?? 'Vergadering', day].filter((one) => one !== undefined).join(' '),
    bodies: [type?.Description, type?.Meetingtype, type?.Abbreviation].filter((one) => one !== undefined),
    hidden: false,
    read: async () => ({ kind: 'found', value: () => mapIbabsMeeting(meeting, type, reading) }),
  };
}

/** The entries of every register; in a quick round those that changed since the last complete reading. */
async function listEntries(client: IbabsClient, reading: Reading): Promise<ListedWindow> {
  const { source, signal, depth, completeAt } = reading.request;
  const site = source.organisationId;
  const isQuick = depth === 'quick' && completeAt !== undefined;
  const since = isQuick ? new Date(completeAt.getTime() - DAY_MS).toISOString().slice(0, 19) : EVER;
  const issue = reading.issues.at('GetLists');
  const registers = (await client.registers(site, signal)).map((raw) => readRegister(raw, issue));
  const listed = await Promise.all(
    registers.map(async (register) => {
      if (register === undefined) return [];
      const { Key: id, Value } = register;
      const about = reading.issues.at(`GetListsEntriesByFilterRequest ${id}`);
      const entries = (await client.entries(site, id, since, signal)).map((raw) => readEntry(raw, about));
      const name = lineOfHtml(Value) ?? id;
      return newestOf(entries.filter((entry) => entry !== undefined)).map(
        (entry): Listed => ({
          key: registerItemId(entry.EntryMasterId ?? entry.EntryId),
          day: undefined,
          stamp: entry.MutationDate,
          naam: entry.EntryTitle ?? name,
          bodies: [name],
          hidden: false,
          read: () => readDetails(client, { ...entry, ListName: entry.ListName ?? name }, id, reading),
        }),
      );
    }),
  );
  return { listed: listed.flat(), onlyChanged: isQuick };
}

function newestOf(entries: readonly RegisterEntry[]): readonly RegisterEntry[] {
  const newest = new Map<string, RegisterEntry>();
  for (const entry of entries) {
    const id = entry.EntryMasterId ?? entry.EntryId;
    const known = newest.get(id);
    if (known === undefined || (entry.MutationDate ?? '') >= (known.MutationDate ?? '')) newest.set(id, entry);
  }
  return [...newest.values()];
}

/** Reads an entry, and finds the agenda item that it names among the known items of that day. */
async function readDetails(
  client: IbabsClient,
  entry: RegisterEntry,
  register: string,
  { request, issues }: Reading,
): Promise<Found<Mapping>> {
  const { source, signal } = request;
  const issue = issues.at(registerItemId(entry.EntryMasterId ?? entry.EntryId));
  const raw = await client.entry(source.organisationId, register, entry.EntryId, signal);
  const detail = readDetail(detailOf(raw), issue);
  if (detail === undefined) throw new SupplierError('unreadable', 'the answer is not an entry');
  const values = entryValues(entry, detail, issue);
  const { reference, agendapunt } = values;
  const item = reference === undefined ? undefined : resolve(reference, await request.knownOn?.(reference.day));
  if (agendapunt !== undefined && item === undefined) {
    // Never its title: the item may be confidential.
    const named =
      reference === undefined ? 'in an unknown form' : `${reference.type} ${reference.day} ${reference.number}`;
    issue('unresolved-reference', `Agendapunt does not name one item that is known: ${named}`);
  }
  if (detail.Documents.length === 0) {
    const detailed = 'an entry without documents is linked by its EntryId: /Reports/Item/…';
    issues.add('unconfirmed-form', 'GetListEntry', detailed);
  }
  const agendapunten = item === undefined ? [] : [item];
  return { kind: 'found', value: () => mapIbabsEntry(entry, detail, values, agendapunten, { source, issue }) };
}

/** The one agenda item of that type, day and number. */
function resolve({ type, number }: ItemReference, known: readonly KnownItem[] = []): string | undefined {
  const meetings = known.filter(({ parts }) => {
    const names = parts.find(({ resourceType }) => resourceType === 'Vergadering')?.label?.split('\n') ?? [];
    return names.some((name) => name.toLowerCase() === type.toLowerCase());
  });
  const items = meetings.flatMap(({ parts }) =>
    parts.filter(({ resourceType, label }) => resourceType === 'Agendapunt' && bareNumber(label) === number),
  );
  return items.length === 1 ? items[0]?.bronidentificatie : undefined;
}
