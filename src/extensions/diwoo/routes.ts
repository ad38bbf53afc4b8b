/** The addresses of DiWoo: `/robots.txt` and the sitemaps that it leads to, compressed and kept in memory. */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import { limitUnreadAnswers } from '../../plugins/bodies.ts';
import { acceptedEncoding, checkRequestHead } from '../../plugins/headers.ts';
import { createRateCounter, limitRate } from '../../plugins/limits.ts';
import { handleProblems } from '../../plugins/problem-reply.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { compress, ENCODINGS } from '../../raadsfeed/feed/compression.ts';
import { createByteCache, type ResponseCache } from '../../raadsfeed/feed/response-cache.ts';
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
/** Bytes of sitemaps in memory, compressed. */
const CACHE_BYTES = 32 * 1024 * 1024;
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
  const counter = createRateCounter(server.settings.raadsfeed.rateLimit);
  robotsRoute(server, context);
  await server.register(
    async (app) => {
      app.addHook('onRoute', (route) => {
        route.config = { ...route.config, public: true };
      });
      app.addHook('onRequest', (request, reply, done) => {
        checkRequestHead(request.raw);
        limitRate(request, reply, counter);
        done();
      });
      limitUnreadAnswers(app, app.settings.server.unreadAnswersBytes);
      const { refuseEarly } = handleProblems(app);
      const serve = createSitemapServer(app, context);
      app.get('/:file', (request, reply) => serve(request, reply));
      refuseEarly();
    },
    { prefix: WOO },
  );
}

function createSitemapServer(app: FastifyInstance, { pool, responses }: DiwooContext) {
  const bodies = createByteCache<{ readonly bytes: Buffer }>(CACHE_BYTES, ({ bytes }) => bytes.length);
  /** Sitemaps that are being made: requests for the same one share it. */
  const pending = new Map<string, Promise<Buffer>>();

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const params = isRecord(request.params) ? request.params : {};
    const name = readName(String(params.file ?? ''));
    if (name === undefined) throw new Problem(platformProblems.notFound);
    if (!(await isComplete(pool))) {
      throw new Problem(platformProblems.unavailable, {
        detail: 'De documenten worden nog ingelezen.',
        headers: { 'retry-after': '60' },
      });
    }
    if (!('pagina' in name)) {
      const index = await readIndex(pool, name.categorie, app.publicBaseUrl());
      if (index === undefined) throw empty();
      return responses.send(request, reply, { body: () => index, contentType: XML, maxAgeSeconds: MAX_AGE_SECONDS });
    }
    const state = await readSitemapState(pool, name);
    if (state === undefined) throw empty();
    const { organisatiecode, categorie, pagina } = name;
    // Without the feed's identity a restored database could give an old version to another text.
    const about = [organisatiecode, categorie, pagina, state.versie, state.gewijzigd.getTime(), state.naam].join('\n');
    const etag = `W/"${hash('sha256', about, 'base64url').slice(0, 22)}"`;
    const encoding = acceptedEncoding(request.headers['accept-encoding'], ENCODINGS);
    const key = `${encoding} ${etag}`;
    const make = async (): Promise<Buffer> => {
      const plain = Buffer.from(await renderSitemap(await readDocuments(pool, name), state.naam));
      const bytes = encoding === 'identity' ? plain : await compress(plain, encoding);
      if (encoding !== 'identity') bodies.set(key, { bytes });
      return bytes;
    };
    const read = (): Promise<Buffer> => {
      const work = pending.get(key) ?? make().finally(() => pending.delete(key));
      pending.set(key, work);
      return work;
    };
    const send = (bytes: Buffer) =>
      ({
        ...{ etag, contentType: XML, maxAgeSeconds: MAX_AGE_SECONDS, body: () => bytes },
        ...(encoding === 'identity' ? {} : { compressed: async () => bytes }),
      }) as const;
    const kept = bodies.get(key);
    if (kept !== undefined) return responses.send(request, reply, send(kept.bytes));
    return responses.readAndSend(request, reply, MEMORY_RECORDS, async () => send(await read()));
  };
}

function empty(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'Hier staat nu geen document.' });
}
