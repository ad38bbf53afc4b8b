/** A feed with pages, and what its tests put in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src/kernel/time.ts';
import { followStep } from '../../src/raadsfeed/search/follow-feed.ts';
import { type FeedServer, startFeed } from './support.ts';

const MEETING = join(import.meta.dirname, '../fixtures/raadsfeed/vergadering-2018-02-08.ndjson');

/** One real meeting, as its municipality published it: lines of `feed publish`. */
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
  /** Gets a page. @param path below `/raad`, with its slash */
  readonly get: (path: string) => Promise<Answer>;
  /** Publishes, and waits until the index has it. */
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
      // The server's own follower does the same; while it is at work there is nothing to do here but wait.
      for (;;) {
        const outcome = await followStep(feed.pool);
        if (outcome === 'done') return;
        if (outcome === 'busy') await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}
