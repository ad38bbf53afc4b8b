import { askPage, FeedFault } from '../../../lib/feed-client/client.ts';
import {
  describeGap,
  type FeedPage,
  type Gap,
  looseRecords,
  namedNumbers,
  withoutNamed,
} from '../../../lib/feed-client/page.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import type { Lease } from '../source.ts';
import type { PageDependencies } from './read-page.ts';
import { carryOutRedactions } from './redactions.ts';

/** How far the feed was read ahead for redactions that explain the gaps of a page; stored between runs. */
export interface LookAhead {
  /** The end cursor of the page with the gaps. */
  readonly of: string;
  /** Where to read on. */
  readonly cursor: string;
  readonly gaps: readonly Gap[];
  /** Pages that were read. */
  readonly pages: number;
}

/** Pages that are read ahead at most, in one run or in several. */
const MAX_AHEAD = 100;

/**
 * Reads ahead in the feed for the redactions that name the missing numbers of a page: the draft lets these be absent, and the redaction
 * may come anywhere after them.
 * @param most pages to read in this run
 * @returns how many were read, and where to read on when that was not enough
 * @throws {FeedFault} `numbers`, when no redaction names them; redactions on the way are carried out
 */
export async function explainGaps(
  lease: Lease,
  page: FeedPage,
  most: number,
  deps: PageDependencies,
): Promise<{ readonly pages: number; readonly ahead: LookAhead | null }> {
  const { feedUrl, pageSize: limit } = lease.source;
  const { signal } = deps.options;
  let ahead = resume(lease.source.lookAhead, page);
  let hasMore = page.hasMore;
  let pages = 0;
  while (hasMore && ahead.pages < MAX_AHEAD) {
    if (pages >= most) return { pages, ahead };
    const { cursor } = ahead;
    const answer = await askPage(deps.client, { url: feedUrl ?? '', cursor, limit, redirects: 'same-host', signal });
    pages += 1;
    const json = answer.changed ? answer.json : undefined;
    const gaps = withoutNamed(ahead.gaps, namedNumbers(looseRecords(json)));
    if (gaps.length === 0) return { pages, ahead: null };
    // They come after a page that may be invalid.
    await carryOutRedactions(lease, json, deps);
    const next = isRecord(json) && typeof json.cursor === 'string' ? json.cursor : cursor;
    hasMore = isRecord(json) && json.hasMore === true && next !== cursor;
    ahead = { of: ahead.of, cursor: next, gaps, pages: ahead.pages + 1 };
  }
  const [first] = ahead.gaps;
  if (first !== undefined) throw new FeedFault('numbers', `${describeGap(first)}, and no redaction names it`);
  return { pages, ahead: null };
}

/** Resumes where an earlier run stopped over the same page, else starts after it. */
function resume(kept: unknown, { cursor, gaps }: FeedPage): LookAhead {
  const begin = { of: cursor, cursor, gaps, pages: 0 };
  if (!isRecord(kept) || kept.of !== cursor || typeof kept.cursor !== 'string') return begin;
  if (typeof kept.pages !== 'number' || !Array.isArray(kept.gaps)) return begin;
  const left = kept.gaps.flatMap((gap: unknown) =>
    isRecord(gap) && typeof gap.from === 'number' && typeof gap.to === 'number' ? [{ from: gap.from, to: gap.to }] : [],
  );
  return { of: cursor, cursor: kept.cursor, gaps: left, pages: kept.pages };
}
