/** What search engines are offered (sitemaps.org 0.9): an index, and below it the pages by the numbers of the feed. */
import { html } from '../../../plugins/html/template.ts';
import { HOME, organisationPath, pagePath } from '../context.ts';
import type { listSitemap, listSitemaps } from '../search/lists.ts';

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

export function sitemapIndex(baseUrl: string, maps: Awaited<ReturnType<typeof listSitemaps>>): string {
  const all = [
    html`<sitemap><loc>${baseUrl}${HOME}/sitemap-organisaties.xml</loc></sitemap>\n`,
    ...maps.map(
      ({ page, changed }) =>
        html`<sitemap><loc>${baseUrl}${HOME}/sitemap-${page}.xml</loc><lastmod>${changed.toISOString()}</lastmod></sitemap>\n`,
    ),
  ];
  return html`<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="${NAMESPACE}">\n${all}</sitemapindex>\n`
    .markup;
}

export function sitemap(baseUrl: string, resources: Awaited<ReturnType<typeof listSitemap>>): string {
  return urlset(
    resources.map((one) => ({ path: pagePath(one.resourceType, one), changed: one.storedAt })),
    baseUrl,
  );
}

export function organisationsSitemap(baseUrl: string, codes: readonly string[]): string {
  return urlset([{ path: HOME }, ...codes.map((code) => ({ path: organisationPath(code) }))], baseUrl);
}

function urlset(pages: readonly { readonly path: string; readonly changed?: Date }[], baseUrl: string): string {
  const urls = pages.map(
    ({ path, changed }) =>
      html`<url><loc>${baseUrl}${path}</loc>${changed !== undefined && html`<lastmod>${changed.toISOString()}</lastmod>`}</url>\n`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${NAMESPACE}">\n${urls}</urlset>\n`.markup;
}
