/** Lists to follow as Atom (RFC 4287), and site maps for search engines (sitemaps.org 0.9). The templates escape for XML as for HTML. */
import { day } from '../../../html/format.ts';
import { html, safeUrl, shorten } from '../../../lib/template.ts';
import { HOME, pagePath } from '../context.ts';
import { TYPE_NAMES, textIn } from '../rows.ts';
import type { Item, listSitemaps } from '../search/lists.ts';

export const ATOM_ENTRIES = 50;

interface AtomFeed {
  readonly title: string;
  /** Address of the feed, which is also its identity, and of the part of it with what was recorded before a number. */
  readonly at: (before?: number) => string;
  /** The item that this part ends before; absent: the newest part. */
  readonly before: number | undefined;
  readonly page: string;
  readonly addressOf: (item: Item) => string;
  readonly authorOf: (item: Item) => string;
  /** Those of this part come first. */
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly now: Date;
}

/** Parts lead to each other (RFC 5005 3), the newest in the feed first. */
export function atom({ title, at, before, page, addressOf, authorOf, items: found, hasMore, now }: AtomFeed): string {
  const items = found.slice(0, ATOM_ENTRIES);
  const last = items.at(-1);
  const next = hasMore ? last?.firstNumber : undefined;
  const updated = items.reduce((latest, { storedAt }) => Math.max(latest, storedAt.getTime()), 0);
  const entries = items.map((item) => {
    const address = addressOf(item);
    const file = safeUrl(textIn(item.summary, 'bestandsurl'));
    const type = textIn(item.summary, 'formaat');
    return html`
  <entry>
    <id>${identity(item)}</id>
    <title>${shorten(item.titel, 300)}</title>
    <updated>${item.storedAt.toISOString()}</updated>
    <published>${item.firstStoredAt.toISOString()}</published>
    <author><name>${shorten(authorOf(item), 200)}</name></author>
    <link rel="alternate" type="text/html" href="${address}"/>
    ${file !== undefined && html`<link rel="enclosure" href="${file}"${type !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(type) && html` type="${type}"`}/>`}
    <category term="${TYPE_NAMES[item.resourceType]}"/>
    <summary>${shorten([item.soort, item.datum && day(item.datum), item.gremiumnaam, textIn(item.summary, 'omschrijving')].filter((part) => part !== null && part !== undefined).join('. '), 500)}</summary>
  </entry>`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="nl">
  <id>${at()}</id>
  <title>${shorten(title, 300)}</title>
  <updated>${(updated === 0 ? now : new Date(updated)).toISOString()}</updated>
  <author><name>Raadsinformatie</name></author>
  <link rel="self" type="application/atom+xml" href="${at(before)}"/>
  ${next !== undefined && html`<link rel="next" type="application/atom+xml" href="${at(next)}"/>`}
  <link rel="alternate" type="text/html" href="${page}"/>${entries}
</feed>
`.markup;
}

/** Stays the same when the service moves (RFC 4287 4.2.6): the identity of the resource. */
function identity({ organisatiecode, resourceType, bronidentificatie }: Item): string {
  return `urn:x-raadsinformatie:${organisatiecode}:${resourceType.toLowerCase()}:${encodeURIComponent(bronidentificatie)}`;
}

const SITEMAP = 'http://www.sitemaps.org/schemas/sitemap/0.9';

export function sitemapIndex(baseUrl: string, maps: Awaited<ReturnType<typeof listSitemaps>>): string {
  const all = maps.map(
    ({ page, changed }) =>
      html`<sitemap><loc>${baseUrl}${HOME}/sitemap-${page}.xml</loc><lastmod>${changed.toISOString()}</lastmod></sitemap>\n`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="${SITEMAP}">\n${all}</sitemapindex>\n`
    .markup;
}

export function sitemap(baseUrl: string, resources: readonly Item[]): string {
  const urls = resources.map(
    (one) => html`<url><loc>${baseUrl}${pagePath(one)}</loc><lastmod>${one.storedAt.toISOString()}</lastmod></url>\n`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${SITEMAP}">\n${urls}</urlset>\n`.markup;
}
