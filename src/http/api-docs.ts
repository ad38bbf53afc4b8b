import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { OpenapiDocument } from './openapi-document.ts';

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

/** Serves a mount's contract at `openapi.json` (open to every origin) and as readable pages at `docs`. */
export async function apiDocs(app: FastifyInstance, document: OpenapiDocument, mountUrl: () => string): Promise<void> {
  const published = (): OpenapiDocument => ({ ...document, servers: [{ url: mountUrl() }] });
  app.get('/openapi.json', { config: { public: true } }, (_request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' })
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(published())),
  );
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true };
    });
    await scope.register(swagger, { mode: 'static', specification: { document: structuredClone(Object(document)) } });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: app.prefix,
      staticCSP: DOCS_POLICY,
      transformSpecification: () => Object(published()),
      transformSpecificationClone: false,
      // Without the bar on top: it offers to read other documents, which the content security policy refuses.
      theme: {
        title: document.info.title,
        css: [{ filename: 'theme.css', content: '.swagger-ui .topbar{display:none}' }],
      },
      uiConfig: { docExpansion: 'list', deepLinking: true, supportedSubmitMethods: [] },
    });
  });
}
