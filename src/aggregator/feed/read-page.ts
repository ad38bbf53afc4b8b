/** Reads one page where a source stands: of its snapshot, of its history for redactions that were missed, or of its feed. */
import { askPage } from '../../feed-client/client.ts';
import { FeedFault } from '../../feed-client/feed-fault.ts';
import { type FeedRecord, type Report, readFeedPage, readSnapshotPage } from '../../feed-client/page.ts';
import { NO_PROGRESS, notePage, toProgress } from '../../feed-client/progress.ts';
import { transaction } from '../../kernel/database/transaction.ts';
import type { OutboundAnswer } from '../../kernel/outbound/outbound-client.ts';
import { resourceKey } from '../../raadsfeed/domain/resource.ts';
import { publishBatch } from '../../raadsfeed/store/publish-batch.ts';
import type { AggregatorNeeds } from '../dependencies.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';
import { markSeen, readTaken } from '../store/comparison.ts';
import { addIssues, noteRefused } from '../store/issues.ts';
import type { OwnedOrganisation } from '../store/organisations.ts';
import { type Position, saveProgress } from '../store/progress.ts';
import { type CheckedPage, checkPage } from './check-page.ts';
import { resourceOf, type Taken } from './check-record.ts';
import { explainGaps } from './explain-gaps.ts';
import type { TurnOptions } from './follow-source.ts';
import { readHistoryPage } from './read-history.ts';
import { carryOutRedactions, cleanFiles, numbersIn } from './redactions.ts';

/** What one page came to. */
export interface PageOutcome {
  /** `cannot-go-on`: the source says that there is more, and gives nothing. */
  readonly ends: 'more' | 'head' | 'cannot-go-on';
  /** Whether the place in the source moved. */
  readonly saved: boolean;
  readonly read: number;
  readonly published: number;
  readonly refused: number;
  readonly freshForMs: number;
  /** Pages that were asked of the source for it. */
  readonly pages: number;
}

type ChangedAnswer = Extract<OutboundAnswer, { readonly changed: true }>;

const UNCHANGED = { saved: false, read: 0, published: 0, refused: 0, pages: 1 } as const;
/** Records of a page at most: pages of several sources are in memory at once. */
const MAX_LIMIT = 1000;

export interface PageNeeds extends AggregatorNeeds {
  /** Organisations that the document of this source names, and those that are taken from it. */
  readonly organisations: readonly OwnedOrganisation[];
  readonly named: ReadonlySet<string>;
  readonly options: TurnOptions;
}

/**
 * Reads one page, judges it and publishes it. The redactions on it are carried out even when the rest cannot be believed.
 * @param pagesLeft of this turn; it may take several, and takes two where it must
 * @throws {FeedFault} {OutboundError} {LeaseLostError}
 */
export async function readPage(lease: Lease, needs: PageNeeds, pagesLeft: number): Promise<PageOutcome> {
  const { fase } = lease.source;
  if (fase === 'stand') return await readSnapshot(lease, needs);
  return fase === 'historie' ? await readHistoryPage(lease, needs) : await readFeed(lease, needs, pagesLeft);
}

/** The place of a source as it is, for what a page changes of it. */
export function positionOf(source: Source): Position {
  const { fase, vergelijken, standCursor, standFeedCursor, cursor, etag, laatsteNummer, paginagrootte } = source;
  const { historieLezen, historieCursor, historieSluitAan, historieGemist, voortgang, vooruit, hashKlopt } = source;
  return {
    ...{ fase, vergelijken, standCursor, standFeedCursor, cursor, etag, laatsteNummer, paginagrootte },
    ...{ historieLezen, historieCursor, historieSluitAan, historieGemist, voortgang, vooruit, hashKlopt },
  };
}

async function readSnapshot(lease: Lease, needs: PageNeeds): Promise<PageOutcome> {
  const { source } = lease;
  const { snapshotUrl, standCursor, paginagrootte: limit } = source;
  const { signal } = needs.options;
  const request = { url: snapshotUrl ?? '', cursor: standCursor, limit, redirects: 'same-host', signal } as const;
  const answer = await askPage(needs.client, request);
  if (!answer.changed) throw new FeedFault('page', 'not modified, and nothing was asked that could be');
  return await redactingOnError(lease, answer.json, needs, () => takeSnapshot(lease, answer, needs));
}

async function takeSnapshot(lease: Lease, answer: ChangedAnswer, needs: PageNeeds): Promise<PageOutcome> {
  const { source } = lease;
  const { standCursor, standFeedCursor, paginagrootte: limit } = source;
  const { page, records, cursor, feedCursor } = await believe(async (report) => {
    const read = readSnapshotPage(answer.json, { cursor: standCursor, feedCursor: standFeedCursor }, report);
    return { ...read, page: await check(lease, read.records, needs) };
  });
  const voortgang =
    cursor === null
      ? null
      : notePage(toProgress(source.voortgang), {
          cursor,
          numbers: records.map(({ sequenceNumber }) => sequenceNumber),
          isSnapshot: true,
          maxRecords: needs.maxSnapshotRecords,
        });
  const isLast = cursor === null;
  const position: Position = {
    ...positionOf(source),
    fase: isLast ? (source.historieLezen ? 'historie' : 'feed') : 'stand',
    standCursor: cursor,
    // The history is read between the two: until then it is kept where the feed goes on.
    standFeedCursor: isLast && !source.historieLezen ? null : feedCursor,
    cursor: isLast && !source.historieLezen ? feedCursor : null,
    etag: null,
    laatsteNummer: null,
    paginagrootte: larger(limit, answer.bytes, needs),
    voortgang,
    hashKlopt: page.hashKlopt,
  };
  const published = await publishPage(lease, { ...page, read: records.length }, { position }, needs);
  return { ends: 'more', saved: true, read: records.length, published, refused: page.refused, freshForMs: 0, pages: 1 };
}

async function readFeed(lease: Lease, needs: PageNeeds, pagesLeft: number): Promise<PageOutcome> {
  const { source } = lease;
  const { feedUrl, cursor: at, paginagrootte: limit } = source;
  if (feedUrl === null || at === null) throw new TypeError('a feed is read from a place that is not known');
  const { signal } = needs.options;
  const etag = source.etag ?? undefined;
  const answer = await askPage(needs.client, { url: feedUrl, cursor: at, limit, etag, redirects: 'same-host', signal });
  if (!answer.changed) return { ...UNCHANGED, ends: 'head', freshForMs: answer.freshForMs };
  return await redactingOnError(lease, answer.json, needs, () => takeFeed(lease, { at, answer, pagesLeft }, needs));
}

async function takeFeed(
  lease: Lease,
  { at, answer, pagesLeft }: { readonly at: string; readonly answer: ChangedAnswer; readonly pagesLeft: number },
  needs: PageNeeds,
): Promise<PageOutcome> {
  const { source } = lease;
  const { paginagrootte: limit, laatsteNummer } = source;
  const { freshForMs } = answer;
  const { page, records, cursor, head, hasMore, ahead, pages } = await believe(async (report) => {
    const read = readFeedPage(answer.json, { cursor: at, after: laatsteNummer ?? undefined }, report);
    const looked =
      read.gaps.length === 0
        ? { pages: 0, ahead: null }
        : await explainGaps(lease, read, Math.max(1, pagesLeft - 1), needs);
    const isEmpty = read.records.length === 0 || looked.ahead !== null;
    return { ...read, ...looked, page: isEmpty ? undefined : await check(lease, read.records, needs) };
  });
  if (ahead !== null) {
    await saveProgress(needs.pool, lease, { ...positionOf(source), vooruit: ahead }, { head });
    return { ...UNCHANGED, saved: true, ends: 'more', freshForMs, pages: 1 + pages };
  }
  const atEnd = !hasMore && cursor === at;
  const paginagrootte = larger(limit, answer.bytes, needs);
  const position: Position = {
    ...positionOf(source),
    cursor,
    // A tag belongs to one address: that of the end of the feed, which is asked for again as it is.
    etag: atEnd && paginagrootte === limit ? (answer.etag ?? null) : null,
    laatsteNummer: records.at(-1)?.sequenceNumber ?? laatsteNummer ?? (hasMore ? null : head),
    paginagrootte,
    voortgang: hasMore && cursor !== at ? step(source, cursor, records, needs) : null,
    vooruit: null,
    hashKlopt: page?.hashKlopt ?? source.hashKlopt,
  };
  if (page === undefined) {
    const isSame =
      cursor === at &&
      position.etag === source.etag &&
      position.laatsteNummer === laatsteNummer &&
      position.paginagrootte === limit;
    const stuck = hasMore && cursor === at;
    // How far behind we are is told, also when nothing moves.
    if (!isSame || stuck) await saveProgress(needs.pool, lease, position, { head });
    return { ...UNCHANGED, saved: !isSame, ends: stuck ? 'cannot-go-on' : hasMore ? 'more' : 'head', freshForMs };
  }
  const published = await publishPage(lease, { ...page, read: records.length }, { position, head }, needs);
  const outcome = { saved: true, read: records.length, published, refused: page.refused, freshForMs, pages: 1 + pages };
  return { ...outcome, ends: hasMore ? 'more' : 'head' };
}

/** What a page of the feed adds to what is remembered; records are an advance by themselves, since their numbers ascend. */
function step(source: Source, cursor: string, records: readonly FeedRecord[], needs: PageNeeds) {
  if (records.length > 0) return NO_PROGRESS;
  const page = { cursor, numbers: [], isSnapshot: false, maxRecords: needs.maxSnapshotRecords };
  return notePage(toProgress(source.voortgang), page);
}

/** Reads an answer, and stops at the first thing that is doubted. @throws {FeedFault} */
async function believe<T>(read: (report: Report) => Promise<T>): Promise<T> {
  const faults: FeedFault[] = [];
  const found = await read((code, message) => faults.push(new FeedFault(code, message))).catch((error: unknown) => {
    throw faults[0] ?? error;
  });
  const [first] = faults;
  if (first !== undefined) throw first;
  return found;
}

/**
 * Takes an answer; when anything goes wrong with it, at the source or here, the redactions on it are carried out all the same. Not when
 * the source is another's by now, or this process stops: then they are read again.
 */
export async function redactingOnError<T>(
  lease: Lease,
  json: unknown,
  needs: PageNeeds,
  take: () => Promise<T>,
): Promise<T> {
  try {
    return await take();
  } catch (error) {
    if (!(error instanceof LeaseLostError) && !needs.options.signal.aborted) {
      await carryOutRedactions(lease, json, needs);
    }
    throw error;
  }
}

async function check(lease: Lease, records: readonly FeedRecord[], needs: PageNeeds): Promise<CheckedPage> {
  const { source } = lease;
  const { organisations, named, options } = needs;
  const owned = new Map(organisations.map((organisation) => [organisation.organisatiecode, organisation]));
  const takes = (code: string): Taken => {
    if (owned.get(code)?.aanwezig === true) return 'yes';
    // Not wanted of a source that has it is another's, as far as this source is concerned.
    return named.has(code) ? 'elsewhere' : 'unnamed';
  };
  const unnamed = records
    .map(({ record }) => record)
    .filter((record) => record.op === 'redact' && resourceOf(record) === undefined);
  const page = await checkPage(records, {
    feedUrl: source.feedUrl ?? '',
    ownFeedUrl: needs.ownFeedUrl(),
    validate: needs.validateDraft,
    ids: needs.ids,
    hashKlopt: source.hashKlopt,
    taken: unnamed.length === 0 ? new Map() : await readTaken(needs.pool, source.feedUrl ?? '', numbersIn(unnamed)),
    takes,
    owns: (code) => owned.has(code),
  });
  // It may have been spoiled on its way: only when it stays wrong the rest goes on without it.
  if (page.refused > 0 && !options.tolerant) {
    throw new FeedFault('records', `${page.refused} records are refused: ${page.issues[0]?.detail ?? ''}`);
  }
  return page;
}

/** After a page that was too large a smaller one was asked for; it grows again as long as twice as much would have fitted. */
export function larger(limit: number, bytes: number, { maxAnswerBytes }: AggregatorNeeds): number {
  return bytes * 2 > maxAnswerBytes ? limit : Math.min(MAX_LIMIT, limit * 2);
}

/**
 * Publishes a page and keeps how far the source was read, both or neither.
 * @returns how many records were recorded
 * @throws {LeaseLostError} and then nothing was published
 */
export async function publishPage(
  lease: Lease,
  page: CheckedPage & { readonly read: number },
  to: { readonly position: Position; readonly head?: number | undefined },
  { pool, clock, log }: Pick<AggregatorNeeds, 'pool' | 'clock' | 'log'>,
): Promise<number> {
  const { changes, issues, refused, refusedKeys, read, present } = page;
  const { id, vergelijken } = lease.source;
  const now = clock.now();
  const outcomes = await transaction(pool, async (client) => {
    const found = changes.length === 0 ? [] : await publishBatch(client, changes, now);
    if (vergelijken) await markSeen(client, id, present);
    const accepted = changes.map(({ resourceType, resource }) => resourceKey(resourceType, resource));
    await noteRefused(client, id, { refused: refusedKeys, accepted: withoutLater(accepted, refusedKeys) });
    await addIssues(client, id, issues, now);
    const published = found.filter((outcome) => outcome !== 'no-op').length;
    // Last, in the order in which every writer takes its locks. It also finds out whether the lease still holds.
    await saveProgress(client, lease, to.position, { head: to.head, counts: { read, published, refused } });
    return found;
  });
  // It is tried again at an interval; the page is published all the same.
  if (changes.some(({ op }, i) => op === 'redact' && outcomes[i] !== 'no-op')) await cleanFiles({ pool, log });
  return outcomes.filter((outcome) => outcome !== 'no-op').length;
}

/** A record of a resource was taken, and a later one on the same page refused. */
function withoutLater(accepted: readonly string[], refused: readonly string[]): readonly string[] {
  const wrong = new Set(refused);
  return wrong.size === 0 ? accepted : accepted.filter((key) => !wrong.has(key));
}
