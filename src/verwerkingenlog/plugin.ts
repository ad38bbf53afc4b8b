import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { operations } from '../contracts/verwerkingenlog.ts';
import { readOpenapi, readValidation } from '../lib/openapi-document.ts';
import { authenticate, createConsumerReader } from '../plugins/auth.ts';
import { type Contract, createContract, type ServeOptions } from '../plugins/contract.ts';
import { createClientShare } from '../plugins/limits.ts';
import type { ProblemStyle } from '../plugins/problem-reply.ts';
import type { ProcessingContext } from '../plugins/processing-headers.ts';
import { mount, mountAddress } from '../plugins/requests.ts';
import { createLoggedRead, type LoggedRead } from './logged-read.ts';
import { verwerkingenlogProblems } from './problems.ts';
import { getVerwerkingsactie, getVerwerkingsacties, getVerwerkteObjecten } from './routes/read-verwerkingsacties.ts';
import { changeVerwerkingsactie, patchVerwerkingsacties, postVerwerkingsactie } from './routes/verwerkingsacties.ts';
import { verwerkingsactiviteiten } from './routes/verwerkingsactiviteiten.ts';

const CONTRACT = new URL('../../openapi/verwerkingenlog.yaml', import.meta.url);

const ROUTES = [
  postVerwerkingsactie,
  getVerwerkingsacties,
  patchVerwerkingsacties,
  getVerwerkingsactie,
  changeVerwerkingsactie,
  getVerwerkteObjecten,
  verwerkingsactiviteiten,
];

declare module 'fastify' {
  interface FastifyInstance {
    readonly verwerkingenlog: {
      readonly contract: Contract<operations>;
      readonly loggedRead: LoggedRead;
      readonly access: NonNullable<ServeOptions['authenticate']>;
      readonly consumerOf: (request: FastifyRequest) => ProcessingContext;
      readonly base: () => string;
    };
  }
}

export const verwerkingenlog = fp(serveVerwerkingenlog, {
  name: 'verwerkingenlog',
  dependencies: ['database', 'proof-writers', 'operations', 'metrics', 'routes', 'tokens', 'processing-log'],
});

async function serveVerwerkingenlog(app: FastifyInstance): Promise<void> {
  const { settings: config, metrics } = app;
  const { verwerkingenlog: settings, gegevens, tokens } = config;
  const { prefix, rateLimit } = settings;
  const { tokens: verifier } = app;
  const contract = createContract<operations>(readOpenapi(CONTRACT), readValidation(CONTRACT));
  app.decorate('verwerkingenlog', {
    contract,
    loggedRead: createLoggedRead(app),
    access: authenticate({ verifier, clientCertificateHeader: tokens.clientCertificateHeader?.toLowerCase() }),
    // One setting for the headers of both areas.
    consumerOf: createConsumerReader({ mode: gegevens.processingHeaders, metrics }),
    base: mountAddress(app, prefix),
  });
  app.problemKinds.push(...Object.values(verwerkingenlogProblems));
  await mount(app, {
    isPersonal: true,
    prefix,
    contract,
    rateLimit,
    problemStyle: FOUT,
    // Reads only: appends share a connection by group, and changes have their own limit.
    share: createClientShare({
      pool: app.database.logPool,
      uses: (method) => method === 'GET' || method === 'HEAD',
      waitMs: config.database.connectTimeoutMs,
    }),
    routes: (scope) => {
      for (const route of ROUTES) route(scope);
    },
  });
  await app.register((await import('./ldv/plugin.ts')).ldv);
  if (config.inzage.pages) await app.register((await import('./inzage/plugin.ts')).inzage);
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
