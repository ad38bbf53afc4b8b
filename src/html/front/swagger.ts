/** Swagger UI, for trying an interface. It needs script; the page of the interface does not. */
import swagger from '@fastify/swagger';
import swaggerUiPlugin from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { DescribedInterface } from '../../lib/openapi-document.ts';
import { Problem } from '../../lib/problem.ts';
import { PAGES_POLICY } from '../../plugins/pages.ts';
import { platformProblems } from '../../plugins/problems.ts';

export const TRYOUT = '/swagger';

/**
 * Serves the page, its specification, and the files directly in `static` or its theme. Anything else is 404, so that no path that leads elsewhere
 * (`../../extensions`, in whatever encoding) reaches the code that reads files.
 */
const PATHS = /^(?:\/json|\/static\/(?:theme\/)?[\w-]+\.[a-z]+)?$/;

export async function swaggerUi(
  scope: FastifyInstance,
  { document, specification }: DescribedInterface,
): Promise<void> {
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, public: true };
  });
  scope.addHook('onRequest', (request, reply, done) => {
    const [path = ''] = request.url.split('?', 1);
    const within = path.slice(scope.prefix.length + TRYOUT.length);
    if (!PATHS.test(within)) throw new Problem(platformProblems.notFound);
    if (within !== '/json') return done();
    reply.type('application/json; charset=utf-8').send(specification());
  });
  await scope.register(swagger, { mode: 'static', specification: { document: structuredClone(Object(document)) } });
  await scope.register(swaggerUiPlugin, {
    routePrefix: TRYOUT,
    indexPrefix: scope.prefix,
    staticCSP: PAGES_POLICY,
    // Without the top bar: it offers to read other documents, which the content security policy refuses.
    theme: {
      title: document.info.title,
      css: [{ filename: 'theme.css', content: '.swagger-ui .topbar{display:none}' }],
    },
    // Only operations without changes: test entries cannot be removed from a log.
    uiConfig: { docExpansion: 'list', deepLinking: true, supportedSubmitMethods: ['get', 'head'] },
  });
}
