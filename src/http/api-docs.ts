import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import type { OpenapiDocument } from './openapi-document.ts';
import { platformProblems } from './problems.ts';

const DOCS = '/docs';

/** The pages run only our own script; they set styles through the document, which needs no permission. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * What there is under `docs`: the page, its specification, and files right in `static` or its theme. Anything else is 404, so that no
 * path that leads elsewhere (`..`, in whatever encoding) reaches the code that reads files.
 */
const DOCS_PATH = /^(?:\/json|\/static\/(?:theme\/)?[\w-]+\.[a-z]+)?$/;

/** Serves a mount's contract at `openapi.json` (open to every origin) and as readable pages at `docs`. */
export async function apiDocs(app: FastifyInstance, document: OpenapiDocument, mountUrl: () => string): Promise<void> {
  // Large with the exchange models in it, and always the same once the address is known.
  let published: { readonly url: string; readonly text: string } | undefined;
  const specification = (): string => {
    const url = mountUrl();
    if (published?.url !== url) published = { url, text: JSON.stringify({ ...document, servers: [{ url }] }) };
    return published.text;
  };
  app.get('/openapi.json', { config: { public: true } }, (_request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' })
      .type('application/json; charset=utf-8')
      .send(specification()),
  );
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true };
    });
    scope.addHook('onRequest', (request, reply, done) => {
      const [path = ''] = request.url.split('?', 1);
      const within = path.slice(app.prefix.length + DOCS.length);
      if (!DOCS_PATH.test(within)) throw new Problem(platformProblems.notFound);
      if (within !== '/json') return done();
      reply.type('application/json; charset=utf-8').send(specification());
    });
    await scope.register(swagger, { mode: 'static', specification: { document: structuredClone(Object(document)) } });
    await scope.register(swaggerUi, {
      routePrefix: DOCS,
      indexPrefix: app.prefix,
      staticCSP: DOCS_POLICY,
      // Without the bar on top: it offers to read other documents, which the content security policy refuses.
      theme: {
        title: document.info.title,
        css: [{ filename: 'theme.css', content: '.swagger-ui .topbar{display:none}' }],
      },
      uiConfig: { docExpansion: 'list', deepLinking: true, supportedSubmitMethods: [] },
    });
  });
}
