/**
 * Reads a feed before judging its cases: the service document, the beginning and end of the history, and the snapshot.
 */
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import {
  type Asking,
  answerIfAny,
  askingChapters,
  type CaseRun,
  type Finding,
  firstFault,
  Skipped,
  type SuiteSubject,
} from '../case.ts';
import { readContract } from '../contract.ts';
import type { Client, Exchange } from '../exchange.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { startingAt } from './pages.ts';

/** Maximum number of history and snapshot pages to read; the cases see only the beginning of a larger feed. */
const MOST_PAGES = 8;
const PAGE_SIZE = 250;

export interface SeenRecord {
  readonly record: JsonObject;
  readonly at: Exchange;
}

/** Consecutive pages, linked by their `cursor`. */
export interface Walk {
  readonly pages: readonly { readonly page: JsonObject; readonly at: Exchange }[];
  readonly records: readonly SeenRecord[];
  /** True when the last page said that nothing follows. */
  readonly complete: boolean;
}

export interface FeedSubject extends SuiteSubject {
  /** The answer of the address itself. */
  readonly serviceDocument: Exchange | undefined;
  readonly service: JsonObject;
  readonly history: Walk;
  readonly snapshot: Walk;
  readonly values: SuiteSubject['values'] & Readonly<Record<'base' | 'feed' | 'snapshot' | 'stream', string>>;
}

/** The prerequisite of cases without `needs`. */
export const feedChapters = (first: string) => askingChapters<FeedSubject>(first);

export const gives = (status: number, ...addresses: readonly string[]): Asking<FeedSubject> => ({
  ask: addresses.map((to) => ({ to })),
  expect: { status: [status] },
});

/** @param base address of the service document */
export async function readSubject(base: string, client: Client): Promise<FeedSubject> {
  const root = base.replace(/(?<!\/)\/+$/, '');
  const serviceDocument = await answerIfAny(client, { to: `${root}/` });
  const service = isRecord(serviceDocument?.json) ? serviceDocument.json : {};
  const addressOf = (name: string, usual: string): string => {
    const named = service[name];
    return isWholeAddress(named) ? named : `${root}/${usual}`;
  };
  const feed = addressOf('feedUrl', 'feed');
  const snapshotUrl = addressOf('snapshotUrl', 'snapshot');
  const history = await walk(client, feed);
  const snapshot = await walk(client, snapshotUrl);
  const carried = organisationsOf(service);
  return {
    client,
    fault: readContract('raadsfeed.yaml'),
    serviceDocument,
    service,
    history,
    snapshot,
    values: {
      base: root,
      origin: new URL(root).origin,
      feed,
      snapshot: snapshotUrl,
      stream: addressOf('streamUrl', 'feed/stream'),
      organisation: carried[0] ?? textAt(history.records[0]?.record.resource, 'organisatiecode'),
      // Matches the pattern, but no municipality has it.
      otherOrganisation: ['gm0000', 'gm9999', 'gm9998'].find((code) => !carried.includes(code)),
      cursor: textAt(history.pages[0]?.page, 'cursor'),
      feedCursor: textAt(snapshot.pages[0]?.page, 'feedCursor'),
    },
  };
}

export function isWholeAddress(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value);
}

/** The pattern of organisation codes, in lower case. */
const ORGANISATION = /^(gm[0-9]{4}|pv[0-9]{2}|ws[0-9]{4})$/i;

/** How deep a service document is searched. */
const DEPTH = 8;

/** The texts in a value, each with its member's name, whatever the members around it are called. */
export function textsIn(value: unknown, name = '', depth = DEPTH): readonly (readonly [name: string, text: string])[] {
  if (typeof value === 'string') return [[name, value]];
  if (depth === 0) return [];
  if (Array.isArray(value)) return value.flatMap((one: unknown) => textsIn(one, name, depth - 1));
  return isRecord(value) ? Object.entries(value).flatMap(([member, one]) => textsIn(one, member, depth - 1)) : [];
}

/** The organisation codes in a service document, whatever its members are called. */
export function codesIn(service: JsonObject): readonly string[] {
  return textsIn(service).flatMap(([name, text]) =>
    name === 'organisatiecode' || ORGANISATION.test(text) ? [text] : [],
  );
}

/** The numbers whose content a redaction removed: the draft does not name the member. */
export function redactedIn(record: JsonObject): readonly unknown[] {
  const lists = [record.geredigeerdeSequenceNumbers, ...Object.values(record)].filter((value) => Array.isArray(value));
  return lists.find((list) => list.every(Number.isSafeInteger)) ?? [];
}

export function organisationsOf(service: JsonObject): readonly string[] {
  return objectsIn(service, 'organisaties').flatMap((one) => textAt(one, 'organisatiecode') ?? []);
}

export function organisationIn(service: unknown, code: string | undefined): JsonObject | undefined {
  return objectsIn(service, 'organisaties').find(({ organisatiecode }) => organisatiecode === code);
}

/** `gm0363/Vergadering/1`: the subject of a record. */
export function keyOf({ resourceType, resource }: JsonObject): string {
  return `${textAt(resource, 'organisatiecode')}/${String(resourceType)}/${textAt(resource, 'bronidentificatie')}`;
}

/**
 * The result of the records, by resource: the record with its state, or the one that removed it. A redaction of earlier
 * content alone removes nothing.
 */
export function stateOf(records: Walk['records']): ReadonlyMap<string, SeenRecord> {
  const state = new Map<string, SeenRecord>();
  for (const seen of records) {
    const key = keyOf(seen.record);
    const before = state.get(key)?.record;
    const isKept =
      seen.record.op === 'redact' &&
      before?.op === 'upsert' &&
      !redactedIn(seen.record).includes(before.sequenceNumber);
    if (!isKept) state.set(key, seen);
  }
  return state;
}

/**
 * The resources that changed after this position in the feed, about which nothing can be said.
 * @throws {Skipped} when there are too many
 */
export async function changedSince(cursor: string | undefined, { ask }: CaseRun): Promise<ReadonlySet<string>> {
  const { json } = await ask({ to: `{feed}?limit=1000&${startingAt(cursor)}` });
  if (isRecord(json) && json.hasMore === true) throw new Skipped('the feed grows faster than it was read');
  return new Set(objectsIn(json, 'records').map(keyOf));
}

/** The first fault among the records, with the answer that contained the record. */
export function firstSeen<Seen extends { readonly at: Exchange }>(
  seen: Iterable<Seen>,
  judge: (one: Seen, index: number) => string | undefined,
): Finding {
  return firstFault(seen, ({ at }) => at, judge);
}

export function nameOf({ sequenceNumber }: JsonObject): string {
  return `record ${typeof sequenceNumber === 'number' ? sequenceNumber : '(without a number)'}`;
}

/** @throws {Skipped} when no record was read, because then nothing can be said */
export function recordsOf(
  { records }: Walk,
  isMeant: (record: JsonObject) => boolean = () => true,
): readonly [SeenRecord, ...SeenRecord[]] {
  const [first, ...others] = records.filter(({ record }) => isMeant(record));
  if (first === undefined) throw new Skipped('the part of the feed that was read has no such record');
  return [first, ...others];
}

/** A check of every history record that meets this condition. */
export const eachRecord =
  (isMeant: (record: JsonObject) => boolean, judge: (record: JsonObject, subject: FeedSubject) => string | undefined) =>
  (subject: FeedSubject): Finding =>
    firstSeen(recordsOf(subject.history, isMeant), ({ record }) => {
      const wrong = judge(record, subject);
      return wrong && `${nameOf(record)}: ${wrong}`;
    });

/** Reads pages from the beginning; an unreadable one ends the walk, which the cases about pages report. */
export async function walk(client: Client, address: string, size = PAGE_SIZE, most = MOST_PAGES): Promise<Walk> {
  const pages: Walk['pages'][number][] = [];
  let cursor: string | undefined;
  let complete = false;
  for (let count = 0; count < most; count += 1) {
    const at = await answerIfAny(client, { to: pageAddress(address, { limit: String(size), cursor }) });
    if (at === undefined || at.status !== 200 || !isRecord(at.json)) break;
    pages.push({ page: at.json, at });
    complete = at.json.hasMore === false;
    const next = textAt(at.json, 'cursor');
    if (at.json.hasMore !== true || next === undefined || next === cursor) break;
    cursor = next;
  }
  const records = pages.flatMap(({ page, at }) => objectsIn(page, 'records').map((record) => ({ record, at })));
  return { pages, records, complete };
}

export function pageAddress(address: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
