/** Pages requested over and over, compared with a bare server that writes the same bytes. */
import { request } from 'undici';
import { type Child, startChild } from './children.ts';
import { inTurns, tellComparison } from './compare.ts';
import type { Loader } from './load.ts';
import { asked } from './measured-child.ts';

export interface PagesOptions {
  readonly databaseUrl: string;
  readonly loader: Loader;
  /** Duration of one turn. */
  readonly seconds: number;
  readonly rounds: number;
}

export const CONNECTIONS = [16, 256];
const FULL = '/ori/v1/feed?limit=500';
const TEN = '/ori/v1/feed?limit=10';
/** Headers that each server sets itself. */
const HOP = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

const BARE = 'bare node:http';
/** The target is half the bare server's rate; the framework takes the rest. */
const TO_REACH = 0.5;

interface Page {
  readonly title: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** Requested with the ETag of the previous answer. */
  readonly isRepeated?: boolean;
}

/** A server and its bare counterpart. */
interface Pair {
  readonly server: Child;
  readonly url: string;
  readonly floor: Child;
}

/**
 * A process is fast or slow for its whole life, so one pair would measure only that. The rounds are divided over the
 * pairs.
 */
const PAIRS = 3;

export async function measurePages(options: PagesOptions): Promise<void> {
  const pairs: Pair[] = [];
  try {
    for (let i = 0; i < PAIRS; i += 1) pairs.push(await startPair(options.databaseUrl));
    for (const page of await pages(pairs[0]?.url ?? '')) await measurePage(options, page, pairs);
  } finally {
    for (const { server, floor } of pairs) {
      await server.stop();
      await floor.stop();
    }
  }
}

async function startPair(databaseUrl: string): Promise<Pair> {
  const server = await startChild(new URL('feed-server.ts', import.meta.url), { DATABASE_URL: databaseUrl });
  const floor = await startChild(new URL('../floors/feed-bytes.ts', import.meta.url));
  return { server, url: Object(await server.ask({})).url, floor };
}

async function measurePage(
  { loader, seconds, rounds }: PagesOptions,
  page: Page,
  pairs: readonly Pair[],
): Promise<void> {
  const prepared = await Promise.all(pairs.map((pair) => prepare(pair, page)));
  const { body, status } = prepared[0] ?? { body: Buffer.alloc(0), status: 0 };
  for (const connections of CONNECTIONS) {
    const matches = prepared.map(({ server, floor, url, bareUrl, headers }) => {
      const load = { connections, seconds, status, headers };
      return {
        ours: asked('ours', server, loader, url + page.path, load),
        others: [asked(BARE, floor, loader, bareUrl, load)],
      };
    });
    // An unmeasured round warms them all up.
    await inTurns(matches, 1);
    for (const found of await inTurns(matches, Math.ceil(rounds / PAIRS))) {
      tellComparison(`${page.title} (${body.length} bytes)`, connections, found, TO_REACH);
    }
  }
}

/** Makes the bare server of a pair write what the other answers. */
async function prepare(pair: Pair, page: Page) {
  const headers = {
    ...page.headers,
    ...(page.isRepeated ? { 'if-none-match': await tagOf(pair.url + page.path) } : {}),
  };
  const answer = await request(pair.url + page.path, { headers });
  const body = Buffer.from(await answer.body.arrayBuffer());
  const { url: bareUrl } = Object(
    await pair.floor.ask({
      status: answer.statusCode,
      headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP.includes(name))),
      body: body.toString('base64'),
    }),
  );
  return { ...pair, bareUrl: String(bareUrl), headers, body, status: answer.statusCode };
}

async function tagOf(url: string): Promise<string> {
  const answer = await request(url);
  await answer.body.dump();
  return String(answer.headers.etag);
}

async function pages(url: string): Promise<Page[]> {
  const poll = `/ori/v1/feed?cursor=${await lastCursor(url)}`;
  return [
    { title: 'full page', path: FULL, headers: {} },
    ...['gzip', 'br', 'zstd'].map((encoding) => ({
      title: `full page, ${encoding}`,
      path: FULL,
      headers: { 'accept-encoding': encoding },
    })),
    { title: 'page of 10', path: TEN, headers: {} },
    { title: 'page of 10, zstd', path: TEN, headers: { 'accept-encoding': 'zstd' } },
    { title: 'caught-up poll', path: poll, headers: {} },
    { title: '304', path: poll, headers: {}, isRepeated: true },
  ];
}

/** The cursor of a consumer that has caught up. */
async function lastCursor(url: string): Promise<string> {
  for (let path = '/ori/v1/feed?limit=1000'; ; ) {
    const page = Object(await (await request(url + path)).body.json());
    if (!page.hasMore) return String(page.cursor);
    path = `/ori/v1/feed?limit=1000&cursor=${page.cursor}`;
  }
}
