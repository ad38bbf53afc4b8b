/** A feed with pages, and test data for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../src/lib/time.ts';
import { followFeed } from '../../../src/raadsfeed/follow-index.ts';
import { PAGES_INDEX } from '../../../src/raadsfeed/pages/search/follow-feed.ts';
import { type FeedServer, startFeed } from '../support.ts';

const MEETING = join(import.meta.dirname, '../../fixtures/raadsfeed/vergadering-2018-02-08.ndjson');

/** One real meeting, as published by its municipality: lines of `feed publish`. */
export function realMeeting(): object[] {
  return readFileSync(MEETING, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Object(JSON.parse(line)));
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export interface PagesServer extends FeedServer {
  /**
   * Gets a page.
   * @param path below `/raad`, with its slash
   */
  readonly get: (path: string) => Promise<Answer>;
  /** Publishes, and waits until the index is up to date. */
  readonly publishAndIndex: (lines: readonly object[]) => Promise<void>;
}

export async function startPages(env: Record<string, string> = {}, clock?: Clock): Promise<PagesServer> {
  const feed = await startFeed({ RAADSFEED_PAGES: 'true', ...env }, clock);
  return {
    ...feed,
    async get(path) {
      const answer = await fetch(`${feed.server.url}/raad${path}`, { redirect: 'manual' });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
    async publishAndIndex(lines) {
      await feed.publish(lines);
      // The server's own follower does the same; while it is working, only wait.
      for (;;) {
        const outcome = await followFeed(feed.pool, PAGES_INDEX);
        if (outcome === 'done') return;
        if (outcome === 'busy') await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

/** Gives gm9902 a supplier source that has been behind for three days and is incomplete. */
export async function behindItsSource({ pool }: Pick<FeedServer, 'pool'>): Promise<void> {
  await pool.query(
    `with source as (
       insert into aggregator.sources (address, kind, paused, organisatiecodes, caught_up_at, failures, failure_message, failing_since, head, last_number)
       values ('notubiz:9902', 'leveranciers-api', true, '{gm9902}', now() - interval '3 days', 4, 'it answers 503',
         now() - interval '2 days', 120, 97) returning id),
     bound as (insert into aggregator.source_organisations (organisatiecode, source_id, name) select 'gm9902', id, 'Achter' from source)
     insert into aggregator.coverage (source_id, month, shown, held)
     select id, '2026-03', 412, 405 from source`,
  );
  await pool.query(
    `update raadsfeed.organisaties set herkomst_soort = 'leveranciers-api', laatst_bijgewerkt = now() - interval '3 days'
      where organisatiecode = 'gm9902'`,
  );
}
