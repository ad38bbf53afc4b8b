import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import { Problem } from '../../lib/problem.ts';
import type { Contract } from '../../plugins/contract.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { COLLECTIONS, type ResourceType } from '../domain/resource.ts';
import { encodeListCursor, resolveListCursor } from '../feed/cursor.ts';
import type { RaadsfeedServices } from '../services.ts';
import { readCollection, readResource } from '../store/read-current.ts';
import { nextLink, pageEnd, pageUrl, readPageQuery, withCommas } from './page-query.ts';

type ListOperation = 'getVergaderingen' | 'getAgendapunten' | 'getInformatieobjecten';
type OneOperation = 'getVergadering' | 'getAgendapunt' | 'getInformatieobject';

/** The current resources of one kind of an organisation: `operationIds` are those of the list and of one of it. */
export function collectionRoutes(
  app: FastifyInstance,
  contract: Contract<operations>,
  services: RaadsfeedServices,
  resourceType: ResourceType,
  operationIds: { readonly list: ListOperation; readonly one: OneOperation },
): void {
  const { heads, reader, settings, mountUrl, responses } = services;

  contract.serve(app, operationIds.list, {}, async (request, reply) => {
    const organisatiecode = codeOf(request.params.organisatiecode);
    const { cursor, limit } = readPageQuery(request);
    const { feedId, after } = await resolveListCursor(heads, cursor);
    return responses.answer(request, reply, limit, async () => {
      const { found, isAll, head } = await reader.read((db) =>
        readCollection(db, { organisatiecode, resourceType }, after, limit + 1),
      );
      const results = found.slice(0, limit);
      const last = results.at(-1);
      const isLast = (isAll && found.length <= limit) || last === undefined;
      const nextCursor = isLast ? null : encodeListCursor(feedId, last.bronidentificatie);
      const listUrl = `${mountUrl()}/organisaties/${organisatiecode}/${COLLECTIONS[resourceType]}`;
      const next = nextCursor === null ? null : pageUrl(listUrl, { limit, cursor: nextCursor });
      return {
        body: () => [
          '{"results":[',
          ...withCommas(results.map(({ dataText }) => dataText)),
          `],${pageEnd(nextCursor, next)}`,
        ],
        maxAgeSeconds: settings.headMaxAgeSeconds,
        link: nextLink(next),
        head,
      };
    });
  });

  contract.serve(app, operationIds.one, {}, (request, reply) =>
    responses.answer(request, reply, 1, async () => {
      const { bronidentificatie } = request.params;
      const organisatiecode = codeOf(request.params.organisatiecode);
      await heads.head();
      const { resource, head } = await reader.read((db) =>
        readResource(db, { organisatiecode, resourceType, bronidentificatie }),
      );
      if (resource === undefined) {
        throw new Problem(platformProblems.notFound, { detail: 'Deze resource is onbekend of verwijderd.' });
      }
      return { body: () => resource.dataText, maxAgeSeconds: settings.headMaxAgeSeconds, head };
    }),
  );
}

/** The contract has checked the form; only the case is still free. */
function codeOf(text: string): string {
  return normaliseOrganisatiecode(text) ?? text;
}
