import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../http/auth.ts';
import { requestClosedSignal } from '../../http/connections.ts';
import { Problem } from '../../kernel/problem.ts';
import { changeActie } from '../change-actie.ts';
import { categorieOf } from '../domain/access.ts';
import { actieFaults } from '../domain/actie-faults.ts';
import { ended, replaced } from '../domain/change-versie.ts';
import { etag, matches } from '../domain/etag.ts';
import { readActie } from '../domain/read-actie.ts';
import { verwerkingenlogProblems } from '../problems.ts';
import { actieAnswer } from './answers.ts';
import { allow, auteurOf, type RouteNeeds, refuse, unknown } from './route-needs.ts';

/** F8316 and F3835 (PUT), F9906 and F2265 (DELETE): a new version of one action. */
export function changeVerwerkingsactie(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base, platform, log } = needs;
  const { checkBsn } = platform.config.verwerkingenlog;

  contract.serve(
    app,
    'putVerwerkingsactie',
    { authenticate: access, furtherFaults: ({ body }) => actieFaults(body, { checkBsn }) },
    async (request, reply) => {
      const { actie, faults } = readActie(request.body, { checkBsn });
      refuse(faults);
      // Not by any scope: lifting is done to a whole processing.
      if (actie.vertrouwelijkheid === 'opgeheven') allow(request, 'vastleggen', ['opgeheven']);
      const release = request.holdBody?.();
      const versie = await changeActie(platform, log, {
        actieId: request.params.actieId.toLowerCase(),
        verwerkingId: actie.verwerkingId,
        objects: actie.verwerkteObjecten.length,
        client: callerOf(request).subject,
        gone: requestClosedSignal(reply),
        change: (current, lastNumber) => {
          allow(request, 'wijzigen', [categorieOf(current), actie.vertrouwelijkheid]);
          demand(request.headers['if-match'], current.versie);
          return replaced(current, actie, lastNumber, platform.clock.now(), auteurOf(request));
        },
      }).finally(() => release?.());
      if (versie === undefined) throw unknown('actieId');
      reply.header('etag', etag(versie.versie));
      return actieAnswer(versie, base(), false);
    },
  );

  contract.serve(app, 'deleteVerwerkingsactie', { authenticate: access }, async (request, reply) => {
    const versie = await changeActie(platform, log, {
      actieId: request.params.actieId.toLowerCase(),
      verwerkingId: null,
      objects: 0,
      client: callerOf(request).subject,
      gone: requestClosedSignal(reply),
      change: (current) => {
        allow(request, 'verwijderen', [categorieOf(current)]);
        demand(request.headers['if-match'], current.versie);
        return ended(current, platform.clock.now(), auteurOf(request));
      },
    });
    if (versie === undefined) throw unknown('actieId');
    return reply.code(204).send();
  });
}

function demand(ifMatch: string | undefined, versie: number): void {
  if (!matches(ifMatch, etag(versie))) throw new Problem(verwerkingenlogProblems.nieuwereVersie);
}
