/** An index beside the feed, while the server listens: kept up to date, reported to operators, and checked for completeness. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../lib/problem.ts';
import { percentOf, progressText } from '../lib/progress.ts';
import { platformProblems } from '../plugins/problems.ts';
import { type FeedIndex, followFeed, readIndexProgress } from './follow-index.ts';

/** Seconds before a client may retry: reading a large feed takes minutes. */
const RETRY_SECONDS = '60';

export interface ServedIndex {
  /** @throws {Problem} 503 while the index lacks older records of the feed */
  requireRead(): Promise<void>;
}

/** @param name as operators know it */
export function serveIndex(app: FastifyInstance, name: string, index: FeedIndex): ServedIndex {
  const { pool, publicPool } = app.database;
  const failing = app.feed.follow(`the ${name}`, () => followFeed(pool, index));
  app.readiness.push({
    name,
    vital: false,
    check: async () => {
      const { read, of } = await readIndexProgress(pool, index);
      const told = [failing.text(), read < of ? progressText(read, of) : undefined].filter(
        (text) => text !== undefined,
      );
      return told.length > 0 ? { ok: true, warning: told.join('; ') } : { ok: true };
    },
  });
  return {
    async requireRead() {
      const { read, of, canAnswer } = await readIndexProgress(publicPool, index);
      if (canAnswer) return;
      throw new Problem(platformProblems.unavailable, {
        detail: `De raadsinformatie wordt opnieuw ingelezen; ${percentOf(read, of)} % is klaar.`,
        headers: { 'retry-after': RETRY_SECONDS },
      });
    },
  };
}
