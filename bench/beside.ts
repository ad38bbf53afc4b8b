/**
 * Compares this checkout with another on the same machine, alternating between them: appends, feed pages from memory,
 * and signed answers. Prints the ratio of the rates and the server's CPU time per answer.
 *
 *   npm run bench -- beside OTHER_CHECKOUT [seconds] [turns] [part of a title]
 *
 * The other checkout must have its dependencies installed.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createAuthority } from '../src/lib/authority/authority.ts';
import { createLogger } from '../src/lib/log.ts';
import { startTokens } from '../test/support/tokens.ts';
import { appendLoad, LOG_ENV } from './support/append-load.ts';
import { type Child, startChild } from './support/children.ts';
import { createDatabase } from './support/databases.ts';
import { gegevensEnv } from './support/gegevens-env.ts';
import { writeSample } from './support/sample-delivery.ts';
import { createSignedClient } from './support/signed-client.ts';
import { middle, ratioText } from './support/turns.ts';

const HERE = join(import.meta.dirname, '..');
const RECORDS = 20_000;
const DELIVERED = 25_000;
const WARM_UP_TURNS = 3;

const [other, seconds = '3', turns = '7', wanted = ''] = process.argv.slice(2);
if (other === undefined) {
  console.error('beside: name the other checkout');
  process.exit(2);
}
const measureMs = Number(seconds) * 1000;

/** A checkout's servers, each with its own freshly migrated database. */
interface Side {
  readonly log: Child;
  readonly feed: Child;
  /** Area A with and without a page cache. */
  readonly cold: Child;
  readonly warm: Child;
  readonly postgres: { readonly stop: () => Promise<void> };
}

interface Figures {
  readonly perSecond: number;
  readonly processorUs: number;
}

/** Loads a server for a while and returns the number of answers in each second. */
type Load = (server: Child) => Promise<number>;

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-beside-'));
const tokens = await startTokens();
const load = await startChild(new URL('support/load-process.ts', import.meta.url));
const authority = await createAuthority({ dir: join(dir, 'pki'), port: 0, lifeSeconds: 3600 });
const delivery = join(dir, 'shv.json');
await writeSample(delivery, { variant: 'shv', records: DELIVERED });
const sides: Side[] = [];
try {
  for (const root of [HERE, resolve(other)]) sides.push(await startSide(root, join(dir, String(sides.length))));
  const { authorization } = await tokens.bearer(['create:normal']);
  const page = { method: 'GET', idempotencyKeys: false, bodies: [], expectStatus: 200 };
  const http =
    (loadOf: (url: string) => object): Load =>
    async (server) =>
      Object(await load.ask(loadOf(Object(await server.ask({})).url))).perSecond;
  const append = (connections: number): Load =>
    http((url) => appendLoad(url, authorization, { connections, warmUpMs: 300, measureMs }));
  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Load =>
    http((url) => ({ ...page, url: `${url}${path}`, headers, connections: 16, warmUpMs: 300, measureMs }));
  const gzip = { 'accept-encoding': 'gzip' };
  const ways = [
    ['append, 1 connection', 'log', append(1)],
    ['append, 64 connections', 'log', append(64)],
    ['feed page of 10, 16 connections', 'feed', get('/ori/v1/feed?limit=10')],
    ['feed page of 500, 16 connections', 'feed', get('/ori/v1/feed?limit=500')],
    ['feed page of 500, gzip, 16 connections', 'feed', get('/ori/v1/feed?limit=500', gzip)],
    ['POST /gegevens, cold, 10 records', 'cold', await signedLoad({ pageSize: 10 })],
    ['POST /gegevens, cold, 25 000 records', 'cold', await signedLoad({})],
    ['POST /gegevens, warm, 25 000 records', 'warm', await signedLoad({})],
  ] as const;
  console.log('this checkout against the other: rate (above 1 is faster), and CPU time per answer');
  for (const [title, area, put] of ways) {
    if (!title.includes(wanted)) continue;
    const rates: number[] = [];
    const processor: number[][] = [[], []];
    for (let turn = -WARM_UP_TURNS; turn < Number(turns); turn += 1) {
      const found: Figures[] = [];
      // Alternate which side goes first: it runs while the other's last commits are still being flushed.
      const order = turn % 2 === 0 ? [0, 1] : [1, 0];
      for (const i of order) {
        const side = sides[i];
        if (side !== undefined) found[i] = await measure(side[area], put);
      }
      const [ours, theirs] = found;
      if (turn < 0 || ours === undefined || theirs === undefined) continue;
      rates.push(ours.perSecond / theirs.perSecond);
      for (const [i, { processorUs }] of found.entries()) processor[i]?.push(processorUs);
    }
    const [own = 0, others = 0] = processor.map(middle);
    console.log(`${title.padEnd(40)} ${ratioText(rates)}; ${own.toFixed(0)} and ${others.toFixed(0)} us`);
  }
} finally {
  for (const { postgres, ...servers } of sides) {
    for (const server of Object.values(servers)) await server.stop();
    await postgres.stop();
  }
  await load.stop();
  await authority.close();
  await tokens.close();
  await rm(dir, { recursive: true, force: true });
}

async function startSide(root: string, data: string): Promise<Side> {
  const postgres = await startEmbedded({ dir: data, log: createLogger('error'), settings: { max_connections: '200' } });
  const feedUrl = await createDatabase(postgres.url, 'feed');
  const server = (file: string) => pathToFileURL(join(root, 'bench/support', file));
  const log = await startChild(server('log-server.ts'), {
    DATABASE_URL: await createDatabase(postgres.url, 'log'),
    ...LOG_ENV,
    OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
    ...tokens.env,
  });
  const feed = await startChild(server('feed-server.ts'), { DATABASE_URL: feedUrl });
  await fill(root, feedUrl);
  const gegevens = await startGegevens(root, await createDatabase(postgres.url, 'gegevens'));
  return { log, feed, ...gegevens, postgres };
}

async function startGegevens(root: string, databaseUrl: string): Promise<Pick<Side, 'cold' | 'warm'>> {
  const env = {
    DATABASE_URL: databaseUrl,
    AREAS: 'shv',
    OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
    ...gegevensEnv(authority, tokens),
  };
  const run = async (...args: string[]): Promise<void> => {
    const all = [join(root, 'src/main.ts'), ...args];
    await promisify(execFile)(process.execPath, all, { env: { ...process.env, ...env } });
  };
  await run('migrate');
  await run('gegevens', 'import', '--variant', 'shv', delivery);
  const start = (megabytes: string): Promise<Child> =>
    startChild(pathToFileURL(join(root, 'bench/support/gegevens-server.ts')), {
      ...env,
      BENCH_VARIANT: 'shv',
      GEGEVENS_CACHE_MB: megabytes,
      'gegevens.cacheMb': megabytes,
    });
  return { cold: await start('0'), warm: await start('256') };
}

/** Individually signed requests, four at a time. */
async function signedLoad(request: object): Promise<Load> {
  const { authorization: bearer } = await tokens.bearer(['read']);
  const client = createSignedClient(authority.requester.key, authority.requester.chain, bearer);
  return async (server) => {
    const { url } = Object(await server.ask({}));
    const end = performance.now() + measureMs;
    let answers = 0;
    const caller = async (): Promise<void> => {
      for (; performance.now() < end; answers += 1) await client.post(url, request, 'digest');
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: 4 }, caller));
    return (answers * 1000) / (performance.now() - began);
  };
}

/** The same records in both databases, imported by each checkout itself. */
async function fill(root: string, databaseUrl: string): Promise<void> {
  const { generateHistory } = await import(join(root, 'test/raadsfeed/generate-history.ts'));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await generateHistory(client, 1, RECORDS);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

async function measure(server: Child, put: Load): Promise<Figures> {
  const before = server.processorMs();
  const began = performance.now();
  const perSecond = await put(server);
  const answers = (perSecond * (performance.now() - began)) / 1000;
  return { perSecond, processorUs: ((server.processorMs() - before) * 1000) / answers };
}
