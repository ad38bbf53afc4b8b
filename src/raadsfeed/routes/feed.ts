import { crc32 } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import type { Contract } from '../../plugins/contract.ts';
import { WORTH_COMPRESSING_BYTES } from '../feed/compression.ts';
import { encodeFeedCursor } from '../feed/cursor.ts';
import { type FeedPage, type FeedQuery, readFeedPage, readSnapshotPage } from '../feed/page.ts';
import type { RaadsfeedServices } from '../services.ts';

/** `GET /feed`: the log after a position. */
export function feedRoute(app: FastifyInstance, contract: Contract<operations>, services: RaadsfeedServices): void {
  const { settings, responses } = services;
  contract.serve(app, 'getFeed', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const limit = query.limit ?? DEFAULT_LIMIT;
    return responses.readAndSend(request, reply, limit, async () => {
      const page = await readFeedPage(services, { ...query, limit });
      const { head, hasMore, compressed } = page;
      const mountUrl = services.mountUrl();
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
        // A client that asks whether it has changed will ask again: the page is cached.
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

/** Everything that determines the body at one address; `head` is in the body of every page, so it is in the tag. */
function etagOf({ from, last, head: { feedId, head, redactions } }: FeedPage, mountUrl: string): string {
  const base = crc32(mountUrl, crc32(feedId)).toString(36);
  const epoch = (last.epoch >>> 0).toString(36);
  return `W/"${base}.${redactions}.${from.sequenceNumber}.${last.sequenceNumber}.${epoch}.${head.sequenceNumber}"`;
}

/** `GET /snapshot`: the current state, and where the feed goes on from it. */
export function snapshotRoute(app: FastifyInstance, contract: Contract<operations>, services: RaadsfeedServices): void {
  contract.serve(app, 'getSnapshot', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const limit = query.limit ?? DEFAULT_LIMIT;
    return services.responses.readAndSend(request, reply, limit, async () => {
      const page = await readSnapshotPage(services, { ...query, limit });
      const next =
        page.cursor === null ? null : pageUrl(`${services.mountUrl()}/snapshot`, { ...query, cursor: page.cursor });
      return {
        body: () => `{"records":[${page.records}],"feedCursor":"${page.feedCursor}",${pageEnd(page.cursor, next)}`,
        maxAgeSeconds: services.settings.headMaxAgeSeconds,
        link: nextLink(next),
        head: page.head,
        bytes: page.records.length,
      };
    });
  });
}

/** Records or resources on a page when the query does not say. */
export const DEFAULT_LIMIT = 500;

/** The query parameters of all lists; not every list has all of them. */
type ListQuerystring = Partial<operations['getFeed']['parameters']['query']>;

/** The parameters that made a page, for the address of the next one. */
type PageQuery = Omit<FeedQuery, 'limit'> & { readonly limit?: number | undefined };

/** The query of a list, after the contract has checked it: codes in lower case, `limit` only when it was asked for. */
export function readPageQuery({ query }: { readonly query: ListQuerystring }): PageQuery {
  const { cursor, limit, organisatiecode, resourceType } = query;
  return {
    cursor,
    limit: limit === DEFAULT_LIMIT ? undefined : limit,
    organisatiecode: organisatiecode === undefined ? undefined : normaliseOrganisatiecode(organisatiecode),
    resourceType,
  };
}

/** Address of a page of a list, with only the parameters that were asked for, so that one page has one address. */
export function pageUrl(listUrl: string, { cursor, limit, organisatiecode, resourceType }: PageQuery): string {
  const parameters = new URLSearchParams();
  if (cursor !== undefined) parameters.set('cursor', cursor);
  if (limit !== undefined) parameters.set('limit', String(limit));
  if (organisatiecode !== undefined) parameters.set('organisatiecode', organisatiecode);
  if (resourceType !== undefined) parameters.set('resourceType', resourceType);
  const query = parameters.toString();
  return query === '' ? listUrl : `${listUrl}?${query}`;
}

/** The last members of a page of a list, its closing brace included. */
export function pageEnd(cursor: string | null, next: string | null): string {
  return `"cursor":${JSON.stringify(cursor)},"hasMore":${cursor !== null},"next":${JSON.stringify(next)}}`;
}

/** `Link` of a list: the next page, when there is one. */
export function nextLink(next: string | null): string | undefined {
  return next === null ? undefined : `<${next}>; rel="next"`;
}
