/** The addresses of DiWoo: `/robots.txt` and the sitemaps that it leads to, compressed and kept in memory. */
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { mountScope } from '../../plugins/requests.ts';
import type { Answer, ResponseCache } from '../../raadsfeed/feed/response-cache.ts';
import { isComplete } from './follow-feed.ts';
import { SITEMAP_PLACES } from './place-documents.ts';
import {
  indexPath,
  listCategories,
  readDocuments,
  readIndex,
  readName,
  readSitemapState,
  renderSitemap,
  WOO,
} from './sitemaps.ts';

interface DiwooContext {
  /** Of the primary: a redaction takes effect when the index has followed. */
  readonly pool: Pool;
  readonly responses: ResponseCache;
}

/** Seconds for which a client may keep an answer; it asks again with `If-None-Match`. */
const MAX_AGE_SECONDS = 60;
/** A document in a sitemap takes about half of what a record takes. */
const MEMORY_RECORDS = SITEMAP_PLACES / 2;
const XML = 'application/xml; charset=utf-8';

/** `robots.txt` at the root of the host names every index that holds something. */
function robotsRoute(app: FastifyInstance, { pool }: DiwooContext): void {
  app.get('/robots.txt', { config: { public: true } }, async (_request, reply) => {
    const lines = robotsLines(app.publicBaseUrl(), await listCategories(pool));
    return reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .type('text/plain; charset=utf-8')
      .send(['User-agent: *', 'Allow: /', '', ...lines, ''].join('\n'));
  });
}

/** What `robots.txt` says of the sitemaps (sitemaps.org 0.9). */
export function robotsLines(baseUrl: string, categories: readonly number[]): string[] {
  return categories.map((categorie) => `Sitemap: ${baseUrl}${indexPath(categorie)}`);
}

/** The sitemaps, and the line of `robots.txt` that names them. */
export async function serveDiwoo(server: FastifyInstance, context: DiwooContext): Promise<void> {
  robotsRoute(server, context);
  await mountScope(server, {
    prefix: WOO,
    rateLimit: server.settings.raadsfeed.rateLimit,
    routes: (app) => {
      app.get('/:file', { config: { public: true } }, async (request, reply) => {
        const file = isRecord(request.params) ? String(request.params.file) : '';
        const answer = await readSitemap(app, context, file);
        const { bodyKey, etag } = answer;
        const isMade = etag !== undefined && !context.responses.keeps(request, bodyKey, etag);
        return context.responses.answer(request, reply, isMade ? MEMORY_RECORDS : 0, async () => answer);
      });
    },
  });
}

/** What is answered; the documents of a sitemap are read when its body is made. */
async function readSitemap(
  app: FastifyInstance,
  { pool }: DiwooContext,
  file: string,
): Promise<Answer & { readonly bodyKey: string }> {
  const name = readName(file);
  if (name === undefined) throw new Problem(platformProblems.notFound);
  if (!(await isComplete(pool))) {
    throw new Problem(platformProblems.unavailable, {
      detail: 'De documenten worden nog ingelezen.',
      headers: { 'retry-after': '60' },
    });
  }
  const shared = { contentType: XML, maxAgeSeconds: MAX_AGE_SECONDS, bodyKey: `${WOO}/${file}` };
  if (!('pagina' in name)) {
    const index = await readIndex(pool, name.categorie, app.publicBaseUrl());
    if (index === undefined) throw empty();
    return { body: () => index, ...shared };
  }
  const state = await readSitemapState(pool, name);
  if (state === undefined) throw empty();
  const { organisatiecode, categorie, pagina } = name;
  // Without the feed's identity a restored database could give an old version to another text.
  const about = [organisatiecode, categorie, pagina, state.versie, state.gewijzigd.getTime(), state.naam].join('\n');
  const etag = `W/"${hash('sha256', about, 'base64url').slice(0, 22)}"`;
  return { body: async () => renderSitemap(await readDocuments(pool, name), state.naam), etag, ...shared };
}

function empty(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'Hier staat nu geen document.' });
}
