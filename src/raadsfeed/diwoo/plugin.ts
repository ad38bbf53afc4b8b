/** The addresses of DiWoo: the sitemaps that `/robots.txt` names. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { isRecord } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { mountScope } from '../../plugins/requests.ts';
import { serveIndex } from '../follow-index.ts';
import { fileNamed, indexAddresses, listCategories, SITEMAP_PLACES, WOO } from './sitemaps.ts';
import { DIWOO_INDEX } from './write-index.ts';

/** Seconds for which a client may keep an answer; it asks again with `If-None-Match`. */
const MAX_AGE_SECONDS = 60;
/** Milliseconds that an answer is kept: the offer follows the feed a moment later. */
const KEPT_MS = 1000;
/** A document in a sitemap takes about half of what a record takes. */
const MEMORY_RECORDS = SITEMAP_PLACES / 2;

export const diwoo = fp(
  async (server: FastifyInstance) => {
    const requireIndex = serveIndex(server, 'offer to DiWoo', DIWOO_INDEX);
    const { stateCache, responses } = server.feed;
    // The primary, because a redaction takes effect once the index has followed.
    const { publicPool: pool } = server.database;
    server.siteMaps.push(async () => indexAddresses(server.publicBaseUrl(), await listCategories(pool)));
    const readBody = async (name: string): Promise<string> => {
      const read = fileNamed(name);
      if (read === undefined) throw new Problem(platformProblems.notFound);
      await requireIndex();
      const body = await read(pool, server.publicBaseUrl());
      if (body === undefined) throw new Problem(platformProblems.notFound, { detail: 'Hier staat nu geen document.' });
      return body;
    };
    await mountScope(server, {
      prefix: WOO,
      rateLimit: server.settings.raadsfeed.rateLimit,
      routes: (app) => {
        responses.answerFromMemory(app);
        app.get('/:file', { config: { public: true } }, (request, reply) =>
          responses.answer(request, reply, {
            records: MEMORY_RECORDS,
            read: async () => {
              const state = await stateCache.current();
              const body = await readBody(isRecord(request.params) ? String(request.params.file) : '');
              const contentType = 'application/xml; charset=utf-8';
              return { body, contentType, maxAgeSeconds: MAX_AGE_SECONDS, state, keptMs: KEPT_MS };
            },
          }),
        );
      },
    });
  },
  { name: 'diwoo', dependencies: ['raadsfeed'] },
);
