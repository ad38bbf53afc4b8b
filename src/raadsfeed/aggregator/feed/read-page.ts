/** Reads the next page of a source: of its history, its snapshot or its feed. */
import {
  askPage,
  describeGap,
  type FeedPage,
  type FeedRecord,
  namedNumbers,
  notePage,
  type Report,
  readFeedPage,
  readSnapshotPage,
  toProgress,
  withoutNamed,
} from '../../../lib/feed/read-page.ts';
import { readResource } from '../../../lib/feed/resource.ts';
import { FeedFault } from '../../../lib/feed/service-document.ts';
import type { OutboundAnswer } from '../../../lib/outbound/outbound-client.ts';
import type { Dependencies } from '../dependencies.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';
import { markSeen, readTaken, type TakenRecord } from '../store/comparison.ts';
import { addIssues, saveRefusals } from '../store/issues.ts';
import type { SourceChanges } from '../store/leased-source.ts';
import type { OwnedOrganisation } from '../store/organisations.ts';
import { checkPage } from './judge-page.ts';
import type { RecordContext } from './judge-record.ts';
import { carryOutRedactions, isOf, missedRedactions, numbersIn, publishFrom } from './redactions.ts';

export interface PageOutcome {
  /** `stuck`: the source announces more but returns nothing. */
  readonly state: 'more' | 'head' | 'stuck';
  readonly read: number;
  readonly published: number;
  readonly refused: number;
  readonly freshForMs: number;
}

type ChangedAnswer = Extract<OutboundAnswer, { readonly changed: true }>;

/** Pages of several sources are in memory at once. */
const MAX_LIMIT = 1000;
const MAX_AHEAD = 100;

export interface PageDependencies extends Dependencies {
  readonly organisations: readonly OwnedOrganisation[];
  readonly signal: AbortSignal;
  readonly tolerant: boolean;
}

const fail: Report = (code, message) => {
  throw new FeedFault(code, message);
};

/**
 * Reads, checks and publishes one page. Its redactions are carried out even when the rest is invalid.
 * @throws {FeedFault} {OutboundError} {LeaseLostError}
 */
export async function readPage(lease: Lease, deps: PageDependencies): Promise<PageOutcome> {
  const { phase, feedUrl, snapshotUrl, snapshotCursor, historyCursor, cursor, etag } = lease.source;
  const { url, at, take } = {
    snapshot: { url: snapshotUrl, at: snapshotCursor, take: takeSnapshot },
    history: { url: feedUrl, at: historyCursor, take: takeHistory },
    feed: { url: feedUrl, at: cursor, take: takeFeed },
  }[phase];
  const known = phase === 'feed' ? (etag ?? undefined) : undefined;
  const answer = await ask(lease, url, at, deps, known);
  if (!answer.changed) {
    if (known === undefined) throw new FeedFault('page', 'the source answers 304 to a request without If-None-Match');
    return { state: 'head', read: 0, published: 0, refused: 0, freshForMs: answer.freshForMs };
  }
  try {
    return await take(lease, answer, deps);
  } catch (error) {
    // Retried whoever is at fault. After a lost lease or a shutdown the page is read again.
    if (!(error instanceof LeaseLostError) && !deps.signal.aborted) {
      await carryOutRedactions(lease, answer.json, contextOf(lease.source, deps), deps);
    }
    throw error;
  }
}

function ask(
  { source }: Lease,
  url: string | null,
  cursor: string | null,
  { client, signal }: PageDependencies,
  etag?: string,
): Promise<OutboundAnswer> {
  return askPage(client, { url: url ?? '', cursor, limit: source.pageSize, etag, redirects: 'same-host', signal });
}

async function takeSnapshot(lease: Lease, answer: ChangedAnswer, deps: PageDependencies): Promise<PageOutcome> {
  const { snapshotCursor, snapshotFeedCursor, progress } = lease.source;
  const page = readSnapshotPage(answer.json, { cursor: snapshotCursor, feedCursor: snapshotFeedCursor }, fail);
  const { records, cursor, feedCursor } = page;
  const isLast = cursor === null;
  const position: SourceChanges = {
    phase: isLast ? 'feed' : 'snapshot',
    snapshotCursor: cursor,
    snapshotFeedCursor: isLast ? null : feedCursor,
    cursor: isLast ? feedCursor : null,
    pageSize: nextPageSize(lease.source, answer, deps),
    progress: isLast ? null : notePage(toProgress(progress), cursor, records, deps.maxSnapshotRecords),
  };
  return { state: 'more', freshForMs: 0, ...(await publishPage(lease, records, position, deps)) };
}

async function takeFeed(lease: Lease, answer: ChangedAnswer, deps: PageDependencies): Promise<PageOutcome> {
  const { source } = lease;
  const { cursor: at, lastNumber, pageSize: limit } = source;
  const page = readFeedPage(answer.json, { cursor: at, after: lastNumber ?? undefined }, fail);
  const { records, cursor, head, hasMore } = page;
  const stuck = hasMore && cursor === at;
  await explainGaps(lease, page, deps);
  const pageSize = nextPageSize(source, answer, deps);
  // Numbers ascend, so a page with records is always progress.
  const isEmpty = hasMore && !stuck && records.length === 0;
  const position: SourceChanges = {
    cursor,
    // An ETag belongs to one address: that of the end of the feed, which is requested again unchanged.
    etag: !hasMore && cursor === at && pageSize === limit ? (answer.etag ?? null) : null,
    lastNumber: records.at(-1)?.sequenceNumber ?? lastNumber ?? (hasMore ? null : head),
    pageSize,
    progress: isEmpty ? notePage(toProgress(source.progress), cursor, records) : null,
    head,
  };
  const state = stuck ? 'stuck' : hasMore ? 'more' : 'head';
  return { state, freshForMs: answer.freshForMs, ...(await publishPage(lease, records, position, deps)) };
}

/**
 * Numbers may be absent where a redaction names them: on the same page or a later one, whose redactions need not wait.
 * @throws {FeedFault} `numbers`, when no redaction names them
 */
async function explainGaps(lease: Lease, page: FeedPage, deps: PageDependencies): Promise<void> {
  let { gaps, cursor, hasMore } = page;
  for (let pages = 0; gaps.length > 0 && hasMore && pages < MAX_AHEAD; pages += 1) {
    const answer = await ask(lease, lease.source.feedUrl, cursor, deps);
    const json = answer.changed && answer.json;
    await carryOutRedactions(lease, json, contextOf(lease.source, deps), deps);
    const ahead = readFeedPage(json, { cursor, after: undefined }, () => undefined);
    gaps = withoutNamed(gaps, namedNumbers(ahead.records.map(({ record }) => record)));
    hasMore = ahead.hasMore && ahead.cursor !== cursor;
    ({ cursor } = ahead);
  }
  const [gap] = gaps;
  if (gap !== undefined) throw new FeedFault('numbers', `${describeGap(gap)}, and no redaction names it`);
}

/**
 * Takes the redactions from a page of the history before a new snapshot, because those after the lost cursor are nowhere else. The snapshot then
 * restores resources that were published again.
 */
async function takeHistory(lease: Lease, answer: ChangedAnswer, deps: PageDependencies): Promise<PageOutcome> {
  const { source } = lease;
  const { historyCursor: at, historyMissed, historyAfter } = source;
  // Gaps are checked when the feed is read for its content.
  const page = readFeedPage(answer.json, { cursor: at, after: undefined }, () => undefined);
  const { records, cursor, hasMore, head } = page;
  const redactions = records.map(({ record }) => record).filter(({ op }) => op === 'redact');
  const numbers = new Set([...records.map(({ sequenceNumber }) => sequenceNumber), ...numbersIn(redactions)]);
  const taken = await readTaken(deps.pool, source, [...numbers]);
  const historyJoins = joinsOn(source, records, taken);
  const isOver = !hasMore || (records.length === 0 && cursor === at);
  // Numbers taken before may be past the end of the source's present history.
  const reached = historyJoins === true && (historyAfter ?? 0) <= head;
  const position: SourceChanges = isOver
    ? afterHistory(cursor, historyMissed || !reached)
    : { historyCursor: cursor, historyJoins, progress: notePage(toProgress(source.progress), cursor, records) };
  const read = records.length;
  const published = await publishFrom(lease, missedRedactions(redactions, taken, contextOf(source, deps)), deps, {
    position: { ...position, pageSize: nextPageSize(source, answer, deps) },
    counts: { read },
  });
  return { state: 'more', read, published, refused: 0, freshForMs: 0 };
}

/** @param cursor the end of the history; `null`: it was not read, so the `feedCursor` of the snapshot counts */
export function afterHistory(cursor: string | null, historyMissed: boolean): SourceChanges {
  const begin = { historyCursor: null, historyJoins: null, progress: null };
  return { phase: 'snapshot', snapshotFeedCursor: cursor, historyMissed, ...begin };
}

/** Whether this is the history that was read before: one number that now belongs to another resource proves it is not. */
function joinsOn(
  { historyJoins, historyAfter }: Source,
  records: readonly FeedRecord[],
  taken: ReadonlyMap<number, TakenRecord>,
): boolean | null {
  // Read from the old cursor itself, it needs no number.
  if (historyAfter === null) return historyJoins === true;
  let joins = historyJoins;
  for (const { sequenceNumber, record } of records) {
    const known = taken.get(sequenceNumber);
    if (known === undefined || sequenceNumber > historyAfter) continue;
    if (!isOf(record, known)) return false;
    joins ??= true;
  }
  return joins;
}

/** Pages shrink after a response that was too large, and grow again while twice as much would have fitted. */
function nextPageSize({ pageSize }: Source, { bytes }: ChangedAnswer, { maxAnswerBytes }: Dependencies) {
  return bytes * 2 > maxAnswerBytes ? pageSize : Math.min(MAX_LIMIT, pageSize * 2);
}

function contextOf({ feedUrl, named }: Source, deps: PageDependencies): RecordContext {
  const { organisations, ownFeedUrl, validateDraft: validate } = deps;
  const owned = new Map(organisations.map(({ organisatiecode, isPresent }) => [organisatiecode, isPresent]));
  return {
    feedUrl: feedUrl ?? '',
    ownFeedUrl: ownFeedUrl(),
    validate,
    owns: (code) => owned.has(code),
    takes: (code) => {
      if (owned.get(code) === true) return 'yes';
      // An organisation that the operator left out of this source counts as another's.
      return named.includes(code) ? 'elsewhere' : 'unnamed';
    },
  };
}

/** Publishes records and the new position in one transaction. @throws {LeaseLostError} nothing was published */
async function publishPage(
  lease: Lease,
  records: readonly FeedRecord[],
  position: SourceChanges,
  deps: PageDependencies,
): Promise<Pick<PageOutcome, 'read' | 'published' | 'refused'>> {
  const { source } = lease;
  const { id, isComparing, hashMatches: matched } = source;
  const unnamed = records
    .map(({ record }) => record)
    .filter((record) => record.op === 'redact' && readResource(record) === undefined);
  const taken = unnamed.length === 0 ? new Map() : await readTaken(deps.pool, source, numbersIn(unnamed));
  const page = await checkPage(records, { ...contextOf(source, deps), hashMatches: matched, taken });
  const { changes, issues, refused, refusals, present, hashMatches } = page;
  // The page may have been damaged in transit: its other records are published alone only if it stays invalid.
  if (refused > 0 && !deps.tolerant) {
    throw new FeedFault('records', `${refused} records are refused: ${issues[0]?.detail ?? ''}`);
  }
  const read = records.length;
  const published = await publishFrom(lease, changes, deps, {
    position: { ...position, hashMatches },
    counts: { read, refused },
    also: async (db) => {
      if (isComparing) await markSeen(db, id, present);
      await saveRefusals(db, id, refusals);
      await addIssues(db, id, issues, deps.clock.now());
    },
  });
  return { read, published, refused };
}
