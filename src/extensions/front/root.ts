/** The root of the host: a page that leads people on, the site maps for search engines, and the pictures of the organisation. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../lib/problem.ts';
import { acceptedTypes } from '../../plugins/headers.ts';
import { htmlPage } from '../../plugins/pages.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { type HtmlValue, html } from '../../plugins/template.ts';
import type { FrontEntry } from '../../seams/operations.ts';
import { type Brand, dutyNav, iconLink } from '../shared/html/brand.ts';

const MAX_AGE_SECONDS = 60;
const ICON_SECONDS = 86_400;

export function rootRoutes(app: FastifyInstance, brand: Brand): void {
  const { settings, log } = app;
  app.get('/', { config: { public: true } }, (request, reply) => {
    // A program gets the same as anywhere that nothing is.
    const [wanted] = acceptedTypes(request.headers.accept, ['application/json', 'text/html']);
    if (wanted !== 'text/html') throw new Problem(platformProblems.notFound);
    return reply
      .headers({ 'cache-control': `public, max-age=${MAX_AGE_SECONDS}`, vary: 'Accept' })
      .type('text/html; charset=utf-8')
      .send(rootPage(app, brand));
  });
  app.get('/robots.txt', { config: { public: true } }, async (_request, reply) => {
    const { all } = app.siteMaps;
    if (all.length === 0) throw new Problem(platformProblems.notFound);
    const maps = (await Promise.all(all.map((read) => read()))).flat();
    return reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .type('text/plain; charset=utf-8')
      .send(['User-agent: *', 'Allow: /', '', ...maps.map((map) => `Sitemap: ${map}`), ''].join('\n'));
  });
  servePictures(app, brand);
  app.addHook('onReady', async () => {
    const isLacking = !settings.html.links.has('toegankelijkheid') && app.frontEntries.all.length > 0;
    if (isLacking && settings.server.environment === 'production')
      log.warn('PAGES_LINKS names no `toegankelijkheid`: the law asks public bodies for an accessibility statement');
  });
}

function servePictures(app: FastifyInstance, { icon, logo }: Brand): void {
  for (const { path, type, bytes } of [icon, ...(logo === undefined ? [] : [logo])]) {
    app.get(path, { config: { public: true } }, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(bytes),
    );
  }
  // Where browsers look that were given something else than a page.
  app.get('/favicon.ico', { config: { public: true } }, (_request, reply) =>
    reply.header('cache-control', `public, max-age=${ICON_SECONDS}`).type(icon.type).send(icon.bytes),
  );
}

function rootPage({ frontEntries, interfaces }: FastifyInstance, brand: Brand): string {
  const { logo, organisation } = brand;
  const list = (title: string, entries: readonly FrontEntry[]): HtmlValue =>
    entries.length > 0 &&
    html`<h2>${title}</h2><ul>${entries.map(({ href, title: name, text }) => html`<li><a href="${href}">${name}</a>: ${text}</li>`)}</ul>`;
  const described = interfaces.all.map(({ prefix, document: { info } }) => {
    return { href: `${prefix}/docs`, title: info.title, text: info.summary ?? info.version };
  });
  return htmlPage({
    title: organisation ?? 'Openbare gegevens',
    head: iconLink(brand),
    footer: dutyNav(brand, SMALL),
    content: [
      logo && html`<img src="${logo.path}" alt="">`,
      html`<p>Wat u op dit adres vindt.</p>`,
      list('Om te bekijken', frontEntries.all),
      list('Voor programmeurs', described),
    ],
  });
}

/** The classes of small pages. */
export const SMALL = { list: 'links', link: '' } as const;
