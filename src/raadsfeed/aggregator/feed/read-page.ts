import type { OutboundAnswer } from '../../../kernel/outbound/outbound-client.ts';
import type { AggregatorNeeds } from '../needs.ts';
import type { Lease } from '../source.ts';
import { SourceFault } from '../source-fault.ts';
import type { OwnedOrganisation } from '../store/organisations.ts';
import { type Position, saveProgress } from '../store/save-progress.ts';
import { askPage } from './ask-page.ts';
import { type CheckedPage, checkPage } from './check-page.ts';
import { type NumberedSourceRecord, readFeedAnswer, readSnapshotAnswer } from './feed-answer.ts';
import type { TurnOptions } from './follow-source.ts';
import { publishPage } from './publish-page.ts';

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
}

const UNCHANGED = { saved: false, read: 0, published: 0, refused: 0 } as const;
/** Records of a page at most: pages of several sources are in memory at once. */
const MAX_LIMIT = 1000;

/** Reads one page where the source stands, judges it and publishes it. */
export async function readPage(
  lease: Lease,
  organisations: readonly OwnedOrganisation[],
  needs: AggregatorNeeds,
  options: TurnOptions,
): Promise<PageOutcome> {
  const { source } = lease;
  const codes = new Set(organisations.map(({ organisatiecode }) => organisatiecode));
  const check = async (records: readonly NumberedSourceRecord[]): Promise<CheckedPage> => {
    const page = await checkPage(records, {
      feedUrl: source.feedUrl ?? '',
      ownFeedUrl: needs.ownFeedUrl(),
      validate: needs.validate,
      ids: needs.ids,
      takes: (code) => codes.has(code),
    });
    // It may have been spoiled on its way: only when it stays wrong the rest goes on without it.
    if (page.refused > 0 && !options.tolerant) {
      throw new SourceFault('records', `${page.refused} records are refused: ${page.issues[0]?.detail ?? ''}`);
    }
    return page;
  };
  return source.fase === 'stand'
    ? await readSnapshotPage(lease, needs, options, check)
    : await readFeedPage(lease, needs, options, check);
}

type Check = (records: readonly NumberedSourceRecord[]) => Promise<CheckedPage>;

async function readSnapshotPage(
  lease: Lease,
  needs: AggregatorNeeds,
  { signal }: TurnOptions,
  check: Check,
): Promise<PageOutcome> {
  const { source } = lease;
  const { snapshotUrl, standCursor, standFeedCursor, paginagrootte: limit } = source;
  const answer = await askPage(needs, { url: snapshotUrl ?? '', cursor: standCursor, limit, signal });
  if (!answer.changed) throw new SourceFault('page', 'not modified, and nothing was asked that could be');
  const { records, cursor, feedCursor } = readSnapshotAnswer(answer.json, {
    cursor: standCursor,
    feedCursor: standFeedCursor,
  });
  const page = await check(records);
  const position: Position = {
    fase: cursor === null ? 'feed' : 'stand',
    vergelijken: source.vergelijken,
    standCursor: cursor,
    standFeedCursor: cursor === null ? null : feedCursor,
    cursor: cursor === null ? feedCursor : null,
    etag: null,
    laatsteNummer: null,
    paginagrootte: larger(limit, answer.bytes, needs),
  };
  const published = await publishPage(lease, { ...page, read: records.length }, { position }, needs);
  return { ends: 'more', saved: true, read: records.length, published, refused: page.refused, freshForMs: 0 };
}

async function readFeedPage(
  lease: Lease,
  needs: AggregatorNeeds,
  { signal }: TurnOptions,
  check: Check,
): Promise<PageOutcome> {
  const { source } = lease;
  const { feedUrl, cursor: at, paginagrootte: limit, laatsteNummer } = source;
  if (feedUrl === null || at === null) throw new TypeError('a feed is read from a place that is not known');
  const answer = await askPage(needs, { url: feedUrl, cursor: at, limit, etag: source.etag ?? undefined, signal });
  const { freshForMs } = answer;
  if (!answer.changed) return { ...UNCHANGED, ends: 'head', freshForMs };
  const { records, cursor, head, hasMore } = readFeedAnswer(answer.json, {
    cursor: at,
    sequenceNumber: laatsteNummer ?? undefined,
  });
  const position = placeAfter(lease, answer, {
    cursor,
    last: records.at(-1)?.sequenceNumber ?? laatsteNummer ?? (hasMore ? null : head),
    atEnd: !hasMore && cursor === at,
    paginagrootte: larger(limit, answer.bytes, needs),
  });
  if (records.length === 0) {
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
  const page = await check(records);
  const published = await publishPage(lease, { ...page, read: records.length }, { position, head }, needs);
  const outcome = { saved: true, read: records.length, published, refused: page.refused, freshForMs };
  return { ...outcome, ends: hasMore ? 'more' : 'head' };
}

function placeAfter(
  { source }: Lease,
  { etag }: OutboundAnswer,
  {
    cursor,
    last,
    atEnd,
    paginagrootte,
  }: { cursor: string; last: number | null; atEnd: boolean; paginagrootte: number },
): Position {
  return {
    fase: 'feed',
    vergelijken: source.vergelijken,
    standCursor: null,
    standFeedCursor: null,
    cursor,
    // A tag belongs to one address: that of the end of the feed, which is asked for again as it is.
    etag: atEnd && paginagrootte === source.paginagrootte ? (etag ?? null) : null,
    laatsteNummer: last,
    paginagrootte,
  };
}

/** After a page that was too large a smaller one was asked for; it grows again as long as twice as much would have fitted. */
function larger(limit: number, bytes: number, { maxAnswerBytes }: AggregatorNeeds): number {
  return bytes * 2 > maxAnswerBytes ? limit : Math.min(MAX_LIMIT, limit * 2);
}
