import { askPage } from '../../../feed-client/client.ts';
import { FeedFault } from '../../../feed-client/feed-fault.ts';
import { describeGap, type FeedPage, looseRecords, namedNumbers, withoutNamed } from '../../../feed-client/page.ts';
import { isRecord } from '../../../kernel/is-record.ts';
import type { Lease } from '../source.ts';
import type { PageNeeds } from './read-page.ts';
import { carryOutRedactions } from './redactions.ts';

/** Pages that are read ahead at most, to find the redaction that names what is missing. */
const MAX_AHEAD = 100;

/**
 * Looks further in the feed for the redactions that name the missing numbers of a page: the draft lets them be absent, and the redaction
 * may stand anywhere after them.
 * @throws {FeedFault} `numbers`, when none does; the redactions that were met are carried out
 */
export async function explainGaps(lease: Lease, page: FeedPage, needs: PageNeeds): Promise<void> {
  const { feedUrl, paginagrootte: limit } = lease.source;
  const { signal } = needs.options;
  let { gaps } = page;
  let cursor = page.cursor;
  let hasMore = page.hasMore;
  for (let pages = 0; hasMore && pages < MAX_AHEAD; pages += 1) {
    const answer = await askPage(needs.client, { url: feedUrl ?? '', cursor, limit, redirects: 'same-host', signal });
    const json = answer.changed ? answer.json : undefined;
    const records = looseRecords(json);
    gaps = withoutNamed(gaps, namedNumbers(records));
    if (gaps.length === 0) return;
    // They stand behind a page that cannot be believed.
    await carryOutRedactions(lease, json, needs);
    const next = isRecord(json) && typeof json.cursor === 'string' ? json.cursor : cursor;
    hasMore = isRecord(json) && json.hasMore === true && next !== cursor;
    cursor = next;
  }
  const [first] = gaps;
  if (first !== undefined) throw new FeedFault('numbers', `${describeGap(first)}, and no redaction names it`);
}
