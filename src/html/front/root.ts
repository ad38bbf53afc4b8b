/** The root of the host: the landing page, site maps for search engines, and the pictures of the organisation. */
import type { FastifyInstance } from 'fastify';
import type { FrontEntry } from '../../lib/operations.ts';
import { Problem } from '../../lib/problem.ts';
import { type HtmlValue, html } from '../../lib/template.ts';
import { acceptedTypes } from '../../plugins/headers.ts';
import { PAGES_POLICY } from '../../plugins/pages.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { Brand } from '../brand.ts';
import { capital } from '../format.ts';
import { buildStylesheet, type Stylesheet, serveStylesheet } from '../mount.ts';
import { heading, link, renderPage } from '../page.ts';

const MAX_AGE_SECONDS = 60;
const ICON_SECONDS = 86_400;

export function rootRoutes(app: FastifyInstance, brand: Brand): void {
  const { settings, log } = app;
  // Made on first use: most services only serve programs.
  let made: Stylesheet | undefined;
  const stylesheet = (): Stylesheet => {
    made ??= buildStylesheet('', settings.html.themeCss);
    return made;
  };
  app.get('/', { config: { public: true } }, (request, reply) => {
    // Programs get the usual 404.
    const [wanted] = acceptedTypes(request.headers.accept, ['application/json', 'text/html']);
    if (wanted !== 'text/html') throw new Problem(platformProblems.notFound);
    return reply
      .headers({ 'cache-control': `public, max-age=${MAX_AGE_SECONDS}`, vary: 'Accept' })
      .header('content-security-policy', PAGES_POLICY)
      .type('text/html; charset=utf-8')
      .send(rootPage(app, brand, stylesheet().path));
  });
  serveStylesheet(app, stylesheet);
  app.get('/robots.txt', { config: { public: true } }, async (_request, reply) => {
    if (app.siteMaps.length === 0) throw new Problem(platformProblems.notFound);
    const maps = (await Promise.all(app.siteMaps.map((read) => read()))).flat();
    return reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .type('text/plain; charset=utf-8')
      .send(['User-agent: *', 'Allow: /', '', ...maps.map((map) => `Sitemap: ${map}`), ''].join('\n'));
  });
  for (const { path, type, bytes } of [brand.icon, brand.logo].filter((picture) => picture !== undefined))
    app.get(path, { config: { public: true } }, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(bytes),
    );
  // Browsers look here when they were given something other than a page.
  app.get('/favicon.ico', { config: { public: true } }, (_request, reply) =>
    reply.header('cache-control', `public, max-age=${ICON_SECONDS}`).type(brand.icon.type).send(brand.icon.bytes),
  );
  app.addHook('onReady', async () => {
    const isLacking = !settings.html.links.has('toegankelijkheid') && app.frontEntries.length > 0;
    if (isLacking && settings.server.environment === 'production')
      log.warn('PAGES_LINKS names no `toegankelijkheid`: the law asks public bodies for an accessibility statement');
  });
}

function rootPage(
  { frontEntries, interfaces, publicBaseUrl }: FastifyInstance,
  brand: Brand,
  stylesheet: string,
): string {
  const site = { brand, stylesheet, name: 'Openbare gegevens', home: '/', footer: html``, menu: [] };
  const list = (title: string, entries: readonly FrontEntry[]): HtmlValue =>
    entries.length > 0 && [
      heading(2, title),
      html`<ul class="kv-list">${entries.map(({ href, title: name, text }) => html`<li><span class="kv-list__title">${link(href, name)}</span><p class="kv-list__line">${capital(text)}</p></li>`)}</ul>`,
    ];
  const described = interfaces.map(({ prefix, document: { info } }) => {
    return { href: `${prefix}/docs`, title: info.title, text: info.summary ?? info.version };
  });
  const title = brand.organisation ?? site.name;
  const description = 'Wat u op dit adres vindt.';
  return renderPage(site, {
    title,
    description,
    canonical: `${publicBaseUrl()}/`,
    body: [
      heading(1, title),
      html`<p class="kv-lead">${description}</p>`,
      list('Om te bekijken', frontEntries),
      list('Voor programmeurs', described),
    ],
  });
}
