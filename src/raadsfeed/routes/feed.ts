import { crc32 } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../../http/contract.ts';
import { encodeFeedCursor } from '../domain/cursor.ts';
import { type FeedPage, readFeedPage } from '../feed-page.ts';
import { pageBytes } from '../pages/page-bytes.ts';
import { closeBody } from '../pages/splice.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { pageUrl } from './page-links.ts';
import { DEFAULT_LIMIT, type ListQuerystring, readPageQuery } from './query.ts';
import { sendBody } from './send-body.ts';

/** `GET /feed`: the log after a place. */
export function feedRoute(app: FastifyInstance, contract: Contract, parts: RaadsfeedParts): void {
  const { settings, answers } = parts;
  contract.serve<{ Querystring: ListQuerystring }>(app, 'getFeed', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const page = await readFeedPage(parts, { ...query, limit: query.limit ?? DEFAULT_LIMIT });
    const { feed, hasMore, kept } = page;
    const mountUrl = parts.mountUrl();
    const feedUrl = `${mountUrl}/feed`;
    const cursor = encodeFeedCursor(feed.feedId, page.last);
    const next = pageUrl(feedUrl, { ...query, cursor });
    // What follows the records: the only part of a page of history that is not always the same.
    const end = `,"cursor":"${cursor}","head":${feed.head.sequenceNumber},"hasMore":${hasMore},"next":${hasMore ? JSON.stringify(next) : 'null'}}`;
    const body = kept === undefined ? pageBytes(page.records, end) : Buffer.concat([kept.bytes, Buffer.from(end)]);
    page.keep(body.subarray(0, body.length - end.length));
    return sendBody(request, reply, {
      body,
      compressed: kept && (async (encoding) => closeBody(await kept.compressed(encoding), Buffer.from(end))),
      etag: etagOf(page, mountUrl),
      maxAgeSeconds: hasMore ? settings.historyMaxAgeSeconds : settings.headMaxAgeSeconds,
      link: `<${next}>; rel="next", <${pageUrl(feedUrl, query)}>; rel="self", <${mountUrl}/openapi.json>; rel="service-desc"`,
      keep: { answers, feed },
    });
  });
}

/** Everything that the body of one address follows from; `head` is in the body of every page, so it is in the tag. */
function etagOf({ from, last, feed: { feedId, head, redactions } }: FeedPage, mountUrl: string): string {
  const place = crc32(mountUrl, crc32(feedId)).toString(36);
  const mark = (last.merk >>> 0).toString(36);
  return `W/"${place}.${redactions}.${from.sequenceNumber}.${last.sequenceNumber}.${mark}.${head.sequenceNumber}"`;
}
