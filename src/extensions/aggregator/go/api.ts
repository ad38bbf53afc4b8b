/** The calls to GemeenteOplossingen: its first version lists whole meetings, its second takes a call for each part. */
import { createHash } from 'node:crypto';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { ClientPool, type PoolOptions } from '../supplier/client-pool.ts';
import { assertListable, readInHalves } from '../supplier/read-in-halves.ts';
import type { DateWindow } from '../supplier/source-adapter.ts';
import type { Found, Reading, Supplier } from '../supplier/supplier.ts';
import { SupplierError } from '../supplier/supplier-client.ts';
import { readMoment } from '../supplier/values.ts';
import { inWindow } from '../supplier/windows.ts';
import {
  type GoDocument,
  type GoMeeting,
  isHidden,
  type ListedGo,
  listDocument,
  listMeeting,
  loneDocumentId,
  mapGoMeeting,
  mapLoneDocument,
  meetingId,
  readDocuments,
  readItems,
  readMeeting,
} from './map.ts';

/** Milliseconds between quick readings: nothing signals a change, so that windows are read whole. */
const QUICK_MS = 3_600_000;
/** Records on a page. */
const PAGE = 100;
/** More records than any list has: one that never ends is not read for ever. */
const MAX_RECORDS = 100_000;

type Version = 'v1' | 'v2';

export function createGo(options: PoolOptions): Supplier<ListedGo, GoMeeting | GoDocument> {
  const clients = new ClientPool(options);

  const get = async (
    reading: Reading,
    path: string,
    query: Readonly<Record<string, string>> = {},
  ): Promise<unknown> => {
    const { request } = reading;
    const { organisationId: base } = request.source;
    return unrefused(await clients.at(base).get(`/${versionOf(reading)}/${path}`, query, request.signal));
  };

  /** All of a list of the second version, over its pages, each record once. */
  const listAll = async (
    reading: Reading,
    path: string,
    query: Readonly<Record<string, string>> = {},
  ): Promise<JsonObject[]> => {
    const issue = reading.issues.at(path);
    const found = new Map<string, JsonObject>();
    for (let offset = 0; offset <= MAX_RECORDS; ) {
      const before = found.size;
      const { records, total } = pageOf(await get(reading, path, { ...query, offset: `${offset}`, limit: `${PAGE}` }));
      for (const record of records) {
        const id =
          isRecord(record) && (typeof record.id === 'number' || typeof record.id === 'string') ? String(record.id) : '';
        if (!isRecord(record) || id === '') issue('unexpected-answer', 'a record is not an object with an id');
        else if (!found.has(id)) found.set(id, record);
      }
      offset += records.length;
      // A page that shows nothing new is not followed by one that does.
      if (offset < total && found.size > before) continue;
      if (found.size < total) issue('count-mismatch', `${total} announced, ${found.size} shown`);
      return [...found.values()];
    }
    throw new SupplierError('unreadable', `more than ${MAX_RECORDS} records`);
  };

  /** The meetings of some days, in the first version with everything in them. */
  const listMeetings = async (reading: Reading, days: DateWindow): Promise<ListedGo[]> => {
    const query = { date_from: unixTime(`${days.from} 00:00:00`), date_to: unixTime(`${days.to} 23:59:59`) };
    const isWhole = versionOf(reading) === 'v1';
    const answer = isWhole ? await get(reading, 'meetings', query) : await listAll(reading, 'meetings', query);
    if (!Array.isArray(answer)) throw new SupplierError('unreadable', 'the answer is not a list');
    assertListable(answer);
    const issue = reading.issues.at('meetings');
    const listed = answer.flatMap((raw: unknown) => {
      const meeting = readMeeting(raw, issue, 'meeting');
      // Only the first version shows in the list all that a change can change.
      return meeting === undefined ? [] : [listMeeting(meeting, isWhole ? stampOf(raw) : undefined, issue)];
    });
    const inside = listed.filter(({ day }) => day === undefined || inWindow(day, days));
    if (inside.length < listed.length) issue('unconfirmed-form', 'shows more days than those that were requested');
    return inside;
  };

  /** Documents of the types that the operator named: the collection also holds what citizens wrote. */
  const listDocuments = async (reading: Reading, { from, to }: DateWindow): Promise<ListedGo[]> => {
    const { documentTypes } = reading.request.source.options ?? {};
    const types = (documentTypes ?? '').split(',').map((type) => type.trim().toLowerCase());
    if (documentTypes === undefined || versionOf(reading) === 'v1') return [];
    const query = { publicationDate_from: `${from}T00:00:00`, publicationDate_to: `${to}T23:59:59` };
    const issue = reading.issues.at('documents');
    return readDocuments(await listAll(reading, 'documents', query), issue)
      .filter(({ documentTypeLabel: type }) => type !== undefined && types.includes(type.toLowerCase()))
      .map((document) => listDocument(document, issue))
      .filter(({ day }) => day !== undefined && inWindow(day, { from, to }));
  };

  /** A meeting of the first version by itself, which alone says whether it is confidential. */
  const readWhole = async (reading: Reading, id: string): Promise<Found<GoMeeting>> => {
    const read = readMeeting(await get(reading, `meetings/${id}`), reading.issues.at(meetingId(id)), 'meeting');
    if (read === undefined) throw new SupplierError('unreadable', 'the answer is not a meeting');
    if (read.id !== id) throw new SupplierError('unreadable', `is meeting ${read.id}`);
    return isHidden(read) ? { kind: 'hidden' } : { kind: 'found', value: read };
  };

  /** A meeting of the second version without its parts; where it is not found by itself, the record of the list counts. */
  const readOwn = async (reading: Reading, listed: GoMeeting): Promise<GoMeeting> => {
    const { id } = listed;
    const path = `meetings/${id}`;
    const issue = reading.issues.at(meetingId(id));
    const own = await orMissing(async () => {
      const { result } = objectOfAnswer(await get(reading, path));
      return isRecord(result) ? (Object.values(result).find(isRecord) ?? result) : undefined;
    });
    const meeting = own === undefined ? listed : readMeeting({ ...own, id: own.id ?? id }, issue, 'meeting');
    if (meeting === undefined || meeting.id !== id)
      throw new SupplierError('unreadable', 'the answer is another meeting');
    return meeting;
  };

  const readInParts = async (reading: Reading, listed: GoMeeting): Promise<Found<GoMeeting>> => {
    const path = `meetings/${listed.id}`;
    const issue = reading.issues.at(meetingId(listed.id));
    const meeting = await readOwn(reading, listed);
    if (isHidden(meeting)) return { kind: 'hidden' };
    const [items, documents] = await Promise.all([
      listAll(reading, `${path}/meetingitems`),
      listAll(reading, `${path}/documents`),
    ]);
    const agenda = await Promise.all(
      readItems(items, issue).map(async (item) => {
        // Nothing of a confidential item is fetched.
        if (isHidden(item)) return item;
        const attached = await listAll(reading, `meetingitems/${item.id}/documents`);
        return { ...item, documents: readDocuments(attached, issue) };
      }),
    );
    const own = readDocuments(documents, issue);
    if (!agenda.some(isHidden)) return { kind: 'found', value: { ...meeting, items: agenda, documents: own } };
    // Any of them may hang on a confidential item: only those that a public item has too are public.
    const withheld = agenda.map((item) => (isHidden(item) ? { ...item, documents: own } : item));
    return { kind: 'found', value: { ...meeting, items: withheld, documents: [] } };
  };

  return {
    hasRegisters: false,
    quickAgainMs: QUICK_MS,
    async list(reading) {
      const { request, issues } = reading;
      const found = new Map<string, ListedGo>();
      await readInHalves({
        issues,
        request,
        path: 'meetings',
        isTooLarge: ({ passing }) => passing,
        read: async (days) => {
          const before = found.size;
          for (const one of await listMeetings(reading, days)) found.set(one.key, one);
          return found.size - before;
        },
      });
      return { listed: [...found.values(), ...(await listDocuments(reading, request.window))] };
    },
    async read({ meeting, document }, reading) {
      if (meeting === undefined)
        return document === undefined ? { kind: 'missing' } : { kind: 'found', value: document };
      if (versionOf(reading) === 'v2') return await readInParts(reading, meeting);
      return await readWhole(reading, meeting.id);
    },
    async isPublic({ meeting }, reading) {
      if (meeting === undefined) return true;
      if (versionOf(reading) === 'v2') return !isHidden(await readOwn(reading, meeting));
      return (await readWhole(reading, meeting.id)).kind === 'found';
    },
    async map(value, { key, document }, reading) {
      const context = { ...reading, issue: reading.issues.at(key) };
      const base = `${reading.request.source.organisationId}/${versionOf(reading)}`;
      const download = (id: string): string => `${base}/documents/${id}/download`;
      if (document !== undefined) return mapLoneDocument(document, download(document.id), context);
      const isFirst = versionOf(reading) === 'v1';
      return mapGoMeeting(
        value,
        ({ id }) => ({
          address: isFirst ? `${base}/meetings/${value.id}/documents/${id}` : download(id),
          namesMeeting: isFirst,
        }),
        context,
      );
    },
    async find({ key }, reading) {
      // A document that its list lacks is gone: nothing else shows it.
      const id = key.startsWith(loneDocumentId('')) ? undefined : key.slice(meetingId('').length);
      // In the second version many meetings that exist are not found by themselves.
      if (id === undefined || versionOf(reading) === 'v2') return { kind: 'missing' };
      const found = await orMissing(() => readWhole(reading, id));
      if (found?.kind !== 'found') return found ?? { kind: 'missing' };
      return { kind: 'found', value: listMeeting(found.value, undefined, reading.issues.at(key)) };
    },
    /** Which version the organisation serves: the first, else the second, which takes many more calls. */
    async prepare({ source, window: { from, to }, signal }) {
      const query = { date_from: unixTime(`${from} 00:00:00`), date_to: unixTime(`${to} 23:59:59`) };
      const client = clients.at(source.organisationId);
      const first = await orMissing(async () => unrefused(await client.get('/v1/meetings', query, signal, 1)));
      if (Array.isArray(first)) return { version: 'v1' };
      pageOf(unrefused(await client.get('/v2/meetings', { ...query, offset: '0', limit: '1' }, signal, 1)));
      return { version: 'v2' };
    },
    close: () => clients.close(),
  };
}

function versionOf({ request }: Reading): Version {
  return request.source.options?.version ?? 'v1';
}

/** @throws {SupplierError} for what is answered while the organisation has not opened its interface */
function unrefused(answer: unknown): unknown {
  if (!isRecord(answer) || answer.code !== 'authorization_required') return answer;
  const message = 'authorization_required: the organisation has not opened its public interface; ask it to';
  throw new SupplierError('unreadable', message);
}

/** `undefined` for what the supplier does not have. */
async function orMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SupplierError && error.isMissing) return undefined;
    throw error;
  }
}

/** @throws {SupplierError} for an answer that says that it is an error */
function objectOfAnswer(answer: unknown): JsonObject {
  if (!isRecord(answer)) throw new SupplierError('unreadable', 'the answer is not an object');
  const code = Number(answer.code);
  if (code >= 400) throw new SupplierError('status', `status ${code} in the answer`, { status: code });
  return answer;
}

/** A page of a list: the records are under the one member that is a list, `totalCount` may be a text. */
function pageOf(answer: unknown): { readonly records: readonly unknown[]; readonly total: number } {
  const { result } = objectOfAnswer(answer);
  const lists = isRecord(result) ? Object.values(result).filter((member) => Array.isArray(member)) : [];
  const [records] = lists;
  const total =
    isRecord(result) && /^\d{1,15}$/.test(String(result.totalCount)) ? Number(result.totalCount) : undefined;
  if (records === undefined || lists.length > 1) throw new SupplierError('unreadable', 'the answer has no one list');
  if (total === undefined) throw new SupplierError('unreadable', 'the answer does not say how many there are');
  return { records, total };
}

/** Seconds since 1970 of a Dutch local time. */
function unixTime(local: string): string {
  const { utc } = readMoment(local).moment ?? {};
  if (utc === undefined) throw new TypeError(`${local} is not a time`);
  return String(Date.parse(utc) / 1000);
}

/** `undefined` for what is nested too deep to be a meeting. */
function stampOf(raw: unknown): string | undefined {
  try {
    return createHash('sha256').update(JSON.stringify(raw)).digest('base64url');
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
