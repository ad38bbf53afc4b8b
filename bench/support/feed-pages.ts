import { request } from 'undici';
import { type Child, startChild } from './children.ts';
import type { Loader } from './load.ts';
import { startNginx } from './nginx.ts';

export interface PagesOptions {
  readonly databaseUrl: string;
  readonly loader: Loader;
  readonly seconds: number;
  readonly dir: string;
}

const CONNECTIONS = [16, 256];
const FULL = '/ori/v1/feed?limit=500';
const TEN = '/ori/v1/feed?limit=10';

interface Page {
  readonly title: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly toReach: number;
}

export async function measurePages({ databaseUrl, loader, seconds, dir }: PagesOptions): Promise<void> {
  const server = await startChild(new URL('./feed-server.ts', import.meta.url), { DATABASE_URL: databaseUrl });
  const floor = await startChild(new URL('../floors/feed-bytes.ts', import.meta.url));
  try {
    const { url } = Object(await server.ask({}));
    for (const page of await pages(url)) {
      const answer = await request(url + page.path, { headers: page.headers });
      const body = Buffer.from(await answer.body.arrayBuffer());
      const same = {
        status: answer.statusCode,
        headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP.includes(name))),
        body: body.toString('base64'),
      };
      const bare = Object(await floor.ask(same));
      for (const connections of CONNECTIONS) {
        const load = { connections, seconds, status: answer.statusCode, headers: page.headers };
        const ours = await measured(server, () => loader.rate(url + page.path, load));
        const theirs = await measured(floor, () => loader.rate(bare.url, load));
        row(`${page.title} (${body.length} bytes)`, connections, ours, theirs, 'bare node:http', page.toReach);
        if (page.title === 'full page') await besideNginx(dir, body, ours, loader, { ...load, headers: {} });
      }
    }
  } finally {
    await server.stop();
    await floor.stop();
  }
  await measureCold({ databaseUrl, loader, seconds, dir });
}

const HOP = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

async function pages(url: string): Promise<Page[]> {
  const ask = async (path: string, headers = {}) => request(url + path, { headers });
  let cursor = '';
  for (let path = '/ori/v1/feed?limit=1000'; ; ) {
    const page = Object(await (await ask(path)).body.json());
    cursor = page.cursor;
    if (!page.hasMore) break;
    path = `/ori/v1/feed?limit=1000&cursor=${cursor}`;
  }
  const poll = `/ori/v1/feed?cursor=${cursor}`;
  const answer = await ask(poll);
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

async function besideNginx(
  dir: string,
  body: Buffer,
  ours: Rate,
  loader: Loader,
  load: Parameters<Loader['rate']>[1],
): Promise<void> {
  const nginx = await startNginx(dir, body);
  if (nginx === undefined) return console.log('  (nginx is not installed)');
  try {
    row('full page', load.connections, ours, { rate: await loader.rate(nginx.url, load) }, 'nginx, a file', 1);
  } finally {
    await nginx.stop();
  }
}

/** History that is in no cache: every page is read from the database. */
async function measureCold({ databaseUrl, loader, seconds }: PagesOptions): Promise<void> {
  const env = { DATABASE_URL: databaseUrl, RAADSFEED_CACHE_MB: '0' };
  const server = await startChild(new URL('./feed-server.ts', import.meta.url), env);
  const floor = await startChild(new URL('../floors/feed-rows.ts', import.meta.url), env);
  try {
    const { url } = Object(await server.ask({}));
    const bare = Object(await floor.ask({}));
    const first = Object(await (await request(`${url}${FULL}`)).body.json());
    for (const connections of CONNECTIONS) {
      const load = { connections, seconds, status: 200 };
      const ours = await measured(server, () => loader.rate(`${url}${FULL}&cursor=${first.cursor}`, load));
      const theirs = await measured(floor, () => loader.rate(`${bare.url}/500`, load));
      row('full page in no cache', connections, ours, theirs, 'rows read with pg', 0.8);
    }
  } finally {
    await server.stop();
    await floor.stop();
  }
}

interface Rate {
  readonly rate: number;
  /** Processor time of the server per answer, in microseconds. */
  readonly cpuUs?: number;
}

/** A rate, and what it cost the server: unlike the rate that says the same on a machine that is busy with other things. */
async function measured(child: Child, load: () => Promise<number>): Promise<Rate> {
  const before = Object(await child.ask({})).cpuMs;
  const startedAt = performance.now();
  const rate = await load();
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = Object(await child.ask({})).cpuMs - before;
  return { rate, cpuUs: (cpu * 1000) / (rate * seconds) };
}

function row(title: string, connections: number, ours: Rate, floor: Rate, against: string, toReach: number): void {
  const show = ({ rate, cpuUs }: Rate): string =>
    `${rate.toFixed(0).padStart(7)}/s${cpuUs === undefined ? '' : ` ${cpuUs.toFixed(0).padStart(5)} us`}`;
  const ratio = (ours.rate / floor.rate).toFixed(2);
  const cpu =
    ours.cpuUs === undefined || floor.cpuUs === undefined
      ? ''
      : `, by processor time ${(floor.cpuUs / ours.cpuUs).toFixed(2)}`;
  console.log(
    `${title.padEnd(34)}${String(connections).padStart(4)}${show(ours)}   ${against}${show(floor)}   ratio ${ratio}${cpu} (to reach ${toReach})`,
  );
}
