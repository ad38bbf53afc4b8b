import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { operations } from '../../contracts/ldv.ts';
import { readOpenapi } from '../../lib/openapi-document.ts';
import { createContract } from '../../plugins/contract.ts';
import { mount } from '../../plugins/requests.ts';
import { startForwarding } from './forward.ts';
import { createIntake } from './intake.ts';
import { createLineStore } from './lines.ts';
import { OTLP_ERRORS, postTraces } from './traces-route.ts';

const CONTRACT = new URL('../../../openapi/ldv.yaml', import.meta.url);

/** The Logboek Dataverwerkingen: the processing log over OTLP, and forwarding to another logbook. */
export const ldv = fp(serveLdv, { name: 'ldv', dependencies: ['verwerkingenlog'] });

async function serveLdv(app: FastifyInstance): Promise<void> {
  const { ldv, ldvOut, server, verwerkingenlog } = app.settings;
  if (ldvOut.forwardUrl !== undefined) startForwarding(app, ldvOut.forwardUrl, app.database.pool);
  const contract = createContract<operations>(readOpenapi(CONTRACT));
  const intake = createIntake(app, createLineStore(app));
  await mount(app, {
    isPersonal: true,
    prefix: ldv.prefix,
    // One client may hold half of it, so that a request of the largest size is never refused because of another.
    bodiesInProgressBytes: Math.max(server.bodiesInProgressBytes, 4 * ldv.bodyLimitBytes),
    contract,
    rateLimit: verwerkingenlog.rateLimit,
    problemStyle: OTLP_ERRORS,
    routes: async (scope) => postTraces(scope, contract, intake),
  });
}
