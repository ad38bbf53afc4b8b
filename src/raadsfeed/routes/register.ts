import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../http/contract.ts';
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';
import { decodeListCursor, encodeListCursor, invalidCursor } from '../feed/cursor.ts';
import type { RaadsfeedServices } from '../parts.ts';
import type { Register } from '../register.ts';
import { DEFAULT_LIMIT, nextLink, pageEnd, pageUrl, readPageQuery } from './query.ts';

/** `GET /register`: where feeds are. A service that is no register answers 404. */
export function registerRoute(
  app: FastifyInstance,
  contract: Contract<operations>,
  parts: RaadsfeedServices,
  register: Register | undefined,
): void {
  contract.serve(app, 'getRegister', {}, async (request, reply) => {
    if (register === undefined)
      throw new Problem(platformProblems.notFound, { detail: 'Deze dienst is geen register.' });
    const { cursor, limit, organisatiecode } = readPageQuery(request);
    const { feedId } = await parts.heads.head();
    const after = cursor === undefined ? { position: '' } : decodeListCursor(feedId, cursor);
    if ('fault' in after) throw invalidCursor(after.fault);
    const size = limit ?? DEFAULT_LIMIT;
    const found = await register.list(after.position, size + 1, organisatiecode);
    const results = found.slice(0, size);
    const last = results.at(-1);
    const nextCursor = found.length > size && last !== undefined ? encodeListCursor(feedId, last.serviceUrl) : null;
    const next =
      nextCursor === null
        ? null
        : pageUrl(`${parts.mountUrl()}/register`, { limit, organisatiecode, cursor: nextCursor });
    return parts.responses.send(request, reply, {
      body: () => `{"results":${JSON.stringify(results)},${pageEnd(nextCursor, next)}`,
      maxAgeSeconds: parts.settings.headMaxAgeSeconds,
      link: nextLink(next),
    });
  });
}
