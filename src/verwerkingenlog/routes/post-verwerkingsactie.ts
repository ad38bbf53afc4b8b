import type { FastifyInstance } from 'fastify';
import { actieFaults } from '../domain/actie-faults.ts';
import { etag } from '../domain/etag.ts';
import { readActie } from '../domain/read-actie.ts';
import { actieAnswer } from './answers.ts';
import { allow, auteurOf, type RouteNeeds, refuse } from './route-needs.ts';

/** F7446 and F6624: keeping an action. */
export function postVerwerkingsactie(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, base, platform, log } = needs;
  const { checkBsn } = platform.config.verwerkingenlog;
  contract.serve(
    app,
    'postVerwerkingsactie',
    { authenticate: access, furtherFaults: ({ body }) => actieFaults(body, { checkBsn }) },
    async (request, reply) => {
      const { actie, faults } = readActie(request.body, { checkBsn });
      refuse(faults);
      allow(request, 'vastleggen', [actie.vertrouwelijkheid]);
      // It is kept also when the client goes away meanwhile.
      const release = request.holdBody?.();
      const versie = await log
        .append(actie, auteurOf(request), { idempotencyKey: request.headers['idempotency-key'] })
        .finally(() => release?.());
      const answer = actieAnswer(versie, base(), false);
      reply.code(201).headers({ location: answer.url, etag: etag(versie.versie) });
      return answer;
    },
  );
}
