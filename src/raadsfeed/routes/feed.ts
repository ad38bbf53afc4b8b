import { crc32 } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../http/contract.ts';
import { WORTH_COMPRESSING_BYTES } from '../feed/compression.ts';
import { encodeFeedCursor } from '../feed/cursor.ts';
import { type FeedPage, readFeedPage } from '../feed/page.ts';
import type { RaadsfeedServices } from '../parts.ts';
import { DEFAULT_LIMIT, pageUrl, readPageQuery } from './query.ts';

/** `GET /feed`: the log after a position. */
export function feedRoute(app: FastifyInstance, contract: Contract<operations>, parts: RaadsfeedServices): void {
  const { settings, responses } = parts;
  contract.serve(app, 'getFeed', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const limit = query.limit ?? DEFAULT_LIMIT;
    return responses.make(request, reply, limit, async () => {
      const page = await readFeedPage(parts, { ...query, limit });
      const { head, hasMore, compressed } = page;
      const mountUrl = parts.mountUrl();
      const feedUrl = `${mountUrl}/feed`;
      const cursor = encodeFeedCursor(head.feedId, page.last);
      const next = pageUrl(feedUrl, { ...query, cursor });
      // What follows the records: the only part of a page of history that is not always the same.
      const end = `,"cursor":"${cursor}","head":${head.head.sequenceNumber},"hasMore":${hasMore},"next":${hasMore ? JSON.stringify(next) : 'null'}}`;
      // Whether it is compressed must not depend on where it comes from.
      const isLarge = page.bytes + Buffer.byteLength(end) >= WORTH_COMPRESSING_BYTES;
      return {
        body: () => page.body(end),
        compressed: isLarge && compressed !== undefined ? (encoding) => compressed(encoding, end) : undefined,
        // Who asks whether it has changed will ask again.
        unchanged: compressed === undefined ? () => void page.body(end) : undefined,
        etag: etagOf(page, mountUrl),
        maxAgeSeconds: hasMore ? settings.historyMaxAgeSeconds : settings.headMaxAgeSeconds,
        link: `<${next}>; rel="next", <${pageUrl(feedUrl, query)}>; rel="self", <${mountUrl}/openapi.json>; rel="service-desc"`,
        head,
        bytes: page.bytes,
      };
    });
  });
}

/** Everything that the body of one address follows from; `head` is in the body of every page, so it is in the tag. */
function etagOf({ from, last, head: { feedId, head, redactions } }: FeedPage, mountUrl: string): string {
  const place = crc32(mountUrl, crc32(feedId)).toString(36);
  const epoch = (last.epoch >>> 0).toString(36);
  return `W/"${place}.${redactions}.${from.sequenceNumber}.${last.sequenceNumber}.${epoch}.${head.sequenceNumber}"`;
}
