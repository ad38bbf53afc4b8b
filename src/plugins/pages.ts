import { readFile } from 'node:fs/promises';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Problem } from '../lib/problem.ts';
import type { OpenapiDocument } from './openapi-document.ts';
import { platformProblems } from './problems.ts';
import { type Html, type HtmlValue, html, trusted } from './template.ts';

/** Pages at the root of the host: every kind of problem, and where to report a vulnerability. */
export const rootPages = fp(
  async (app: FastifyInstance) => {
    problemPages(app);
    securityTxt(app);
  },
  { name: 'root-pages', dependencies: ['service', 'operations', 'requests'] },
);

const DOCS = '/docs';

/** The policy of pages for people: styles, scripts and pictures of our own, forms to ourselves; pictures and fonts may be in the theme. */
export const PAGES_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * What there is under `docs`: the page, its specification, and files right in `static` or its theme. Anything else is 404, so that no
 * path that leads elsewhere (`..`, in whatever encoding) reaches the code that reads files.
 */
const DOCS_PATH = /^(?:\/json|\/static\/(?:theme\/)?[\w-]+\.[a-z]+)?$/;

/** Serves a mount's contract at `openapi.json` (open to every origin) and as readable pages at `docs`. */
export async function apiDocs(app: FastifyInstance, document: OpenapiDocument, mountUrl: () => string): Promise<void> {
  // Large with the exchange models in it, and always the same once the address is known.
  let published: { readonly url: string; readonly text: string } | undefined;
  const specification = (): string => {
    const url = mountUrl();
    if (published?.url !== url) published = { url, text: JSON.stringify({ ...document, servers: [{ url }] }) };
    return published.text;
  };
  app.get('/openapi.json', { config: { public: true } }, (_request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' })
      .type('application/json; charset=utf-8')
      .send(specification()),
  );
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true };
    });
    scope.addHook('onRequest', (request, reply, done) => {
      const [path = ''] = request.url.split('?', 1);
      const within = path.slice(app.prefix.length + DOCS.length);
      if (!DOCS_PATH.test(within)) throw new Problem(platformProblems.notFound);
      if (within !== '/json') return done();
      reply.type('application/json; charset=utf-8').send(specification());
    });
    await scope.register(swagger, { mode: 'static', specification: { document: structuredClone(Object(document)) } });
    await scope.register(swaggerUi, {
      routePrefix: DOCS,
      indexPrefix: app.prefix,
      staticCSP: PAGES_POLICY,
      // Without the bar on top: it offers to read other documents, which the content security policy refuses.
      theme: {
        title: document.info.title,
        css: [{ filename: 'theme.css', content: '.swagger-ui .topbar{display:none}' }],
      },
      uiConfig: { docExpansion: 'list', deepLinking: true, supportedSubmitMethods: [] },
    });
  });
}

/** The one style sheet of the readable pages; named by hash in the content security policy, so it needs no own address. */
export const PAGE_STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}' +
  'h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.15rem;margin-top:2rem}a{color:#154273}' +
  'code{background:#f0f2f5;padding:.1em .3em;border-radius:3px}table{border-collapse:collapse;width:100%}' +
  'th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #d5d9de;vertical-align:top}';

/** A small readable page in Dutch. `paragraphs` are plain text with backquotes for code. */
export function htmlPage({ title, paragraphs, content }: SmallPage): string {
  return html`<!doctype html>
<html lang="nl"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${trusted(PAGE_STYLE)}</style></head>
<body><main><h1>${title}</h1>${paragraphs.map(paragraph)}${content}</main></body></html>
`.markup;
}

interface SmallPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly content?: HtmlValue;
}

function paragraph(text: string): Html {
  return html`<p>${text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))}</p>`;
}

/** Serves a short page on every kind of problem under `/problems/<slug>`: the address in each problem document's `type`. */
function problemPages(app: FastifyInstance): void {
  app.get<{ Params: { slug: string } }>('/problems/:slug', { config: { public: true } }, (request, reply) => {
    const kind = app.problemKinds.all.find(({ slug }) => slug === request.params.slug);
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
