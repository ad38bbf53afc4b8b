/** `GET /feed`: the log after a position. */
import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../plugins/contract.ts';
import { joinRecord } from '../domain/record-text.ts';
import {
  assertInRange,
  assertSameEpoch,
  encodeFeedCursor,
  invalidCursor,
  type PageQuery,
  pageUrl,
  readPageQuery,
  resolveCursor,
  withCommas,
} from '../feed/cursor.ts';
import type { Feed } from '../services.ts';
import type { FeedHead, FeedPosition } from '../store/feed-row.ts';
import { MissingNumberError, readFiltered, type StoredRecord } from '../store/read-records.ts';

export function feedRoute(app: FastifyInstance, contract: Contract<operations>): void {
  const { feed } = app;
  const { historyMaxAgeSeconds, headMaxAgeSeconds } = app.settings.raadsfeed;
  contract.serve(app, 'getFeed', {}, (request, reply) => {
    const query = readPageQuery(request);
    return feed.responses.answer(request, reply, query.limit, async () => {
      const { last, head, records } = await readPage(feed, query);
      const hasMore = last.sequenceNumber < head.head.sequenceNumber;
      const mount = feed.mountUrl();
      const cursor = encodeFeedCursor(head.feedId, last);
      const next = pageUrl(`${mount}/feed`, { ...query, cursor });
      const end = `"cursor":"${cursor}","head":${head.head.sequenceNumber},"hasMore":${hasMore},"next":${hasMore ? JSON.stringify(next) : 'null'}`;
      const self = pageUrl(`${mount}/feed`, query);
      return {
        body: ['{"records":[', ...withCommas(records.map((record) => joinRecord(record, mount))), `],${end}}`],
        maxAgeSeconds: hasMore ? historyMaxAgeSeconds : headMaxAgeSeconds,
        link: `<${next}>; rel="next", <${self}>; rel="self", <${mount}/openapi.json>; rel="service-desc"`,
        head,
        isHistory: hasMore,
      };
    });
  });
}

interface Page {
  /** The position that it was read to. */
  readonly last: FeedPosition;
  readonly head: FeedHead;
  readonly records: readonly StoredRecord[];
}

/** @throws {Problem} `ongeldige-cursor` */
async function readPage({ heads, reader }: Feed, { cursor, limit, ...filter }: PageQuery): Promise<Page> {
  const { position: from, head: known } = await resolveCursor(heads, cursor);
  const after = from.sequenceNumber;
  // A poll at the head costs the database nothing.
  if (after === known.head.sequenceNumber) {
    assertSameEpoch(known, from);
    return { last: from, head: known, records: [] };
  }
  const read = await reader
    .read((db) => readFiltered(db, after, limit, filter), after)
    .catch((error: unknown) => {
      // A client must not read past a hole; the snapshot has what is current.
      throw error instanceof MissingNumberError ? invalidCursor('voor-de-geschiedenis') : error;
    });
  const { head, records, isAll, epoch } = read;
  // Also without a cursor: the history was pruned further meanwhile.
  assertInRange(head, after);
  assertSameEpoch(head, from, epoch);
  // Fewer than asked for: everything up to the head was read.
  return { head, records, last: isAll ? head.head : (records.at(-1) ?? head.head) };
}
