import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { operations } from '../../contracts/ldv.ts';
import type { operations as ReadOperations } from '../../contracts/ldv-lezen.ts';
import { createContract } from '../../plugins/contract.ts';
import { createClientShare } from '../../plugins/limits.ts';
import { readOpenapi } from '../../plugins/openapi-document.ts';
import { describeInterface } from '../../plugins/pages.ts';
import { sendProblem } from '../../plugins/problem-reply.ts';
import { mount, mountAddress } from '../../plugins/requests.ts';
import { FOUT } from '../fout.ts';
import { startForwarding } from './forward.ts';
import { createIntake } from './intake.ts';
import { createLineStore } from './lines.ts';
import { readLines } from './read-route.ts';
import { OTLP_ERRORS, postTraces } from './traces-route.ts';

const CONTRACT = new URL('../../../openapi/ldv.yaml', import.meta.url);
const READ_CONTRACT = new URL('../../../openapi/ldv-lezen.yaml', import.meta.url);

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
    // One client may hold half of it: a request of the largest size is never refused for another one beside it.
    bodiesInProgressBytes: Math.max(server.bodiesInProgressBytes, 4 * ldv.bodyLimitBytes),
    contract,
    rateLimit: verwerkingenlog.rateLimit,
    problemStyle: OTLP_ERRORS,
    routes: async (scope) => {
      // Each in a scope of its own: one takes bytes and answers as OTLP does, the other is an interface like those of area B.
      await scope.register(async (traces) => postTraces(traces, contract, intake));
      if (ldvOut.read) await scope.register(serveReading);
    },
  });
}

/** Reading through LDV, with its own errors, version and documentation. */
async function serveReading(app: FastifyInstance): Promise<void> {
  const { database, ldv } = app.settings;
  const contract = createContract<ReadOperations>(readOpenapi(READ_CONTRACT));
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('api-version', contract.document.info.version);
    done();
  });
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, FOUT));
  createClientShare({ pool: app.database.pipelinePool, waitMs: database.connectTimeoutMs })(app);
  readLines(app, contract, app.verwerkingenlog);
  const described = {
    document: contract.document,
    url: mountAddress(app, ldv.prefix),
    rateLimit: app.settings.verwerkingenlog.rateLimit,
  };
  await app.register(async (docs) => describeInterface(docs, described), { prefix: '/data-processing-operations' });
}
