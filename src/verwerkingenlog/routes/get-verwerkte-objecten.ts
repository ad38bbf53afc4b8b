import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/auth.ts';
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';
import { type Categorie, categorieOf } from '../domain/access.ts';
import { parseVerwerktObjectId } from '../domain/actie-id.ts';
import { etag } from '../domain/etag.ts';
import { readCurrentPart } from '../store/read-versie.ts';
import { reveal } from '../store/stored-versie.ts';
import { objectAnswer } from './answers.ts';
import { questionFaults, shownObjects } from './person-query.ts';
import { preparePersonPage } from './read-person-page.ts';
import { type RouteNeeds, readerOf, tagged } from './route-needs.ts';

/** What is shown of where a person was processed: nothing that is confidential; what was lifted, with the scope for confidential actions. */
function shownCategorieen(request: FastifyRequest): readonly Categorie[] {
  return callerOf(request).scopes.has('read:confidential') ? ['normaal', 'opgeheven'] : ['normaal'];
}

/** Inspection by the person: where he was processed. */
export function getVerwerkteObjecten(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;

  contract.serve(
    app,
    'getVerwerkteObjecten',
    { authenticate: access, furtherFaults: ({ query }) => questionFaults(query, 'object') },
    async (request, reply) => {
      const { query } = request;
      const address = `${base()}/verwerkte-objecten`;
      const read = preparePersonPage(request, query, needs, {
        categorieen: shownCategorieen(request),
        address,
        per: 'object',
      });
      const { versies, ...page } = await needs.readInLog(
        readerOf(request, reply, needs, 'Inzage door de betrokkene'),
        async (db) => ({
          ...(await read(db)),
          persons: [{ soortObjectId: query.soortObjectId, objectId: query.objectId }],
        }),
      );
      const results = versies.flatMap((versie) =>
        versie.objecten.map((object) => objectAnswer(object, versie, base())),
      );
      return { ...page, results };
    },
  );

  contract.serve(app, 'getVerwerktObject', { authenticate: access }, async (request, reply) => {
    const { actieId, number } = parseVerwerktObjectId(request.params.verwerktObjectId);
    const reader = readerOf(request, reply, needs, 'Inzage door de betrokkene');
    const { object, versie } = await needs.readInLog(reader, async (db) => {
      const part = await readCurrentPart(db, actieId, { number });
      const versie =
        part !== undefined && shownCategorieen(request).includes(categorieOf(part.stored))
          ? reveal(part.stored, needs.log.keys)
          : undefined;
      const [object] = shownObjects(request, request.query, versie?.objecten ?? []) ?? [];
      if (versie === undefined || object === undefined) {
        throw new Problem(platformProblems.notFound, {
          detail: 'Het verwerkte object bestaat niet of is vervallen.',
        });
      }
      return { result: { object, versie }, persons: [object], confidential: false };
    });
    return tagged(request, reply, etag(versie.versie), objectAnswer(object, versie, base()));
  });
}
