/** Reads the next page of a source: of its snapshot, of its history for redactions that were missed, or of its feed. */

import { transaction } from '../../../database/transaction.ts';
import { askPage, FeedFault } from '../../../lib/feed-client/client.ts';
import {
  type FeedRecord,
  NO_PROGRESS,
  notePage,
  type Report,
  readFeedPage,
  readSnapshotPage,
  toProgress,
} from '../../../lib/feed-client/page.ts';
import type { OutboundAnswer } from '../../../lib/outbound/outbound-client.ts';
import { resourceKey } from '../../../raadsfeed/domain/resource.ts';
import { publishBatch } from '../../../raadsfeed/store/publish.ts';
import type { AggregatorDependencies } from '../dependencies.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';
import { markSeen, readTaken } from '../store/comparison.ts';
import { addIssues, saveRefusals } from '../store/issues.ts';
import { type SourceChanges, updateSource } from '../store/leased-source.ts';
import type { OwnedOrganisation } from '../store/organisations.ts';
import { explainGaps } from './explain-gaps.ts';
import type { FollowOptions } from './follow-source.ts';
import { type CheckedPage, checkPage } from './judge-page.ts';
import { type Ownership, resourceOf } from './judge-record.ts';
import { readHistoryPage } from './read-history.ts';
import { carryOutRedactions, numbersIn, rewriteRedactedFiles } from './redactions.ts';

/** The result of one page. */
export interface PageOutcome {
  /** `stuck`: the source says that there is more, and gives nothing. */
  readonly state: 'more' | 'head' | 'stuck';
  /** Whether the position in the source was stored anew. */
  readonly moved: boolean;
  readonly read: number;
  readonly published: number;
  readonly refused: number;
  readonly freshForMs: number;
  /** Pages that were requested of the source for it. */
  readonly pages: number;
}

type ChangedAnswer = Extract<OutboundAnswer, { readonly changed: true }>;

const UNCHANGED = { moved: false, read: 0, published: 0, refused: 0, pages: 1 } as const;
/** Records of a page at most: pages of several sources are in memory at once. */
const MAX_LIMIT = 1000;

export interface PageDependencies extends AggregatorDependencies {
  /** Organisations that the document of this source names, and those that are taken from it. */
  readonly organisations: readonly OwnedOrganisation[];
  readonly named: ReadonlySet<string>;
  readonly options: FollowOptions;
}

/**
 * Reads one page, checks it and publishes it. The redactions on it are carried out even when the rest is invalid.
 * @param pagesLeft of this run; a page with gaps takes several
 * @throws {FeedFault} {OutboundError} {LeaseLostError}
 */
export async function readPage(lease: Lease, deps: PageDependencies, pagesLeft: number): Promise<PageOutcome> {
  const { phase } = lease.source;
  if (phase === 'stand') return await readSnapshot(lease, deps);
  return phase === 'historie' ? await readHistoryPage(lease, deps) : await readFeed(lease, deps, pagesLeft);
}

async function readSnapshot(lease: Lease, deps: PageDependencies): Promise<PageOutcome> {
  const { source } = lease;
  const answer = await askWhole(source.snapshotUrl, source.snapshotCursor, source, deps);
  return await redactingOnError(lease, answer.json, deps, () => takeSnapshot(lease, answer, deps));
}

/** Asks for a page that is not known yet. */
export async function askWhole(
  url: string | null,
  cursor: string | null,
  { pageSize: limit }: Source,
  { client, options: { signal } }: PageDependencies,
): Promise<ChangedAnswer> {
  const answer = await askPage(client, { url: url ?? '', cursor, limit, redirects: 'same-host', signal });
  if (!answer.changed) throw new FeedFault('page', 'the source answers 304 to a request without If-None-Match');
  return answer;
}

async function takeSnapshot(lease: Lease, answer: ChangedAnswer, deps: PageDependencies): Promise<PageOutcome> {
  const { source } = lease;
  const { snapshotCursor, snapshotFeedCursor, pageSize: limit } = source;
  const { page, records, cursor, feedCursor } = await failOnFirstFault(async (report) => {
    const read = readSnapshotPage(answer.json, { cursor: snapshotCursor, feedCursor: snapshotFeedCursor }, report);
    return { ...read, page: await checkRecords(lease, read.records, deps) };
  });
  const numbers = records.map(({ sequenceNumber }) => sequenceNumber);
  const isLast = cursor === null;
  const maxRecords = deps.maxSnapshotRecords;
  const position: SourceChanges = {
    phase: isLast ? (source.mustReadHistory ? 'historie' : 'feed') : 'stand',
    snapshotCursor: cursor,
    // The history is read in between: until then the cursor of the feed is kept.
    snapshotFeedCursor: isLast && !source.mustReadHistory ? null : feedCursor,
    cursor: isLast && !source.mustReadHistory ? feedCursor : null,
    etag: null,
    lastNumber: null,
    pageSize: nextPageSize(limit, answer.bytes, deps),
    progress: isLast ? null : notePage(toProgress(source.progress), { cursor, numbers, isSnapshot: true, maxRecords }),
    hashMatches: page.hashMatches,
  };
  const published = await publishPage(lease, { ...page, read: records.length }, position, deps);
  return {
    state: 'more',
    moved: true,
    read: records.length,
    published,
    refused: page.refused,
    freshForMs: 0,
    pages: 1,
  };
}

async function readFeed(lease: Lease, deps: PageDependencies, pagesLeft: number): Promise<PageOutcome> {
  const { source } = lease;
  const { feedUrl, cursor: at, pageSize: limit } = source;
  if (feedUrl === null || at === null) throw new TypeError('a feed is read without an address or cursor');
  const { signal } = deps.options;
  const etag = source.etag ?? undefined;
  const answer = await askPage(deps.client, { url: feedUrl, cursor: at, limit, etag, redirects: 'same-host', signal });
  if (!answer.changed) return { ...UNCHANGED, state: 'head', freshForMs: answer.freshForMs };
  return await redactingOnError(lease, answer.json, deps, () => takeFeed(lease, { at, answer, pagesLeft }, deps));
}

async function takeFeed(
  lease: Lease,
  { at, answer, pagesLeft }: { readonly at: string; readonly answer: ChangedAnswer; readonly pagesLeft: number },
  deps: PageDependencies,
): Promise<PageOutcome> {
  const { source } = lease;
  const { pageSize: limit, lastNumber } = source;
  const { freshForMs } = answer;
  const { page, records, cursor, head, hasMore, ahead, pages } = await failOnFirstFault(async (report) => {
    const read = readFeedPage(answer.json, { cursor: at, after: lastNumber ?? undefined }, report);
    const explained =
      read.gaps.length === 0
        ? { pages: 0, ahead: null }
        : await explainGaps(lease, read, Math.max(1, pagesLeft - 1), deps);
    const isEmpty = read.records.length === 0 || explained.ahead !== null;
    return { ...read, ...explained, page: isEmpty ? undefined : await checkRecords(lease, read.records, deps) };
  });
  if (ahead !== null) {
    await updateSource(deps.pool, lease, { lookAhead: ahead, head });
    return { ...UNCHANGED, moved: true, state: 'more', freshForMs, pages: 1 + pages };
  }
  const atEnd = !hasMore && cursor === at;
  const pageSize = nextPageSize(limit, answer.bytes, deps);
  const position: SourceChanges = {
    cursor,
    // An ETag belongs to one address: that of the end of the feed, which is requested again unchanged.
    etag: atEnd && pageSize === limit ? (answer.etag ?? null) : null,
    lastNumber: records.at(-1)?.sequenceNumber ?? lastNumber ?? (hasMore ? null : head),
    pageSize,
    progress: hasMore && cursor !== at ? progressAfter(source, cursor, records, deps) : null,
    lookAhead: null,
    hashMatches: page?.hashMatches ?? source.hashMatches,
    head,
  };
  if (page === undefined) {
    const isSame =
      cursor === at &&
      position.etag === source.etag &&
      position.lastNumber === lastNumber &&
      position.pageSize === limit;
    const stuck = hasMore && cursor === at;
    // How far behind we are is stored, also when nothing moves.
    if (!isSame || stuck) await updateSource(deps.pool, lease, position);
    return { ...UNCHANGED, moved: !isSame, state: stuck ? 'stuck' : hasMore ? 'more' : 'head', freshForMs };
  }
  const published = await publishPage(lease, { ...page, read: records.length }, position, deps);
  const outcome = { moved: true, read: records.length, published, refused: page.refused, freshForMs, pages: 1 + pages };
  return { ...outcome, state: hasMore ? 'more' : 'head' };
}

/** The progress after a page of the feed; a page with records is always progress, since their numbers ascend. */
function progressAfter(source: Source, cursor: string, records: readonly FeedRecord[], deps: PageDependencies) {
  if (records.length > 0) return NO_PROGRESS;
  const page = { cursor, numbers: [], isSnapshot: false, maxRecords: deps.maxSnapshotRecords };
  return notePage(toProgress(source.progress), page);
}

/** Reads a response, and throws the first fault that is reported. @throws {FeedFault} */
async function failOnFirstFault<T>(read: (report: Report) => Promise<T>): Promise<T> {
  const faults: FeedFault[] = [];
  const found = await read((code, message) => faults.push(new FeedFault(code, message))).catch((error: unknown) => {
    throw faults[0] ?? error;
  });
  const [first] = faults;
  if (first !== undefined) throw first;
  return found;
}

/**
 * Processes a response; when that fails, through the source or through us, the redactions in it are carried out all the same. Not when
 * the lease was lost, or this process stops: then they are read again.
 */
export async function redactingOnError<T>(
  lease: Lease,
  json: unknown,
  deps: PageDependencies,
  take: () => Promise<T>,
): Promise<T> {
  try {
    return await take();
  } catch (error) {
    if (!(error instanceof LeaseLostError) && !deps.options.signal.aborted) {
      await carryOutRedactions(lease, json, deps);
    }
    throw error;
  }
}

async function checkRecords(
  lease: Lease,
  records: readonly FeedRecord[],
  deps: PageDependencies,
): Promise<CheckedPage> {
  const { source } = lease;
  const { organisations, named, options } = deps;
  const owned = new Map(organisations.map((organisation) => [organisation.organisatiecode, organisation]));
  const takes = (code: string): Ownership => {
    if (owned.get(code)?.aanwezig === true) return 'yes';
    // An organisation that the operator left out of this source counts as another's.
    return named.has(code) ? 'elsewhere' : 'unnamed';
  };
  const unnamed = records
    .map(({ record }) => record)
    .filter((record) => record.op === 'redact' && resourceOf(record) === undefined);
  const page = await checkPage(records, {
    feedUrl: source.feedUrl ?? '',
    ownFeedUrl: deps.ownFeedUrl(),
    validate: deps.validateDraft,
    ids: deps.ids,
    hashMatches: source.hashMatches,
    taken: unnamed.length === 0 ? new Map() : await readTaken(deps.pool, source.feedUrl ?? '', numbersIn(unnamed)),
    takes,
    owns: (code) => owned.has(code),
  });
  // The page may have been damaged in transit: only when it stays invalid are the other records published without these.
  if (page.refused > 0 && !options.tolerant) {
    throw new FeedFault('records', `${page.refused} records are refused: ${page.issues[0]?.detail ?? ''}`);
  }
  return page;
}

/** The page size is reduced after a response that was too large; it grows again while twice as much would have fitted. */
export function nextPageSize(limit: number, bytes: number, { maxAnswerBytes }: AggregatorDependencies): number {
  return bytes * 2 > maxAnswerBytes ? limit : Math.min(MAX_LIMIT, limit * 2);
}

/**
 * Publishes a page and stores how far the source was read, in one transaction.
 * @returns how many records were published
 * @throws {LeaseLostError} and then nothing was published
 */
export async function publishPage(
  lease: Lease,
  page: CheckedPage & { readonly read: number },
  position: SourceChanges,
  { pool, clock, log, proof }: Pick<AggregatorDependencies, 'pool' | 'clock' | 'log' | 'proof'>,
): Promise<number> {
  const { changes, issues, refused, refusedKeys, read, present } = page;
  const { id, isComparing } = lease.source;
  const now = clock.now();
  const outcomes = await transaction(pool, async (client) => {
    const found = changes.length === 0 ? [] : await publishBatch(client, changes, now, proof);
    if (isComparing) await markSeen(client, id, present);
    const accepted = changes.map(({ resourceType, resource }) => resourceKey(resourceType, resource));
    await saveRefusals(client, id, { refused: refusedKeys, accepted: withoutLater(accepted, refusedKeys) });
    await addIssues(client, id, issues, now);
    const published = found.filter((outcome) => outcome !== 'no-op').length;
    // Last, in the order in which every writer takes its locks. It also checks the lease.
    await updateSource(client, lease, position, { read, published, refused });
    return found;
  });
  // A failure is retried at an interval; the page stays published.
  if (changes.some(({ op }, i) => op === 'redact' && outcomes[i] !== 'no-op'))
    await rewriteRedactedFiles({ pool, log });
  return outcomes.filter((outcome) => outcome !== 'no-op').length;
}

/** Without resources of which a later record on the same page was refused. */
function withoutLater(accepted: readonly string[], refused: readonly string[]): readonly string[] {
  const wrong = new Set(refused);
  return wrong.size === 0 ? accepted : accepted.filter((key) => !wrong.has(key));
}
