import type { FastifyInstance } from 'fastify';
import type { Contract } from '../../http/contract.ts';
import { readFeedPage } from '../feed-page.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { pageUrl } from './page-links.ts';
import { DEFAULT_LIMIT, type ListQuerystring, readPageQuery } from './query.ts';
import { sendBody } from './send-body.ts';

/** `GET /feed`: the log after a place. */
export function feedRoute(app: FastifyInstance, contract: Contract, parts: RaadsfeedParts): void {
  const { settings } = parts;
  contract.serve<{ Querystring: ListQuerystring }>(app, 'getFeed', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const page = await readFeedPage(parts, { ...query, limit: query.limit ?? DEFAULT_LIMIT });
    const feedUrl = `${parts.mountUrl()}/feed`;
    const next = pageUrl(feedUrl, { ...query, cursor: page.cursor });
    const link = `<${next}>; rel="next", <${pageUrl(feedUrl, query)}>; rel="self", <${parts.mountUrl()}/openapi.json>; rel="service-desc"`;
    return sendBody(request, reply, {
      body: `${page.records},"cursor":"${page.cursor}","head":${page.head},"hasMore":${page.hasMore},"next":${page.hasMore ? JSON.stringify(next) : 'null'}}`,
      maxAgeSeconds: page.hasMore ? settings.historyMaxAgeSeconds : settings.headMaxAgeSeconds,
      link,
    });
  });
}
