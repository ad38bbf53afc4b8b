import type { FastifyInstance } from 'fastify';
import type { Contract } from '../../http/contract.ts';
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidCursor } from '../cursor-problem.ts';
import { decodeListCursor, encodeListCursor } from '../domain/cursor.ts';
import { normaliseOrganisatiecode } from '../domain/resource.ts';
import { COLLECTIONS, type ResourceType } from '../domain/resource-type.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { readCollection, readResource } from '../store/read-collection.ts';
import { nextLink, pageEnd, pageUrl } from './page-links.ts';
import { DEFAULT_LIMIT, type ListQuerystring, readPageQuery } from './query.ts';
import { sendBody } from './send-body.ts';

interface Params {
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
}

/** The current resources of one kind of an organisation: `operationIds` are those of the list and of one of it. */
export function collectionRoutes(
  app: FastifyInstance,
  contract: Contract,
  parts: RaadsfeedParts,
  resourceType: ResourceType,
  operationIds: { readonly list: string; readonly one: string },
): void {
  const { db, settings, mountUrl, state, answers } = parts;

  contract.serve<{ Params: Params; Querystring: ListQuerystring }>(
    app,
    operationIds.list,
    {},
    async (request, reply) => {
      const organisatiecode = codeOf(request.params.organisatiecode);
      const { cursor, limit } = readPageQuery(request);
      const feed = await state.current();
      const { feedId } = feed;
      const after = cursor === undefined ? { position: '' } : decodeListCursor(feedId, cursor);
      if ('fault' in after) throw invalidCursor(after.fault);
      const size = limit ?? DEFAULT_LIMIT;
      const { found, isCut } = await readCollection(db, { organisatiecode, resourceType }, after.position, size + 1);
      await state.afresh();
      const results = found.slice(0, size);
      const last = results.at(-1);
      const nextCursor =
        (found.length > size || isCut) && last !== undefined ? encodeListCursor(feedId, last.bronidentificatie) : null;
      const listUrl = `${mountUrl()}/organisaties/${organisatiecode}/${COLLECTIONS[resourceType]}`;
      const next = nextCursor === null ? null : pageUrl(listUrl, { limit, cursor: nextCursor });
      return sendBody(request, reply, {
        body: `{"results":[${results.map(({ dataText }) => dataText).join(',')}],${pageEnd(nextCursor, next)}`,
        maxAgeSeconds: settings.headMaxAgeSeconds,
        link: nextLink(next),
        keep: { answers, feed },
      });
    },
  );

  contract.serve<{ Params: Params }>(app, operationIds.one, {}, async (request, reply) => {
    const { bronidentificatie } = request.params;
    const organisatiecode = codeOf(request.params.organisatiecode);
    const feed = await state.current();
    const found = await readResource(db, { organisatiecode, resourceType, bronidentificatie });
    await state.afresh();
    if (found === undefined) {
      throw new Problem(platformProblems.notFound, { detail: 'Deze resource is onbekend of verwijderd.' });
    }
    return sendBody(request, reply, {
      body: found.dataText,
      maxAgeSeconds: settings.headMaxAgeSeconds,
      keep: { answers, feed },
    });
  });
}

/** The contract has checked the form; only the case is still free. */
function codeOf(text: string): string {
  return normaliseOrganisatiecode(text) ?? text;
}
