/** Sitemaps for search engines (sitemaps.org 0.9): an index, and the pages by their numbers in the feed. */
import { html } from '../../../lib/template.ts';
import { HOME, pagePath } from '../context.ts';
import type { Item, listSitemaps } from '../search/lists.ts';

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

export function sitemapIndex(baseUrl: string, maps: Awaited<ReturnType<typeof listSitemaps>>): string {
  const all = maps.map(
    ({ page, changed }) =>
      html`<sitemap><loc>${baseUrl}${HOME}/sitemap-${page}.xml</loc><lastmod>${changed.toISOString()}</lastmod></sitemap>\n`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="${NAMESPACE}">\n${all}</sitemapindex>\n`
    .markup;
}

export function sitemap(baseUrl: string, resources: readonly Item[]): string {
  const urls = resources.map(
    (one) => html`<url><loc>${baseUrl}${pagePath(one)}</loc><lastmod>${one.storedAt.toISOString()}</lastmod></url>\n`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${NAMESPACE}">\n${urls}</urlset>\n`.markup;
}
