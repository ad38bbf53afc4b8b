/** Follows a feed for `feed follow`: its snapshot, then the feed. Faults are reported, and following continues. */

import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  askPage,
  describeGap,
  detailOf,
  type FeedRecord,
  type Gap,
  NO_PROGRESS,
  namedNumbers,
  notePage,
  readFeedPage,
  readSnapshotPage,
  withoutNamed,
} from '../../../lib/feed/read-page.ts';
import { judgeHash } from '../../../lib/feed/record.ts';
import { discover, type FeedAddresses, FeedFault, readAddresses } from '../../../lib/feed/service-document.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { unwritable } from '../../../lib/json/parse-untrusted.ts';
import type { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { OutboundError } from '../../../lib/outbound/outbound-error.ts';
import { backoffMs } from '../../../lib/time.ts';

/** How far a follower is; saved between runs. */
export interface FollowState extends FeedAddresses {
  readonly service: string;
  readonly phase: 'snapshot' | 'feed';
  /** A cursor in the snapshot or the feed, depending on `phase`. */
  readonly cursor: string | null;
  readonly feedCursor: string | null;
  readonly lastNumber: number | null;
}

interface Patience {
  readonly client: OutboundClient;
  readonly signal: AbortSignal;
  readonly waiting: (reason: string, ms: number) => void;
}

export interface FollowOptions extends Patience {
  readonly once: boolean;
  /** Handles a page; when it returns, `state` may be saved. */
  readonly page: (records: readonly FeedRecord['record'][], state: FollowState) => Promise<void>;
  readonly fault: (text: string) => void;
}

const DEFAULT_WAIT_MS = 5000;
const MAX_RECORDS = 100_000_000;

/** Finds a feed by the address of its service document, or by a host with the well-known address. @throws {FeedFault} */
export async function findFeed(address: string, patience: Patience): Promise<FollowState> {
  const { client, signal } = patience;
  const { serviceUrl, document } = await discover(
    (url) => askPatiently(url, () => client.getJson({ url, signal, redirects: 'any-host' }), patience),
    address,
    readAddresses,
  );
  return { service: serviceUrl, ...document, phase: 'snapshot', cursor: null, feedCursor: null, lastNumber: null };
}

/** A page is handled before its cursor is saved: after a crash records may be repeated, none is missed. @throws {FeedFault} or the signal's reason */
export async function followFeed(begin: FollowState, options: FollowOptions): Promise<void> {
  const { client, fault, signal } = options;
  const judge = recordJudge(fault);
  let state = begin;
  let etag: string | undefined;
  let progress = NO_PROGRESS;
  let gaps: readonly Gap[] = [];
  for (;;) {
    const { phase, cursor } = state;
    const url = phase === 'snapshot' ? state.snapshotUrl : state.feedUrl;
    const request = { url, cursor, etag, redirects: 'any-host', signal } as const;
    const answer = await askPatiently(url, () => askPage(client, request), options);
    etag = undefined;
    if (answer.changed) {
      const { records, hasMore, ...next } = advance(state, answer.json, fault);
      for (const record of records) judge(record);
      const written = records.flatMap((record) => writablePart(record, fault));
      await options.page(written, next.state);
      // A redaction may explain an earlier gap.
      gaps = withoutNamed([...gaps, ...next.gaps], namedNumbers(records.map(({ record }) => record)));
      ({ state } = next);
      const moved = state.cursor !== cursor || state.phase !== phase;
      if (hasMore && !moved) throw new FeedFault('cursor-stands-still', `${url} announces more, but does not advance`);
      const isOfSnapshot = phase === 'snapshot';
      progress = hasMore
        ? notePage(progress, state.cursor ?? '', records, isOfSnapshot ? MAX_RECORDS : undefined)
        : NO_PROGRESS;
      if (isOfSnapshot || hasMore) continue;
      if (!moved) etag = answer.etag;
    }
    for (const gap of gaps) fault(describeGap(gap));
    gaps = [];
    if (options.once) return;
    await sleep(Math.max(1000, answer.freshForMs === 0 ? DEFAULT_WAIT_MS : answer.freshForMs), undefined, { signal });
  }
}

/**
 * The members of a record that can be written as they were read; the others are reported. A redaction must not be lost because of an unknown member;
 * an upsert whose data cannot be written is left out.
 */
function writablePart({ sequenceNumber, record }: FeedRecord, fault: (text: string) => void): FeedRecord['record'][] {
  const members = Object.entries(record).filter(([name, member]) => {
    const wrong = unwritable(member);
    if (wrong !== undefined) fault(`number ${sequenceNumber}: ${name} ${wrong}; it is left out`);
    return wrong === undefined;
  });
  const part = Object.fromEntries(members);
  return record.data !== undefined && part.data === undefined ? [] : [part];
}

function advance(state: FollowState, json: unknown, fault: (text: string) => void) {
  const report = (_code: unknown, message: string): void => fault(message);
  if (state.phase === 'snapshot') {
    const { records, cursor, feedCursor } = readSnapshotPage(json, state, report);
    const isLast = cursor === null;
    const position = isLast ? ({ phase: 'feed', cursor: feedCursor } as const) : { cursor };
    return { records, gaps: [], hasMore: !isLast, state: { ...state, ...position, feedCursor } };
  }
  const position = { cursor: state.cursor, after: state.lastNumber ?? undefined };
  const { records, cursor, head, hasMore, gaps } = readFeedPage(json, position, report);
  const lastNumber = records.at(-1)?.sequenceNumber ?? state.lastNumber;
  const saysEnd = isRecord(json) && json.hasMore === false;
  if (saysEnd && lastNumber !== null && lastNumber < head) fault(`claims to be at the end, but head is ${head}`);
  return { records, gaps, hasMore: hasMore && !saysEnd, state: { ...state, cursor, lastNumber } };
}

/** Reports faults of single records; a wrong hash only when other hashes of the feed match ours. */
function recordJudge(fault: FollowOptions['fault']): (record: FeedRecord) => void {
  let matched = false;
  return ({ sequenceNumber, record }) => {
    const { op, data, geredigeerdeSequenceNumbers } = record;
    if (op !== 'upsert') {
      if (data !== undefined || record.contentHash !== undefined)
        fault(`number ${sequenceNumber}: a ${String(op)} holds content`);
      if (op === 'redact' && !Array.isArray(geredigeerdeSequenceNumbers))
        fault(`number ${sequenceNumber}: a redact names no numbers`);
      return;
    }
    const verdict = judgeHash(record);
    if (verdict === undefined) fault(`number ${sequenceNumber}: an upsert has no data`);
    matched ||= verdict === 'matches';
    if (verdict === 'differs' && matched) fault(`number ${sequenceNumber}: its contentHash is not that of its data`);
  };
}

/** @returns `undefined` when the file does not exist @throws {Error} when it has other contents */
export async function readFollowState(file: string): Promise<FollowState | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (!isFollowState(value)) throw new Error(`${file} does not hold the state of a follower`);
  return value;
}

/** Atomic: a crash leaves the old state or the new one. */
export async function writeFollowState(file: string, state: FollowState): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, `${JSON.stringify(state)}\n`, { flush: true });
  await rename(draft, file);
}

function isFollowState(value: unknown): value is FollowState {
  if (!isRecord(value)) return false;
  const { service, feedUrl, snapshotUrl, phase, cursor, feedCursor, lastNumber } = value;
  return (
    [service, feedUrl, snapshotUrl].every((text) => typeof text === 'string') &&
    (phase === 'snapshot' || phase === 'feed') &&
    [cursor, feedCursor].every((text) => text === null || typeof text === 'string') &&
    (lastNumber === null || typeof lastNumber === 'number')
  );
}

const BACKOFF = { firstMs: 1000, maxMs: 300_000 };

/**
 * Retries while the feed is unavailable or busy, and waits at least `Retry-After`. A cursor that is refused without a reason is tried a second time.
 * @throws {FeedFault} when waiting would not help; or the signal's reason
 */
async function askPatiently<T>(url: string, call: () => Promise<T>, { signal, waiting }: Patience): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      const reason = mayPass(error, failures);
      if (reason === undefined) throw asFault(error, url);
      const ms = backoffMs(BACKOFF, failures, error instanceof OutboundError ? error.retryAfterMs : 0);
      waiting(`${url} ${reason}`, ms);
      await sleep(ms, undefined, { signal });
    }
  }
}

function mayPass(error: unknown, failures: number): string | undefined {
  if (error instanceof FeedFault) {
    return error.code === 'cursor-refused' && !error.certain && failures === 1 ? 'refuses the cursor' : undefined;
  }
  if (!(error instanceof OutboundError)) return undefined;
  const { code, status = 0, message } = error;
  if (code === 'status') return status === 429 || status >= 500 ? `answers ${status}` : undefined;
  return ['unreachable', 'timeout', 'broken-off'].includes(code) ? `cannot be reached: ${message}` : undefined;
}

function asFault(error: unknown, url: string): unknown {
  if (!(error instanceof OutboundError)) return error;
  const { status, message } = error;
  const text = status === undefined ? `${url}: ${message}` : `${url} answers ${status}${detailOf(error)}`;
  return new FeedFault('refused', text);
}
