import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { readBrand } from '../../html/brand.ts';
import { buildStylesheet, mountPages } from '../../html/mount.ts';
import { serveIndex } from '../follow-index.ts';
import { createSite, HOME } from './context.ts';
import { pagesRoutes } from './routes.ts';
import { PAGES_INDEX } from './search/follow-feed.ts';

export const pages = fp(servePages, { name: 'pages', dependencies: ['raadsfeed'] });

async function servePages(app: FastifyInstance): Promise<void> {
  const { settings: config, clock, publicBaseUrl } = app;
  const { publicPool } = app.database;
  const { feed } = app;
  const settings = config.raadsfeed;
  const stylesheet = buildStylesheet(HOME, config.html.themeCss);
  const site = createSite(stylesheet.path, settings.prefix, readBrand(config));
  const requireIndex = serveIndex(app, 'search index', PAGES_INDEX);
  const context = {
    ...{ pool: publicPool, settings, clock, site, stateCache: feed.stateCache, responses: feed.responses },
    ...{ requireIndex, baseUrl: publicBaseUrl, apiUrl: feed.mountUrl, completenessOf: feed.completenessOf },
  };
  app.frontEntries.push({
    href: HOME,
    title: site.name,
    text: 'vergaderingen, agenda’s en documenten van de raad',
  });
  app.siteMaps.push(async () => [`${publicBaseUrl()}${HOME}/sitemap.xml`]);
  await mountPages(app, {
    ...{ site, prefix: HOME, rateLimit: settings.rateLimit },
    routes: (scope) => pagesRoutes(scope, context, stylesheet),
  });
}
