/**
 * Requests and reads pages of a council feed, by the published draft and no stricter: unknown members are left alone. A fault that makes an answer
 * unusable is thrown; a doubtful value is reported, so that one caller may stop and another continue.
 */
import { isRecord, type JsonObject } from '../json/json-value.ts';
import type { OutboundAnswer, OutboundClient, OutboundRequest } from '../outbound/outbound-client.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { redactedNumbers, sequenceNumberOf } from './record.ts';
import { FeedFault, type FeedFaultCode } from './service-document.ts';

/** A record with its number; its members are not checked. */
export interface FeedRecord {
  readonly sequenceNumber: number;
  readonly record: JsonObject;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
}

export interface FeedPage {
  readonly records: readonly FeedRecord[];
  readonly cursor: string;
  readonly head: number;
  /** Also true when the head is beyond the last record: then the feed was not read to its end, despite its claim. */
  readonly hasMore: boolean;
  /** Missing numbers that no redaction on this page names. */
  readonly gaps: readonly Gap[];
}

interface SnapshotPage {
  readonly records: readonly FeedRecord[];
  /** From the first page; later pages are ignored. */
  readonly feedCursor: string;
  readonly cursor: string | null;
}

/** Called for a doubtful value; may throw. */
export type Report = (code: FeedFaultCode, message: string) => void;

const MAX_CURSOR = 4096;

/** The records of an answer that are objects, even when the rest of it is not a page. */
export function looseRecords(json: unknown): readonly JsonObject[] {
  return isRecord(json) && Array.isArray(json.records) ? json.records.filter(isRecord) : [];
}

/** @param position that the page begins after; the number is `undefined` when only the cursor is known @throws {FeedFault} when it is not a page */
export function readFeedPage(
  json: unknown,
  position: { readonly cursor: string | null; readonly after: number | undefined },
  report: Report,
): FeedPage {
  const page = asPage(json);
  const { cursor, head, hasMore } = page;
  if (!isCursor(cursor)) throw new FeedFault('page', 'the page has no cursor');
  if (typeof hasMore !== 'boolean') throw new FeedFault('page', 'the page has no hasMore');
  if (typeof head !== 'number' || !Number.isSafeInteger(head) || head < 0) {
    throw new FeedFault('page', 'the page has no head');
  }
  const records = numbered(page.records, report);
  const gaps: Gap[] = [];
  let last = position.after;
  for (const { sequenceNumber } of records) {
    if (last !== undefined && sequenceNumber <= last) {
      report('numbers', `number ${sequenceNumber} comes after ${last}`);
    } else if (last !== undefined && sequenceNumber > last + 1) {
      gaps.push({ from: last + 1, to: sequenceNumber - 1 });
    }
    last = sequenceNumber;
  }
  if (last !== undefined && head < last) report('numbers', `head ${head} is lower than number ${last}`);
  if (cursor === position.cursor && records.length > 0) report('cursor-stands-still', 'the cursor did not advance');
  return {
    records,
    cursor,
    head,
    hasMore: hasMore || (last !== undefined && last < head),
    gaps: withoutNamed(gaps, namedNumbers(page.records)),
  };
}

/** The last page need not have a cursor, and the `feedCursor` of the first page counts, as `position` has it. @throws {FeedFault} when it is not a page */
export function readSnapshotPage(
  json: unknown,
  position: { readonly cursor: string | null; readonly feedCursor: string | null },
  report: Report,
): SnapshotPage {
  const page = asPage(json);
  const { cursor, hasMore } = page;
  const feedCursor = position.feedCursor ?? page.feedCursor;
  if (!isCursor(feedCursor)) throw new FeedFault('page', 'the snapshot has no feedCursor');
  if (typeof hasMore !== 'boolean') throw new FeedFault('page', 'the snapshot has no hasMore');
  if (hasMore && !isCursor(cursor)) throw new FeedFault('page', 'the snapshot has more, but no cursor');
  if (hasMore && cursor === position.cursor) {
    throw new FeedFault('cursor-stands-still', 'the cursor of the snapshot did not advance');
  }
  return { records: numbered(page.records, report), feedCursor, cursor: hasMore && isCursor(cursor) ? cursor : null };
}

export function namedNumbers(records: readonly unknown[]): ReadonlySet<number> {
  return new Set(records.filter(isRecord).flatMap(redactedNumbers));
}

export function withoutNamed(gaps: readonly Gap[], named: ReadonlySet<number>): readonly Gap[] {
  const sorted = Float64Array.from(named).sort();
  return gaps.flatMap((gap) => {
    const left: Gap[] = [];
    let { from } = gap;
    for (let i = firstFrom(sorted, gap.from); i < sorted.length; i += 1) {
      const number = sorted[i] ?? gap.to;
      if (number > gap.to) break;
      if (number > from) left.push({ from, to: number - 1 });
      from = number + 1;
    }
    if (from <= gap.to) left.push({ from, to: gap.to });
    return left;
  });
}

function firstFrom(sorted: Float64Array, number: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? number) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function describeGap({ from, to }: Gap): string {
  return from === to ? `number ${from} is missing` : `the numbers ${from} to ${to} are missing`;
}

function asPage(json: unknown): Record<string, unknown> & { readonly records: readonly unknown[] } {
  if (!isRecord(json) || !Array.isArray(json.records))
    throw new FeedFault('page', 'the answer is not a page of records');
  return { ...json, records: json.records };
}

function numbered(records: readonly unknown[], report: Report): FeedRecord[] {
  const found: FeedRecord[] = [];
  for (const record of records) {
    const sequenceNumber = isRecord(record) ? sequenceNumberOf(record) : undefined;
    if (isRecord(record) && sequenceNumber !== undefined) found.push({ sequenceNumber, record });
    else report('numbers', 'an item is not a record, or has no sequenceNumber');
  }
  return found;
}

function isCursor(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CURSOR && !value.includes('\0');
}

interface PageRequest extends OutboundRequest {
  readonly cursor: string | null;
  readonly limit?: number | undefined;
}

/** Requests a page of a feed or snapshot. @throws {FeedFault} `cursor-refused`; {OutboundError} */
export async function askPage(client: Pick<OutboundClient, 'getJson'>, request: PageRequest): Promise<OutboundAnswer> {
  const { cursor, limit, ...asked } = request;
  const url = new URL(asked.url);
  if (limit !== undefined) url.searchParams.set('limit', String(limit));
  if (cursor !== null) url.searchParams.set('cursor', cursor);
  try {
    return await client.getJson({ ...asked, url: url.href });
  } catch (error) {
    if (cursor !== null && error instanceof OutboundError && (error.status === 400 || error.status === 410)) {
      const message = `the cursor is refused with status ${error.status}${detailOf(error)}`;
      throw new FeedFault('cursor-refused', message, error.status === 410 || namesCursor(error.problem));
    }
    throw error;
  }
}

function namesCursor(problem: unknown): boolean {
  if (!isRecord(problem)) return false;
  const { type, invalidParams } = problem;
  if (typeof type === 'string' && /ongeldige-cursor\/?$/.test(type)) return true;
  return Array.isArray(invalidParams) && invalidParams.some((param) => isRecord(param) && param.name === 'cursor');
}

const MAX_DETAIL = 500;

export function detailOf({ problem }: OutboundError): string {
  const detail = isRecord(problem) ? problem.detail : undefined;
  return typeof detail === 'string' ? `: ${detail.slice(0, MAX_DETAIL)}` : '';
}

/** Progress through pages, of constant size: a faulty feed can be circular or endless. */
interface ReadingProgress {
  /** An earlier cursor; the distance to the next one doubles (Brent's cycle detection). */
  readonly checkpoint: string | null;
  readonly steps: number;
  readonly span: number;
  /** Consecutive pages without a record, with more to come. */
  readonly empty: number;
  /** Records of the snapshot, and the highest number among them. */
  readonly records: number;
  readonly highest: number;
}

export const NO_PROGRESS: ReadingProgress = { checkpoint: null, steps: 0, span: 1, empty: 0, records: 0, highest: 0 };

/** Maximum of pages without a record but with more to come: an unfiltered feed has no reason for any. */
const MAX_EMPTY = 200;

/** Of a page that is not the last. @param maxRecords of a snapshot; absent: of a feed @throws {FeedFault} `cursor-circle`, `snapshot-endless` */
export function notePage(
  before: ReadingProgress,
  cursor: string,
  page: readonly FeedRecord[],
  maxRecords?: number,
): ReadingProgress {
  if (cursor === before.checkpoint) throw new FeedFault('cursor-circle', 'its cursors come back to where they were');
  const empty = page.length === 0 ? before.empty + 1 : 0;
  if (empty > MAX_EMPTY) {
    const code = maxRecords === undefined ? 'cursor-circle' : 'snapshot-endless';
    throw new FeedFault(code, `${empty} consecutive pages have no records, although there are more`);
  }
  const moves = before.checkpoint === null || before.steps + 1 >= before.span;
  const position = moves
    ? { checkpoint: cursor, steps: 0, span: before.span * 2 }
    : { checkpoint: before.checkpoint, steps: before.steps + 1, span: before.span };
  if (maxRecords === undefined) return { ...position, empty, records: 0, highest: 0 };
  const records = before.records + page.length;
  const highest = page.reduce((most, { sequenceNumber }) => Math.max(most, sequenceNumber), before.highest);
  // A snapshot has each resource once, under the record that created it, which has a number of its own.
  if (records > highest) {
    throw new FeedFault(
      'snapshot-endless',
      `the snapshot has ${records} records, and its highest number is ${highest}`,
    );
  }
  if (records > maxRecords) throw new FeedFault('snapshot-endless', `the snapshot has more than ${maxRecords} records`);
  return { ...position, empty, records, highest };
}

export function toProgress(value: unknown): ReadingProgress {
  if (!isRecord(value)) return NO_PROGRESS;
  const numbers = Object.entries(value).filter(([, saved]) => typeof saved === 'number');
  const checkpoint = typeof value.checkpoint === 'string' ? value.checkpoint : null;
  return { ...NO_PROGRESS, ...Object.fromEntries(numbers), checkpoint };
}
