/** `GET /snapshot`: the current state, and where the feed goes on from it. */
import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../plugins/contract.ts';
import { joinRecord } from '../domain/record-text.ts';
import {
  assertInRange,
  assertSameEpoch,
  decodeSnapshotCursor,
  encodeFeedCursor,
  encodeSnapshotCursor,
  invalidCursor,
  resolveNumber,
  type SnapshotPosition,
} from '../feed/cursor.ts';
import type { HeadCache } from '../feed/head.ts';
import type { RaadsfeedServices } from '../services.ts';
import { readSnapshot } from '../store/read-records.ts';
import { nextLink, pageEnd, pageUrl, readPageQuery, withCommas } from './page-query.ts';

export function snapshotRoute(app: FastifyInstance, contract: Contract<operations>, services: RaadsfeedServices): void {
  const { heads, reader, settings, responses, mountUrl } = services;
  contract.serve(app, 'getSnapshot', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const { limit } = query;
    return responses.answer(request, reply, limit, async () => {
      const { feed, after } = await resolvePosition(heads, query.cursor);
      const { sequenceNumber } = feed;
      const found = await reader.read(
        (db) => readSnapshot(db, after, sequenceNumber, limit + 1, query),
        sequenceNumber,
      );
      assertInRange(found.head, sequenceNumber);
      assertSameEpoch(found.head, feed, found.epoch);
      const records = found.records.slice(0, limit);
      const last = records.at(-1);
      const isLast = (found.isAll && found.records.length <= limit) || last === undefined;
      const { feedId } = found.head;
      const cursor = isLast ? null : encodeSnapshotCursor(feedId, { feed, after: last.sequenceNumber });
      const next = cursor === null ? null : pageUrl(`${mountUrl()}/snapshot`, { ...query, cursor });
      return {
        body: () => [
          '{"records":[',
          ...withCommas(records.map((record) => joinRecord(record, mountUrl()))),
          `],"feedCursor":"${encodeFeedCursor(feedId, feed)}",${pageEnd(cursor, next)}`,
        ],
        maxAgeSeconds: settings.headMaxAgeSeconds,
        link: nextLink(next),
        // The position of a first page was fixed before its rows were read: once the head has moved on, the page is that of an earlier head.
        head: query.cursor === undefined ? { ...found.head, head: feed } : found.head,
      };
    });
  });
}

/** The position in the feed is fixed before the first row is read, and travels in the cursor. @throws {Problem} `ongeldige-cursor` */
async function resolvePosition(heads: HeadCache, cursor: string | undefined): Promise<SnapshotPosition> {
  const { feedId, head } = await heads.head();
  if (cursor === undefined) return { feed: head, after: 0 };
  const decoded = decodeSnapshotCursor(feedId, cursor);
  if ('fault' in decoded) throw invalidCursor(decoded.fault);
  const { position } = decoded;
  if (position.after > position.feed.sequenceNumber) throw invalidCursor('onleesbaar');
  await resolveNumber(heads, position.feed.sequenceNumber);
  return position;
}
