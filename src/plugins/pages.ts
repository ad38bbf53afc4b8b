import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { DescribedInterface } from '../lib/openapi-document.ts';
import { Problem } from '../lib/problem.ts';
import { type HtmlValue, html, trusted, withCode } from '../lib/template.ts';
import { platformProblems } from './problems.ts';

/** Pages at the root of the host: every kind of problem, and where to report a vulnerability. */
export const rootPages = fp(
  async (app: FastifyInstance) => {
    problemPages(app);
    securityTxt(app);
  },
  { name: 'root-pages', dependencies: ['service', 'operations', 'requests'] },
);

const SCRIPTLESS = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
];

/** The policy of pages for people: styles and pictures of our own, forms to ourselves; pictures and fonts may be in the theme. */
export const SCRIPTLESS_POLICY = SCRIPTLESS.join('; ');

/** The same for pages with scripts of our own. */
export const PAGES_POLICY = [...SCRIPTLESS, "script-src 'self'", "connect-src 'self'"].join('; ');

/** Serves a contract at `openapi.json` (open to every origin), and at `docs` as a page, if there are pages at the root. */
export function describeInterface(
  app: FastifyInstance,
  contract: Omit<DescribedInterface, 'prefix' | 'specification'>,
) {
  const { document, url } = contract;
  // Large with the exchange models in it, and always the same once the address is known.
  let published: { readonly url: string; readonly text: string } | undefined;
  const specification = (): string => {
    if (published?.url !== url())
      published = { url: url(), text: JSON.stringify({ ...document, servers: [{ url: url() }] }) };
    return published.text;
  };
  let page: typeof published;
  const described = { ...contract, prefix: app.prefix, specification };
  app.interfaces.push(described);
  app.get('/openapi.json', { config: { public: true } }, (_request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' })
      .type('application/json; charset=utf-8')
      .send(specification()),
  );
  app.get('/docs', { config: { public: true } }, (_request, reply) => {
    const { interfacePage } = app;
    if (interfacePage === undefined) return reply.redirect(`${app.prefix}/openapi.json`, 302);
    if (page?.url !== url()) page = { url: url(), text: interfacePage(described) };
    return reply.header('cache-control', 'public, max-age=300').type('text/html; charset=utf-8').send(page.text);
  });
}

/** The one style sheet of the readable pages; named by hash in the content security policy, so it needs no own address. */
export const PAGE_STYLE = `:root{color-scheme:light dark;--text:light-dark(#1b1b1b,#e6e9ec);--ground:light-dark(#fff,#121a22);--link:light-dark(#154273,#9cc4f2);--code:light-dark(#f0f2f5,#243240);--line:light-dark(#d5d9de,#3c4a58)}
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color:var(--text);background:var(--ground);overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.3rem;margin-top:2.5rem}h3{font-size:1.1rem;margin-top:2rem;padding-top:1rem;border-top:1px solid var(--line)}h4{font-size:1rem;margin:1rem 0 0}
a{color:var(--link)}img{max-height:4rem;max-width:100%}code{background:var(--code);padding:.1em .3em;border-radius:3px}
dl{margin:.5rem 0}dt{margin-top:.5rem}dd{margin:0 0 0 .75rem;padding-left:.75rem;border-left:2px solid var(--line)}dd p{margin:.25rem 0}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
.links{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.5rem}:target{background:var(--code)}footer{margin-top:3rem;border-top:1px solid var(--line)}`;

/** A small readable page in Dutch. `paragraphs` are plain text with backquotes for code. */
export function htmlPage({ title, paragraphs = [], content, head, footer }: SmallPage): string {
  return html`<!DOCTYPE html>
<html lang="nl"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>${head}<style>${trusted(PAGE_STYLE)}</style></head>
<body><main><h1>${title}</h1>${paragraphs.map((text) => html`<p>${withCode(text)}</p>`)}${content}</main>${footer && html`<footer>${footer}</footer>`}</body></html>
`.markup;
}

interface SmallPage {
  readonly title: string;
  readonly paragraphs?: readonly string[];
  readonly content?: HtmlValue;
  readonly head?: HtmlValue;
  readonly footer?: HtmlValue;
}

function problemPages(app: FastifyInstance): void {
  app.get<{ Params: { slug: string } }>('/problems/:slug', { config: { public: true } }, (request, reply) => {
    const kind = app.problemKinds.find(({ slug }) => slug === request.params.slug);
    if (kind === undefined) throw new Problem(platformProblems.notFound);
    return reply
      .header('cache-control', 'public, max-age=86400')
      .type('text/html; charset=utf-8')
      .send(htmlPage({ title: `${kind.status} ${kind.title}`, paragraphs: [kind.explanation, `\`${kind.slug}\``] }));
  });
}

/** Serves the operator's `/.well-known/security.txt` (RFC 9116); without one the address does not exist. */
function securityTxt(app: FastifyInstance): void {
  const { settings, clock } = app;
  const { securityTxt: path } = settings.server;
  if (path === undefined) return;
  app.get('/.well-known/security.txt', { config: { public: true } }, async (_request, reply) => {
    const text = await readFile(path, 'utf8');
    const expires = new Date(/^Expires: *(\S+)/im.exec(text)?.[1] ?? '');
    // An expired file must not be relied on (RFC 9116 section 2.5.5): 404 sends the finder to look elsewhere.
    if (!(expires > clock.now())) throw new Problem(platformProblems.notFound);
    return reply.header('cache-control', 'public, max-age=3600').type('text/plain; charset=utf-8').send(text);
  });
}
