import { type Html, type HtmlValue, html, shorten, stripControls, trusted } from '../lib/template.ts';
import { type Brand, dutyNav, iconLink } from './brand.ts';

export interface PageLink {
  readonly href: string;
  readonly text: string;
}

export interface Site {
  readonly name: string;
  readonly home: string;
  readonly stylesheet: string;
  readonly menu: readonly PageLink[];
  readonly footer: Html;
  readonly brand: Brand;
}

export interface Page {
  readonly title: string;
  readonly description: string;
  /** The canonical address of this page; absent for errors, which are not indexed. */
  readonly canonical?: string | undefined;
  readonly json?: string | undefined;
  readonly alternates?: readonly { readonly href: string; readonly type: string; readonly title: string }[];
  readonly structuredData?: object | undefined;
  /** The breadcrumb trail from the front page to the parent of this page. */
  readonly path?: readonly PageLink[];
  readonly body: HtmlValue;
}

const TITLE_LENGTH = 200;

export function renderPage(site: Site, page: Page): string {
  const title = shorten(page.title, TITLE_LENGTH);
  const { logo, organisation } = site.brand;
  return html`<!DOCTYPE html>
<html lang="nl">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === site.name ? title : `${title} - ${site.name}`}</title>
<meta name="description" content="${shorten(page.description, TITLE_LENGTH)}">
${page.canonical === undefined ? html`<meta name="robots" content="noindex">` : html`<link rel="canonical" href="${page.canonical}">`}
${page.json !== undefined && html`<link rel="alternate" type="application/json" href="${page.json}">`}
${(page.alternates ?? []).map((other) => html`<link rel="alternate" type="${other.type}" href="${other.href}" title="${other.title}">\n`)}
${iconLink(site.brand)}
<link rel="stylesheet" href="${site.stylesheet}">
${page.structuredData !== undefined && jsonLd(page.structuredData)}
</head>
<body class="utrecht-document utrecht-document--surface kv-theme">
<a class="utrecht-skip-link utrecht-skip-link--visible-on-focus" href="#inhoud">Naar de inhoud</a>
<div class="utrecht-page-layout">
<header class="utrecht-page-header"><div class="utrecht-page-header__content kv-banner">
<a class="kv-banner__name" href="${site.home}">${logo && html`<img class="kv-banner__logo" src="${logo.path}" alt="${organisation ?? ''}">`}<span>${site.name}</span></a>
${menu(site.menu)}
</div></header>
<div class="utrecht-page-body"><div class="utrecht-page-body__content">
${breadcrumbs(page.path ?? [])}
<main id="inhoud" tabindex="-1">
${page.body}
</main>
</div></div>
<footer class="utrecht-page-footer"><div class="utrecht-page-footer__content">${dutyNav(site.brand, { list: 'kv-menu', link: 'utrecht-link utrecht-link--html-a' })}
${site.footer}</div></footer>
</div>
</body>
</html>
`.markup.replace(/\n\s*\n/g, '\n');
}

function menu(links: readonly PageLink[]): HtmlValue {
  if (links.length === 0) return undefined;
  const items = links.map(({ href, text }) => html`<li>${link(href, text)}</li>`);
  return html`<nav aria-label="Menu"><ul class="kv-menu">${items}</ul></nav>`;
}

function breadcrumbs(path: readonly PageLink[]): HtmlValue {
  if (path.length === 0) return undefined;
  const items = path.map(
    ({ href, text }) =>
      html`<li class="utrecht-breadcrumb-nav__item"><a class="utrecht-link utrecht-link--html-a utrecht-breadcrumb-nav__link" href="${href}">${shorten(text, 60)}</a></li>`,
  );
  return html`<nav class="utrecht-breadcrumb-nav" aria-label="Kruimelpad"><ol class="utrecht-breadcrumb-nav__list utrecht-breadcrumb-nav__list--html-ol">${items}</ol></nav>`;
}

/** A data block: it runs nothing, so no policy has to allow it. `<` is escaped so that no text in it ends the block. */
function jsonLd(data: object): Html {
  const text = JSON.stringify(data, (_name, value: unknown) =>
    typeof value === 'string' ? stripControls(value) : value,
  ).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return html`<script type="application/ld+json">${trusted(text)}</script>`;
}

/** A list of facts: name and value; facts without a value are left out. */
export function facts(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const present = rows.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '');
  if (present.length === 0) return html``;
  const items = present.map(
    ([name, value]) =>
      html`<div class="utrecht-data-list__item"><dt class="utrecht-data-list__item-key">${name}</dt><dd class="utrecht-data-list__item-value utrecht-data-list__item-value--html-dd">${value}</dd></div>`,
  );
  return html`<dl class="utrecht-data-list utrecht-data-list--rows">${items}</dl>`;
}

export function link(href: string, text: HtmlValue): Html {
  return html`<a class="utrecht-link utrecht-link--html-a" href="${href}">${text}</a>`;
}

type BadgeKind = 'neutral' | 'warning' | 'danger' | 'success';

export function badge(text: string, kind: BadgeKind = 'neutral'): Html {
  return html`<span class="utrecht-status-badge utrecht-status-badge--${kind}">${text}</span>`;
}

export function heading(level: 1 | 2 | 3, text: HtmlValue, id?: string): Html {
  const tag = trusted(`h${level}`);
  const attribute = id === undefined ? '' : html` id="${id}"`;
  return html`<${tag} class="utrecht-heading-${level} utrecht-heading-${level}--distanced"${attribute}>${text}</${tag}>`;
}

export function paragraph(text: HtmlValue): Html {
  return html`<p class="utrecht-paragraph utrecht-paragraph--distanced">${text}</p>`;
}

export function alert(kind: 'info' | 'warning' | 'error', text: HtmlValue): Html {
  return html`<div class="utrecht-alert utrecht-alert--${kind}"><div class="utrecht-alert__content"><div class="utrecht-alert__message">${paragraph(text)}</div></div></div>`;
}
