import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../http/contract.ts';
import { readSnapshotPage } from '../feed/page.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { DEFAULT_LIMIT, nextLink, pageEnd, pageUrl, readPageQuery } from './query.ts';

/** `GET /snapshot`: the current state, and where the feed goes on from it. */
export function snapshotRoute(app: FastifyInstance, contract: Contract<operations>, parts: RaadsfeedParts): void {
  contract.serve(app, 'getSnapshot', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const page = await readSnapshotPage(parts, { ...query, limit: query.limit ?? DEFAULT_LIMIT });
    const next =
      page.cursor === null ? null : pageUrl(`${parts.mountUrl()}/snapshot`, { ...query, cursor: page.cursor });
    return parts.responses.send(request, reply, {
      body: `{"records":[${page.records}],"feedCursor":"${page.feedCursor}",${pageEnd(page.cursor, next)}`,
      maxAgeSeconds: parts.settings.headMaxAgeSeconds,
      link: nextLink(next),
      head: page.head,
    });
  });
}
