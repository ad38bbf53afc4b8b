import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { operations as LdvOperations } from '../contracts/ldv.ts';
import type { operations as LdvReadOperations } from '../contracts/ldv-lezen.ts';
import type { operations } from '../contracts/verwerkingenlog.ts';
import { createForwarder } from '../extensions/ldv/forward.ts';
import { createIntake } from '../extensions/ldv/intake.ts';
import { createLineStore } from '../extensions/ldv/lines.ts';
import { readLines } from '../extensions/ldv/read-route.ts';
import { OTLP_ERRORS, postTraces } from '../extensions/ldv/traces-route.ts';
import { authenticate, processingHeaders } from '../http/auth.ts';
import { createContract } from '../http/contract.ts';
import { createClientShare } from '../http/limits.ts';
import { readOpenapi } from '../http/openapi-document.ts';
import { apiDocs } from '../http/pages.ts';
import { type ProblemStyle, sendProblem } from '../http/problem-reply.ts';
import { logRequests, mount, mountAddress } from '../http/server.ts';
import type { Platform } from '../kernel/platform.ts';
import { verwerkingenlogProblems } from './problems.ts';
import { createLoggedRead } from './processing-log.ts';
import { proofRoutes } from './routes/proof.ts';
import { getVerwerkingsactie, getVerwerkingsacties, getVerwerkteObjecten } from './routes/read-verwerkingsacties.ts';
import type { RouteNeeds } from './routes/request-reply.ts';
import { verwerkingsactiviteiten } from './routes/verwerkingsactiviteiten.ts';
import {
  changeVerwerkingsactie,
  patchVerwerkingsacties,
  postVerwerkingsactie,
} from './routes/write-verwerkingsacties.ts';

const CONTRACT = new URL('../../openapi/verwerkingenlog.yaml', import.meta.url);
const LDV_READ_CONTRACT = new URL('../../openapi/ldv-lezen.yaml', import.meta.url);
const LDV_CONTRACT = new URL('../../openapi/ldv.yaml', import.meta.url);

const ROUTES = [
  postVerwerkingsactie,
  getVerwerkingsacties,
  patchVerwerkingsacties,
  getVerwerkingsactie,
  changeVerwerkingsactie,
  getVerwerkteObjecten,
  proofRoutes,
  verwerkingsactiviteiten,
];

/** Area B: the processing log. */
export const verwerkingenlog = fp(serveVerwerkingenlog, {
  name: 'verwerkingenlog',
  dependencies: ['operations', 'tokens', 'processing-log'],
});

async function serveVerwerkingenlog(
  app: FastifyInstance,
  { platform }: { readonly platform: Platform },
): Promise<void> {
  const { verwerkingenlog: settings, ldv, gegevens, tokens } = platform.config;
  const { prefix, rateLimit } = settings;
  const { tokens: verifier, actieLog: log } = app;
  const contract = createContract<operations>(readOpenapi(CONTRACT));
  const routeNeeds: RouteNeeds = {
    platform,
    contract,
    log,
    loggedRead: createLoggedRead(platform, log),
    access: authenticate({ verifier, clientCertificateHeader: tokens.clientCertificateHeader?.toLowerCase() }),
    headersOf: processingHeaders({ mode: gegevens.processingHeaders, metrics: platform.metrics }),
    base: mountAddress(platform, prefix),
  };
  const { forwardUrl } = platform.config.ldvOut;
  const forwarder =
    forwardUrl === undefined
      ? undefined
      : createForwarder({ platform, keys: log.keys, address: forwardUrl, base: mountAddress(platform, prefix) });
  if (forwarder !== undefined) {
    app.readiness.add(forwarder.check);
    app.operatorPage.add(forwarder.section);
    app.addHook('onListen', async () => forwarder.start());
    app.addHook('onClose', forwarder.stop);
  }
  // Loaded where it is on only: it brings a library for logging in.
  if (platform.config.inzage.pages) {
    const { serveInzage } = await import('../extensions/inzage/routes.ts');
    await serveInzage(app, platform, { log, loggedRead: routeNeeds.loggedRead });
  }
  const lines = createLineStore(platform, log);
  app.addHook('onClose', lines.idle);
  const ldvContract = createContract<LdvOperations>(readOpenapi(LDV_CONTRACT));
  const intake = createIntake(platform, { store: lines, latestMoment: log.latestMoment });
  app.problemKinds.add(...Object.values(verwerkingenlogProblems));
  await mount(app, {
    platform,
    isPersonal: true,
    prefix,
    contract,
    rateLimit,
    problemStyle: FOUT,
    routes: (scope) => {
      logRequests(scope);
      // Reads only: appends share a connection by group, and changes have their own share.
      createClientShare({
        poolOf: ({ method }) => (method === 'GET' || method === 'HEAD' ? platform.pipelinePool : undefined),
        waitMs: platform.config.database.connectTimeoutMs,
      })(scope);
      for (const route of ROUTES) route(scope, routeNeeds);
    },
  });
  await mount(app, {
    platform,
    isPersonal: true,
    prefix: ldv.prefix,
    // One client may hold half of it: a request of the largest size is never refused for another one beside it.
    bodiesInProgressBytes: Math.max(platform.config.server.bodiesInProgressBytes, 4 * ldv.bodyLimitBytes),
    contract: ldvContract,
    rateLimit,
    problemStyle: OTLP_ERRORS,
    routes: async (scope) => {
      logRequests(scope);
      // Each in a scope of its own: one takes bytes and answers as OTLP does, the other is an interface like those of area B.
      await scope.register(async (traces) => {
        postTraces(traces, { platform, contract: ldvContract, access: routeNeeds.access, intake });
      });
      if (platform.config.ldvOut.read) await scope.register((reading) => serveReading(reading, platform, routeNeeds));
    },
  });
}

/** The standard's `Fout` and `ValidatieFout`: problem documents with a code, a detail, and for 400 always the list of faults. */
const FOUT: ProblemStyle = {
  mayBeDone:
    'Het kan zijn dat het verzoek toch is uitgevoerd. Een actie vastleggen is met dezelfde `Idempotency-Key` veilig te herhalen; kijk anders eerst na of het is gebeurd.',
  body: ({ kind }, plain) => ({
    type: plain.type,
    code: kind.slug,
    title: plain.title,
    status: plain.status,
    detail: plain.detail ?? kind.explanation,
    instance: plain.instance,
    ...(plain.status === 400
      ? { invalidParams: (plain.invalidParams ?? []).map((fault) => ({ ...fault, name: fault.name || 'body' })) }
      : {}),
  }),
};

/** Reading by way of LDV, with errors, version and documentation of its own. */
async function serveReading(app: FastifyInstance, platform: Platform, needs: RouteNeeds): Promise<void> {
  const contract = createContract<LdvReadOperations>(readOpenapi(LDV_READ_CONTRACT));
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('api-version', contract.document.info.version);
    done();
  });
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, platform.publicBaseUrl, FOUT));
  createClientShare({
    poolOf: () => platform.pipelinePool,
    waitMs: platform.config.database.connectTimeoutMs,
  })(app);
  readLines(app, contract, needs);
  const address = mountAddress(platform, platform.config.ldv.prefix);
  await app.register((docs) => apiDocs(docs, contract.document, address), { prefix: '/data-processing-operations' });
}
