/** Pages that are asked for over and over, beside a bare server that writes the same bytes, and beside nginx. */
import { request } from 'undici';
import { type Child, startChild } from './children.ts';
import { inTurns, tellComparison } from './compare.ts';
import type { Loader } from './load.ts';
import { asked } from './measured-child.ts';
import { startNginx } from './nginx.ts';

export interface PagesOptions {
  readonly databaseUrl: string;
  readonly loader: Loader;
  /** Of one turn. */
  readonly seconds: number;
  readonly rounds: number;
  readonly dir: string;
}

export const CONNECTIONS = [16, 256];
const FULL = '/ori/v1/feed?limit=500';
const TEN = '/ori/v1/feed?limit=10';
/** Headers that each server sets by itself. */
const HOP = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

const BARE = 'bare node:http';
const NGINX = 'nginx, a file';
/** With `sendfile` the kernel copies nothing, which no program that holds bytes comes up to: shown without a goal. */
const GOALS_BESIDE_NGINX: Readonly<Record<string, number>> = { [NGINX]: 1 };

interface Page {
  readonly title: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly toReach: number;
}

export async function measurePages(options: PagesOptions): Promise<void> {
  const server = await startChild(new URL('./feed-server.ts', import.meta.url), { DATABASE_URL: options.databaseUrl });
  const floor = await startChild(new URL('../floors/feed-bytes.ts', import.meta.url));
  try {
    const { url } = Object(await server.ask({}));
    for (const page of await pages(url)) await measurePage(options, url, page, { server, floor });
  } finally {
    await server.stop();
    await floor.stop();
  }
}

async function measurePage(
  { loader, seconds, rounds, dir }: PagesOptions,
  url: string,
  page: Page,
  { server, floor }: { server: Child; floor: Child },
): Promise<void> {
  const answer = await request(url + page.path, { headers: page.headers });
  const body = Buffer.from(await answer.body.arrayBuffer());
  const bare = Object(
    await floor.ask({
      status: answer.statusCode,
      headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP.includes(name))),
      body: body.toString('base64'),
    }),
  );
  const nginx = page.title === 'full page' ? await startBoth(dir, body) : [];
  try {
    for (const connections of CONNECTIONS) {
      const load = { connections, seconds, status: answer.statusCode, headers: page.headers };
      const ours = asked('ours', server, loader, url + page.path, load);
      const sides = [
        asked(BARE, floor, loader, bare.url, load),
        ...nginx.map(({ name, url }) => asked(name, undefined, loader, url, load)),
      ];
      // Once for nothing: both are warm then.
      await inTurns(ours, sides, 1);
      for (const found of await inTurns(ours, sides, rounds)) {
        tellComparison(
          `${page.title} (${body.length} bytes)`,
          connections,
          found,
          found.name === BARE ? page.toReach : GOALS_BESIDE_NGINX[found.name],
        );
      }
    }
  } finally {
    for (const { stop } of nginx) await stop();
  }
}

/** None when it is not installed. */
async function startBoth(dir: string, body: Buffer) {
  const started = [];
  for (const [i, name] of [NGINX, 'nginx, sendfile on'].entries()) {
    const nginx = await startNginx(dir, body, { port: 18_091 + i, sendfile: i === 1 });
    if (nginx === undefined) {
      console.log('(nginx is not installed)');
      return [];
    }
    started.push({ name, ...nginx });
  }
  return started;
}

async function pages(url: string): Promise<Page[]> {
  const poll = `/ori/v1/feed?cursor=${await lastCursor(url)}`;
  const answer = await request(url + poll);
  await answer.body.dump();
  const etag = String(answer.headers.etag);
  return [
    { title: 'full page', path: FULL, headers: {}, toReach: 0.8 },
    ...['gzip', 'br', 'zstd'].map((encoding) => ({
      title: `full page, ${encoding}`,
      path: FULL,
      headers: { 'accept-encoding': encoding },
      toReach: 0.8,
    })),
    { title: 'page of 10', path: TEN, headers: {}, toReach: 0.6 },
    { title: 'page of 10, zstd', path: TEN, headers: { 'accept-encoding': 'zstd' }, toReach: 0.6 },
    { title: 'caught-up poll', path: poll, headers: {}, toReach: 0.6 },
    { title: '304', path: poll, headers: { 'if-none-match': etag }, toReach: 0.6 },
  ];
}

/** The cursor of a reader that has everything. */
async function lastCursor(url: string): Promise<string> {
  for (let path = '/ori/v1/feed?limit=1000'; ; ) {
    const page = Object(await (await request(url + path)).body.json());
    if (!page.hasMore) return String(page.cursor);
    path = `/ori/v1/feed?limit=1000&cursor=${page.cursor}`;
  }
}
