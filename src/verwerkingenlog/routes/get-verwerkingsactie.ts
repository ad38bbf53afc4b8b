import type { FastifyInstance } from 'fastify';
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';
import { categorieOf } from '../domain/access.ts';
import { etag } from '../domain/etag.ts';
import { readCurrent } from '../store/read-versie.ts';
import { reveal } from '../store/stored-versie.ts';
import { actieAnswer } from './answers.ts';
import { allow, may, type RouteNeeds, readerOf, sendJson } from './route-needs.ts';

/** One action by its identity. */
export function getVerwerkingsactie(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base } = needs;
  contract.serve<{ Params: { actieId: string }; Querystring: { beperkteSet?: boolean } }>(
    app,
    'getVerwerkingsactie',
    { authenticate: access },
    async (request, reply) => {
      const reader = readerOf(request, needs, 'Verwerkingsactie opvragen');
      const { versie, beperkteSet } = await needs.readInLog(reader, async (db) => {
        const stored = await readCurrent(db, request.params.actieId);
        if (stored === undefined)
          throw new Problem(platformProblems.notFound, { detail: 'De actie bestaat niet of is vervallen.' });
        const categorie = categorieOf(stored);
        // Unasked, all that the caller may see: who changes an action must give every field of it back.
        const beperkteSet = request.query.beperkteSet ?? !may(request, 'opvragen', [categorie], false);
        allow(request, 'opvragen', [categorie], beperkteSet);
        const versie = reveal(stored, needs.log.keys);
        const confidential = categorie === 'vertrouwelijk';
        return { result: { versie, beperkteSet }, persons: versie.objecten, confidential };
      });
      return sendJson(reply.header('etag', etag(versie.versie)), actieAnswer(versie, base(), beperkteSet));
    },
  );
}
