import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../http/contract.ts';
import { readSnapshotPage } from '../feed/page.ts';
import type { RaadsfeedServices } from '../parts.ts';
import { DEFAULT_LIMIT, nextLink, pageEnd, pageUrl, readPageQuery } from './query.ts';

/** `GET /snapshot`: the current state, and where the feed goes on from it. */
export function snapshotRoute(app: FastifyInstance, contract: Contract<operations>, parts: RaadsfeedServices): void {
  contract.serve(app, 'getSnapshot', {}, async (request, reply) => {
    const query = readPageQuery(request);
    const limit = query.limit ?? DEFAULT_LIMIT;
    return parts.responses.make(request, reply, limit, async () => {
      const page = await readSnapshotPage(parts, { ...query, limit });
      const next =
        page.cursor === null ? null : pageUrl(`${parts.mountUrl()}/snapshot`, { ...query, cursor: page.cursor });
      return {
        body: () => `{"records":[${page.records}],"feedCursor":"${page.feedCursor}",${pageEnd(page.cursor, next)}`,
        maxAgeSeconds: parts.settings.headMaxAgeSeconds,
        link: nextLink(next),
        head: page.head,
        bytes: page.records.length,
      };
    });
  });
}
