import type { FastifyInstance } from 'fastify';
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';
import { categorieOf } from '../domain/access.ts';
import { parseVerwerktObjectId } from '../domain/actie-id.ts';
import { etag } from '../domain/etag.ts';
import { readCurrent } from '../store/read-versie.ts';
import { reveal } from '../store/stored-versie.ts';
import { objectAnswer } from './answers.ts';
import { type PersonQuery, questionFaults } from './person-query.ts';
import { preparePersonPage } from './read-person-page.ts';
import { type RouteNeeds, readerOf, sendJson } from './route-needs.ts';

/** What a person may see of himself: nothing that is confidential, whatever the scope. */
const OPEN = ['normaal', 'opgeheven'] as const;

/** Inspection by the person: where he was processed. */
export function getVerwerkteObjecten(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;

  contract.serve<{ Querystring: PersonQuery }>(
    app,
    'getVerwerkteObjecten',
    { authenticate: access, furtherFaults: ({ query }) => questionFaults(query, 'object') },
    async (request, reply) => {
      const { query } = request;
      const address = `${base()}/verwerkte-objecten`;
      const read = preparePersonPage(request, query, needs, { categorieen: OPEN, address, per: 'object' });
      const { versies, ...page } = await needs.readInLog(
        readerOf(request, needs, 'Inzage door de betrokkene'),
        async (db) => ({
          ...(await read(db)),
          persons: [{ soortObjectId: query.soortObjectId, objectId: query.objectId }],
          confidential: false,
        }),
      );
      const results = versies.flatMap((versie) =>
        versie.objecten.map((object) => objectAnswer(object, versie, base())),
      );
      return sendJson(reply, { ...page, results });
    },
  );

  contract.serve<{ Params: { verwerktObjectId: string } }>(
    app,
    'getVerwerktObject',
    { authenticate: access },
    async (request, reply) => {
      const { actieId, number } = parseVerwerktObjectId(request.params.verwerktObjectId);
      const reader = readerOf(request, needs, 'Inzage door de betrokkene');
      const { object, versie } = await needs.readInLog(reader, async (db) => {
        const stored = await readCurrent(db, actieId);
        const versie =
          stored === undefined || categorieOf(stored) === 'vertrouwelijk' ? undefined : reveal(stored, needs.log.keys);
        const object = versie?.objecten.find(({ nummer }) => nummer === number);
        if (versie === undefined || object === undefined) {
          throw new Problem(platformProblems.notFound, {
            detail: 'Het verwerkte object bestaat niet of is vervallen.',
          });
        }
        return { result: { object, versie }, persons: [object], confidential: false };
      });
      return sendJson(reply.header('etag', etag(versie.versie)), objectAnswer(object, versie, base()));
    },
  );
}
