import { transaction } from '../../../database/transaction.ts';
import { type FeedRecord, notePage, readFeedPage, toProgress } from '../../../lib/feed-client/page.ts';
import type { Lease, Source } from '../source.ts';
import { readTaken, type TakenRecord } from '../store/comparison.ts';
import { type SourceChanges, updateSource } from '../store/leased-source.ts';
import { askWhole, nextPageSize, type PageDependencies, type PageOutcome, redactingOnError } from './read-page.ts';
import { isTaken, numbersIn, redactFromHistory, rewriteRedactedFiles } from './redactions.ts';

/**
 * Reads a page of the history of a source whose snapshot was read again, for its redactions alone: those between the cursor that was
 * given up and the snapshot are nowhere else. On the way it checks whether this is the history that was read before.
 */
export async function readHistoryPage(lease: Lease, deps: PageDependencies): Promise<PageOutcome> {
  const { source } = lease;
  const { feedUrl, historyCursor: at, pageSize: limit } = source;
  const answer = await askWhole(feedUrl, at, source, deps);
  // Gaps in the numbers are checked when the feed is read for its content.
  const { records, cursor, hasMore, head } = await redactingOnError(lease, answer.json, deps, async () =>
    readFeedPage(answer.json, { cursor: at, after: undefined }, () => undefined),
  );
  const numbers = records.map(({ sequenceNumber }) => sequenceNumber);
  const redactions = records.filter(({ record }) => record.op === 'redact');
  const named = numbersIn(redactions.map(({ record }) => record));
  const taken = await readTaken(deps.pool, feedUrl ?? '', [...new Set([...numbers, ...named])]);
  const joins = joinsOn(source, records, taken);
  const isOver = !hasMore || (records.length === 0 && cursor === at);
  // Numbers that were taken before may be past the end of what the source has now.
  const reached = joins === true && (source.historyAfter ?? 0) <= head;
  const changes: SourceChanges = {
    ...(isOver
      ? afterHistory(source, source.historyMissed || !reached)
      : {
          historyCursor: cursor,
          historyJoins: joins,
          progress: notePage(toProgress(source.progress), {
            cursor,
            numbers,
            isSnapshot: false,
            maxRecords: deps.maxSnapshotRecords,
          }),
        }),
    pageSize: nextPageSize(limit, answer.bytes, deps),
  };
  const missed = redactions.filter(({ record }) => !isTaken(record, taken));
  const published = await transaction(deps.pool, async (client) => {
    const recorded = await redactFromHistory(client, lease, missed, taken, deps);
    await updateSource(client, lease, changes, { read: records.length, published: recorded });
    return recorded;
  });
  if (published > 0) await rewriteRedactedFiles(deps);
  return { state: 'more', moved: true, read: records.length, published, refused: 0, freshForMs: 0, pages: 1 };
}

/** The feed is read after the history. `missed`: redactions in it may have been missed. */
export function afterHistory({ snapshotFeedCursor }: Source, missed: boolean): SourceChanges {
  return {
    phase: 'feed',
    cursor: snapshotFeedCursor,
    snapshotFeedCursor: null,
    mustReadHistory: false,
    historyCursor: null,
    historyJoins: null,
    historyMissed: missed,
    progress: null,
  };
}

/**
 * Whether this history is the one that was read before: numbers that were taken from it must be of the same resources. One that differs
 * is enough to say no.
 */
function joinsOn(
  { historyJoins, historyAfter }: Source,
  records: readonly FeedRecord[],
  taken: ReadonlyMap<number, TakenRecord>,
): boolean | null {
  // Read on from the cursor itself, it needs no number.
  if (historyAfter === null) return historyJoins === true;
  let joins = historyJoins;
  for (const { sequenceNumber, record } of records) {
    const known = taken.get(sequenceNumber);
    if (known === undefined || sequenceNumber > historyAfter) continue;
    if (!isSame(record, known)) return false;
    joins ??= true;
  }
  return joins;
}

function isSame({ resourceType, resource }: FeedRecord['record'], known: TakenRecord): boolean {
  const { organisatiecode, bronidentificatie }: Record<string, unknown> =
    typeof resource === 'object' && resource !== null ? { ...resource } : {};
  return (
    resourceType === known.resourceType &&
    bronidentificatie === known.resource.bronidentificatie &&
    String(organisatiecode).toLowerCase() === known.resource.organisatiecode
  );
}
