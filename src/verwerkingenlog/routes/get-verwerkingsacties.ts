import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/verwerkingenlog.ts';
import { CATEGORIEEN, type Categorie } from '../domain/access.ts';
import { readVertrouwelijkheid } from '../domain/read-actie.ts';
import { actieAnswer } from './answers.ts';
import { questionFaults } from './person-query.ts';
import { preparePersonPage } from './read-person-page.ts';
import { allow, type RouteNeeds, readerOf } from './route-needs.ts';

type ListQuery = operations['getVerwerkingsacties']['parameters']['query'];

/** F4086, F2525, F9787 and F0143: the actions in which a person was processed. */
export function getVerwerkingsacties(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;
  contract.serve(
    app,
    'getVerwerkingsacties',
    { authenticate: access, furtherFaults: ({ query }) => questionFaults(query, 'actie') },
    async (request, reply) => {
      const { query } = request;
      const asked = askedCategorieen(query);
      const categorieen = asked.length === 0 ? CATEGORIEEN : asked;
      allow(request, 'opvragen', categorieen, query.beperkteSet);
      const address = `${base()}/verwerkingsacties`;
      const read = preparePersonPage(request, query, needs, { categorieen, address, per: 'actie' });
      const reader = readerOf(request, reply, needs, 'Verwerkingsacties van een persoon opvragen');
      const { versies, ...page } = await needs.readInLog(reader, async (db) => ({
        ...(await read(db)),
        persons: [{ soortObjectId: query.soortObjectId, objectId: query.objectId }],
      }));
      const results = versies.map((versie) => actieAnswer(versie, base(), query.beperkteSet));
      return { ...page, results };
    },
  );
}

/** Both spellings of the parameter together, each value once. */
function askedCategorieen(query: ListQuery): Categorie[] {
  const words = [...(query.vertrouwelijkheid ?? []), ...(query.vertrouwelijkheid__in?.split(',') ?? [])];
  return [...new Set(words.map(readVertrouwelijkheid))];
}
