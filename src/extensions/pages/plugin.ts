import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { buildStylesheet, mountPages } from '../shared/html/mount.ts';
import { createSite, HOME } from './context.ts';
import { pagesRoutes } from './routes.ts';
import { followStep } from './search/follow-feed.ts';

/** The council information as pages for people, and the index that they search. */
export const plugin = fp(servePages, { name: 'pages', dependencies: ['raadsfeed'] });

async function servePages(app: FastifyInstance): Promise<void> {
  const { settings: config, clock, publicBaseUrl } = app;
  const { shares, readPool } = app.database;
  const { feed } = app;
  const settings = config.raadsfeed;
  const stylesheet = buildStylesheet(HOME, config.html.themeCss);
  const site = createSite(stylesheet.path, settings.prefix);
  feed.follow('the search index', () => followStep(shares.raadsfeed));
  const context = {
    ...{ pool: readPool, settings, clock, site, heads: feed.heads, responses: feed.responses },
    ...{ baseUrl: publicBaseUrl, apiUrl: feed.mountUrl, completenessOf: feed.completenessOf },
  };
  await mountPages(app, {
    ...{ site, prefix: HOME, rateLimit: settings.rateLimit },
    routes: (scope) => pagesRoutes(scope, context, stylesheet),
  });
}
