import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { loadModel } from '../lib/exchange-model/model.ts';
import { createVerifier } from '../lib/jades/verify.ts';
import { createGuardedFetch } from '../lib/outbound/guarded-fetch.ts';
import { type FscCode, Problem } from '../lib/problem.ts';
import { readTextFileSync } from '../lib/text-file.ts';
import { authenticate, createConsumerReader } from '../plugins/auth.ts';
import { createClientShare } from '../plugins/limits.ts';
import type { ProblemStyle } from '../plugins/problem-reply.ts';
import { mount } from '../plugins/requests.ts';
import { createPageFinders } from './exchange/page.ts';
import { createMetrics } from './metrics.ts';
import { createOwnSigner } from './own-signer.ts';
import { gegevensProblems } from './problems.ts';
import { postGegevens, rawJsonBody, verifyExchange } from './routes/post-gegevens.ts';
import { deliveriesSection } from './store/journal.ts';
import { variantContract } from './variant-contract.ts';
import { variantSettings } from './variant-settings.ts';

const MEGABYTE = 1024 * 1024;

/** Area A: the exchange of data, a mount per variant. @throws {Error} for operators: models, trust anchors or the own key are unusable */
export const gegevens = fp(serveGegevens, {
  name: 'gegevens',
  dependencies: ['database', 'proof-writers', 'operations', 'metrics', 'routes', 'tokens', 'processing-log'],
});

async function serveGegevens(app: FastifyInstance): Promise<void> {
  const { settings: config, clock, log } = app;
  const { gegevens: settings, tokens, server } = config;
  const pool = app.database.exchangePool;
  const metrics = createMetrics(app.metrics);
  const revocation = createGuardedFetch({ allowPrivate: settings.revocationAllowPrivate, proxy: server });
  const verifier = createVerifier({
    fetch: revocation.fetch,
    anchors: readTextFileSync(settings.trustAnchors ?? ''),
    requiredPolicies: settings.requiredPolicies,
    revocation: settings.revocation,
    now: clock.now.bind(clock),
    maxSignatureAgeMs: settings.maxSignatureAge,
    refreshFailed: (reason) =>
      log.warn({ err: reason }, 'a revocation answer could not be refreshed; it is used until it expires'),
    limits: { ocspTimeoutMs: settings.ocspTimeoutMs, crlBytes: settings.crlMaxMb * MEGABYTE },
  });
  const ownSigner = createOwnSigner({
    config,
    clock,
    log,
    keyLoaded: ({ notAfter }) => metrics.certificateExpiry.set(notAfter.getTime() / 1000),
  });
  const pages = createPageFinders(app, metrics);
  const consumerOf = createConsumerReader({ mode: settings.processingHeaders, metrics: app.metrics });
  // Both mounts share the pool, so clients have one share of it.
  const share = createClientShare({ pool, waitMs: config.database.connectTimeoutMs });
  // Called in reverse order; a failing one does not keep the others from closing.
  app.addHook('onClose', async () => revocation.close());
  app.addHook('onClose', async () => verifier.close());
  app.addHook('onClose', async () => ownSigner.close());
  app.addHook('onClose', async () => pages.close());

  for (const variant of ['shv', 'vs'] as const) {
    if (!server.areas.includes(variant)) continue;
    const { model: named, maximum, service, prefix } = variantSettings(settings, variant);
    const model = loadModel(variant, named);
    const contract = variantContract(variant, model, maximum, config);
    const findPage = pages.finderOf(model, maximum);
    const options = { variant, mapping: model.mapping, verifier, ownSigner, consumerOf, metrics, findPage };
    const beforeValidation = verifyExchange(app, options);
    const answer = postGegevens(app, options);
    const clientCertificateHeader = tokens.clientCertificateHeader?.toLowerCase();
    await mount(app, {
      isPersonal: true,
      prefix,
      contract,
      rateLimit: settings.rateLimit,
      problemStyle: fscStyle,
      share,
      routes: (scope) => {
        rawJsonBody(scope);
        const access = authenticate({ verifier: app.tokens, service, clientCertificateHeader });
        contract.serve(scope, 'postGegevens', { authenticate: access, beforeValidation }, answer);
      },
    });
  }
  app.problemKinds.push(...Object.values(gegevensProblems));
  // Without a usable certificate the other interfaces are still served.
  const isVital = server.areas.every((area) => area === 'shv' || area === 'vs');
  app.readiness.push({ ...ownSigner.check, vital: isVital });
  app.operatorPage.push(deliveriesSection(pool));
}

/** Problems of the platform for which this contract has an error of the FSC standard. */
const CODES: Readonly<Record<string, FscCode>> = {
  'not-found': 'ERROR_CODE_SERVICE_NOT_FOUND',
  'method-not-allowed': 'ERROR_CODE_METHOD_UNSUPPORTED',
  unavailable: 'ERROR_CODE_SERVICE_UNREACHABLE',
};

/** Errors of the FSC standard in its shape, with their code in a header too; others as plain problems. @see FSC Core 1.1, "Error handling" */
const fscStyle: ProblemStyle = {
  translate: (problem) => {
    const fsc = problem.fsc ?? CODES[problem.kind.slug];
    if (fsc === undefined) return problem;
    // The contract has no 503; 502 says that the service cannot be reached.
    const kind = problem.kind.status === 503 ? gegevensProblems.dienstOnbereikbaar : problem.kind;
    return new Problem(kind, {
      detail: problem.detail,
      headers: { ...problem.headers, 'fsc-error-code': fsc },
      fsc,
      cause: problem.cause,
    });
  },
  body: ({ fsc }, plain) => {
    const { type, title, status, detail, instance } = plain;
    const common = { title, status, ...(detail === undefined ? {} : { detail }) };
    if (fsc === undefined) return { type, ...common, instance };
    const domain = fsc === 'ERROR_CODE_METHOD_UNSUPPORTED' ? 'ERROR_DOMAIN_OUTWAY' : 'ERROR_DOMAIN_INWAY';
    // The FSC standard has `message`, the published contract of this interface `title`.
    return { code: fsc, domain, message: detail ?? title, ...common };
  },
};
