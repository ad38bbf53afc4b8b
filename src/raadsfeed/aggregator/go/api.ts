/** The calls to GemeenteOplossingen: version 1 lists whole meetings, version 2 takes a call for each part. */
import { createHash } from 'node:crypto';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { dutchDay } from '../../../lib/time.ts';
import { type AnswerReader, listIn, recordIn } from '../supplier/read-answer.ts';
import { readInHalves } from '../supplier/read-in-halves.ts';
import type { DateWindow } from '../supplier/source-adapter.ts';
import {
  type Found,
  foundAs,
  type Listed,
  type ListedWindow,
  type Reading,
  type Supplier,
} from '../supplier/supplier.ts';
import { createClientPool, orMissing, type PoolOptions, SupplierError } from '../supplier/supplier-client.ts';
import { readMoment } from '../supplier/values.ts';
import { inWindow, isRegisters } from '../supplier/windows.ts';
import {
  type BareMeeting,
  type GoMeeting,
  isHidden,
  listDocument,
  listMeeting,
  mapGoMeeting,
  mapLoneDocument,
  meetingId,
  readBareMeeting,
  readDocuments,
  readItems,
  readWholeMeeting,
  versionOf,
} from './map.ts';

/** Nothing signals a change, so windows are read whole. */
const QUICK_MS = 3_600_000;
const PAGE = 100;
const DAY_MS = 86_400_000;
const FIRST_DAY = '2010-01-01';
const MAX_RECORDS = 100_000;

type Query = Readonly<Record<string, string>>;

export function createGo(options: PoolOptions): Supplier {
  const clients = createClientPool(options);

  const get = async (reading: Reading, path: string, query: Query = {}): Promise<unknown> => {
    const { source, signal } = reading.request;
    return unrefused(await clients.at(source.organisationId).get(`/${versionOf(reading)}/${path}`, query, signal));
  };

  /** A list of version 2, over its pages, each record once. */
  const listAll = async (reading: Reading, path: string, query: Query = {}): Promise<JsonObject[]> => {
    const issue = reading.issues.at(path);
    const found = new Map<string, JsonObject>();
    for (let offset = 0; offset <= MAX_RECORDS; ) {
      const before = found.size;
      const { records, total } = pageOf(await get(reading, path, { ...query, offset: `${offset}`, limit: `${PAGE}` }));
      for (const record of records) {
        const { id = '' } = isRecord(record) ? record : {};
        const isNamed = (typeof id === 'number' || typeof id === 'string') && id !== '';
        if (!isRecord(record) || !isNamed) issue('unexpected-answer', 'a record is not an object with an id');
        else if (!found.has(String(id))) found.set(String(id), record);
      }
      offset += records.length;
      // A page without anything new is the last.
      if (found.size > before && (total === undefined || offset < total)) continue;
      if (found.size < (total ?? 0)) issue('count-mismatch', `${total} announced, ${found.size} shown`);
      return [...found.values()];
    }
    throw new SupplierError('unreadable', `more than ${MAX_RECORDS} records`);
  };

  const toListed = (
    meeting: BareMeeting,
    reading: Reading,
    { where, stamp, read }: { where: string; stamp?: string | undefined; read: () => Promise<Found<GoMeeting>> },
  ): Listed => ({
    ...listMeeting(meeting, reading.issues.at(where)),
    stamp,
    read: async () => foundAs(await read(), (whole) => () => mapGoMeeting(whole, reading)),
    async isPublic() {
      // A meeting that cannot be read by itself may be confidential, whatever the list says.
      const own = await readOwn(reading, meeting.id, readBareMeeting);
      return own !== undefined && !isHidden(own);
    },
  });

  /** The meetings of a period; in version 1 with everything in them. */
  const listMeetings = async (reading: Reading, days: DateWindow): Promise<readonly Listed[]> => {
    const where = 'meetings';
    const isWhole = versionOf(reading) === 'v1';
    const issue = reading.issues.at(where);
    const { records, total = 0 } = isWhole
      ? pageOf(await get(reading, where, unixTimes(days)))
      : { records: await listAll(reading, where, unixTimes(days)) };
    if (records.length < total) issue('count-mismatch', `${total} announced, ${records.length} shown`);
    const listed = records.flatMap((raw) => {
      const meeting = readBareMeeting(raw, issue, 'meeting');
      if (meeting === undefined) return [];
      const read = () => (isWhole ? readWhole(reading, meeting.id) : readInParts(reading, meeting));
      // Only the list of version 1 shows everything that may change.
      return [toListed(meeting, reading, { where, stamp: isWhole ? stampOf(raw) : undefined, read })];
    });
    const inside = listed.filter(({ day }) => day === undefined || inWindow(day, days));
    if (inside.length < listed.length) issue('unconfirmed-form', 'shows more days than those that were requested');
    return inside;
  };

  /**
   * Documents of the types that the operator named: the collection also holds letters of citizens. None says to which meeting it belongs,
   * and so any may be confidential: they are read only while every meeting is known and none is confidential.
   */
  const listDocuments = async (reading: Reading): Promise<ListedWindow> => {
    const { source, completeAt, depth, meetings } = reading.request;
    const { period, options: { documentTypes, bodies, notBodies } = {} } = source;
    const readsAllMeetings = [bodies, notBodies, period?.from, period?.to].every((limit) => limit === undefined);
    if (documentTypes === undefined || !readsAllMeetings || versionOf(reading) === 'v1') return { listed: [] };
    const { hasConfidential = true, isUnread = true } = (await meetings?.()) ?? {};
    if (isUnread) reading.issues.add('unread-days', 'documents', 'wait until all meetings were read');
    else if (hasConfidential) reading.issues.add('withheld', 'documents', 'may belong to something confidential');
    if (isUnread || hasConfidential) return { listed: [], find: async () => ({ kind: 'hidden' }) };
    const isQuick = depth === 'quick' && completeAt !== undefined;
    const from = isQuick ? dutchDay(new Date(completeAt.getTime() - DAY_MS)) : FIRST_DAY;
    const types = documentTypes.split(',').map((type) => type.trim().toLowerCase());
    const issue = reading.issues.at('documents');
    const query = { publicationDate_from: `${from}T00:00:00` };
    const listed = readDocuments(await listAll(reading, 'documents', query), issue)
      .filter(({ documentTypeLabel: type }) => type !== undefined && types.includes(type.toLowerCase()))
      .map((document): Listed => {
        const mapping = () => mapLoneDocument(document, reading);
        return { ...listDocument(document, issue), read: async () => ({ kind: 'found', value: mapping }) };
      })
      .filter(({ day }) => day !== undefined && day >= from);
    return { listed, onlyChanged: isQuick };
  };

  /** A meeting by itself, without its parts in version 2; `undefined` when it cannot be read by itself. */
  const readOwn = async <T extends BareMeeting>(
    reading: Reading,
    id: string,
    read: AnswerReader<T>,
  ): Promise<T | undefined> => {
    const answer = await orMissing(() => get(reading, `meetings/${id}`));
    if (answer === undefined) return undefined;
    const own =
      versionOf(reading) === 'v1' ? (recordIn(answer, 'result', 'id') ?? answer) : { id, ...recordOf(answer) };
    const meeting = read(own, reading.issues.at(meetingId(id)), 'meeting');
    if (meeting === undefined) throw new SupplierError('unreadable', 'the answer is not a meeting');
    if (meeting.id !== id) throw new SupplierError('unreadable', `is meeting ${meeting.id}`);
    return meeting;
  };

  /** A meeting of version 1 by itself, which alone says whether it is confidential. */
  const readWhole = async (reading: Reading, id: string): Promise<Found<GoMeeting>> => {
    const read = await readOwn(reading, id, readWholeMeeting);
    if (read === undefined) return { kind: 'missing' };
    return isHidden(read) ? { kind: 'hidden' } : { kind: 'found', value: read };
  };

  const readInParts = async (reading: Reading, listed: BareMeeting): Promise<Found<GoMeeting>> => {
    const path = `meetings/${listed.id}`;
    const issue = reading.issues.at(meetingId(listed.id));
    // Many meetings of version 2 cannot be read by themselves: then the record of the list counts.
    const meeting = (await readOwn(reading, listed.id, readBareMeeting)) ?? listed;
    if (isHidden(meeting)) return { kind: 'hidden' };
    const [items, documents] = await Promise.all([
      listAll(reading, `${path}/meetingitems`),
      listAll(reading, `${path}/documents`),
    ]);
    const own = readDocuments(documents, issue);
    const agenda = await Promise.all(
      readItems(items, issue).map(async (item) => {
        // Nothing of a confidential item is fetched. Any document of the meeting may belong to it, except those of a public item.
        if (isHidden(item)) return { ...item, documents: own };
        const attached = await listAll(reading, `meetingitems/${item.id}/documents`);
        return { ...item, documents: readDocuments(attached, issue) };
      }),
    );
    return { kind: 'found', value: { ...meeting, items: agenda, documents: agenda.some(isHidden) ? [] : own } };
  };

  return {
    // Documents without a meeting are read as a register is.
    hasRegisters: true,
    quickAgainMs: QUICK_MS,
    async list(reading) {
      const { request, issues } = reading;
      if (isRegisters(request.window)) return await listDocuments(reading);
      const listed = await readInHalves({
        issues,
        request,
        path: 'meetings',
        isTooLarge: ({ passing }) => passing,
        read: (days) => listMeetings(reading, days),
      });
      // Many existing meetings of version 2 cannot be read by themselves.
      if (versionOf(reading) === 'v2') return { listed };
      return {
        listed,
        async find({ key }) {
          const found = await readWhole(reading, key.slice(meetingId('').length));
          return foundAs(found, (meeting) => toListed(meeting, reading, { where: key, read: async () => found }));
        },
      };
    },
    /** Version 1 where the organisation serves it: version 2 takes many more calls. */
    async prepare({ source, window, signal }) {
      const query = unixTimes(window);
      const client = clients.at(source.organisationId);
      const first = await orMissing(async () => unrefused(await client.get('/v1/meetings', query, signal, 1)));
      const isRefused = isRecord(first) && codeOf(first) >= 400;
      if (!isRefused && listsOf(first).length > 0) return { version: 'v1' };
      pageOf(unrefused(await client.get('/v2/meetings', { ...query, offset: '0', limit: '1' }, signal, 1)));
      return { version: 'v2' };
    },
    close: () => clients.close(),
  };
}

/** @throws {SupplierError} while the organisation has not opened its interface */
function unrefused(answer: unknown): unknown {
  if (!isRecord(answer) || answer.code !== 'authorization_required') return answer;
  const message = 'authorization_required: the organisation has not opened its public interface; ask it to';
  throw new SupplierError('unreadable', message);
}

/** The status in an answer; NaN without one. */
function codeOf({ code, status }: JsonObject): number {
  return Number(code ?? status);
}

/** @throws {SupplierError} for an error in an answer */
function objectOfAnswer(answer: unknown): JsonObject {
  if (!isRecord(answer)) throw new SupplierError('unreadable', 'the answer is not an object');
  const code = codeOf(answer);
  if (code >= 400) throw new SupplierError('status', `status ${code} in the answer`, { status: code });
  return answer;
}

/** The record in an answer of version 2, wrapped or not. */
function recordOf(answer: unknown): JsonObject {
  const result = recordIn(objectOfAnswer(answer), 'result', 'id');
  if (result === undefined) throw new SupplierError('unreadable', 'the answer has no result');
  return result.id === undefined ? (Object.values(result).find(isRecord) ?? result) : result;
}

interface Page {
  readonly records: readonly unknown[];
  /** Unknown for a list without an envelope. */
  readonly total: number | undefined;
}

/** The lists in an answer of any form: a bare one, or those in its envelope. */
function listsOf(answer: unknown): readonly (readonly unknown[])[] {
  const bare = listIn(answer, 'list', 'result', 'meetings');
  if (bare !== undefined) return [bare];
  const result = isRecord(answer) && isRecord(answer.result) ? answer.result : {};
  return Object.values(result).filter((member) => Array.isArray(member));
}

/** A page of a list, or a whole one: its records are the only list in it; `totalCount` of an envelope may be a text. @throws {SupplierError} */
function pageOf(answer: unknown): Page {
  const { result = undefined } = Array.isArray(answer) ? {} : objectOfAnswer(answer);
  const [records, ...others] = listsOf(answer);
  if (records === undefined || others.length > 0)
    throw new SupplierError('unreadable', 'the answer does not have exactly one list');
  if (!isRecord(result) || !Object.values(result).includes(records)) return { records, total: undefined };
  const total = String(result.totalCount);
  if (!/^\d{1,15}$/.test(total)) throw new SupplierError('unreadable', 'the answer does not say how many there are');
  return { records, total: Number(total) };
}

function unixTimes({ from, to }: DateWindow): Query {
  const seconds = (local: string): string => {
    const { utc } = readMoment(local).moment ?? {};
    if (utc === undefined) throw new TypeError(`${local} is not a time`);
    return String(Date.parse(utc) / 1000);
  };
  return { date_from: seconds(`${from} 00:00:00`), date_to: seconds(`${to} 23:59:59`) };
}

/** `undefined` for an answer nested too deep to be a meeting. */
function stampOf(raw: unknown): string | undefined {
  try {
    return createHash('sha256').update(JSON.stringify(raw)).digest('base64url');
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
