/**
 * This checkout beside another one, in turns on one machine: appends, and feed pages from memory. For each it prints the ratio of the rates
 * and the processor time of the server for each answer. `npm run bench -- beside OTHER_CHECKOUT [seconds] [turns]`; the other checkout
 * has its dependencies installed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { startTokens } from '../test/support/tokens.ts';
import { type Child, startChild } from './support/children.ts';
import { sampleActies } from './support/sample-actie.ts';
import { middle, ratioText } from './support/turns.ts';

const HERE = join(import.meta.dirname, '..');
const RECORDS = 20_000;
const WARM_UP_TURNS = 3;

const [other, seconds = '3', turns = '7'] = process.argv.slice(2);
if (other === undefined) {
  console.error('beside: name the other checkout');
  process.exit(2);
}
const measureMs = Number(seconds) * 1000;

/** A checkout's servers, each on a database of its own that it migrated itself. */
interface Side {
  readonly log: Child;
  readonly feed: Child;
  readonly postgres: { readonly stop: () => Promise<void> };
}

interface Figures {
  readonly perSecond: number;
  readonly processorUs: number;
}

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-beside-'));
const tokens = await startTokens();
const load = await startChild(new URL('support/load-process.ts', import.meta.url));
const sides: Side[] = [];
try {
  for (const root of [HERE, resolve(other)]) sides.push(await startSide(root, join(dir, String(sides.length))));
  const { authorization } = await tokens.bearer(['create:normal']);
  const bodies = sampleActies(2000);
  const append = { method: 'POST', headers: { authorization }, idempotencyKeys: true, bodies, expectStatus: 201 };
  const page = { method: 'GET', headers: {}, idempotencyKeys: false, bodies: [], expectStatus: 200 };
  const ways = [
    ['append, 1 connection', 'log', { ...append, connections: 1 }, '/verwerkingenlog/v1/verwerkingsacties'],
    ['append, 64 connections', 'log', { ...append, connections: 64 }, '/verwerkingenlog/v1/verwerkingsacties'],
    ['feed page of 10, 16 connections', 'feed', { ...page, connections: 16 }, '/ori/v1/feed?limit=10'],
    ['feed page of 500, 16 connections', 'feed', { ...page, connections: 16 }, '/ori/v1/feed?limit=500'],
    [
      'feed page of 500, gzip, 16 connections',
      'feed',
      { ...page, connections: 16, headers: { 'accept-encoding': 'gzip' } },
      '/ori/v1/feed?limit=500',
    ],
  ] as const;
  console.log('this checkout beside the other: rate (over 1: faster), and processor time for each answer');
  for (const [title, area, what, path] of ways) {
    const rates: number[] = [];
    const processor: number[][] = [[], []];
    for (let turn = -WARM_UP_TURNS; turn < Number(turns); turn += 1) {
      const found: Figures[] = [];
      // The side measured first alternates: it runs while the other's last commits are still written out.
      const order = turn % 2 === 0 ? [0, 1] : [1, 0];
      for (const i of order) {
        const side = sides[i];
        if (side !== undefined) found[i] = await measure(side[area], path, what);
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
  for (const { log, feed, postgres } of sides) {
    await log.stop();
    await feed.stop();
    await postgres.stop();
  }
  await load.stop();
  await tokens.close();
  await rm(dir, { recursive: true, force: true });
}

async function startSide(root: string, data: string): Promise<Side> {
  const postgres = await startEmbedded({ dir: data, log: createLogger('error'), settings: { max_connections: '200' } });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const databases: string[] = [];
  for (const name of ['log', 'feed']) {
    await client.query(`create database ${name}`);
    const address = new URL(postgres.url);
    address.pathname = `/${name}`;
    databases.push(address.href);
  }
  await client.end();
  const [logUrl = '', feedUrl = ''] = databases;
  const server = (file: string) => pathToFileURL(join(root, 'bench/support', file));
  const log = await startChild(server('log-server.ts'), {
    DATABASE_URL: logUrl,
    VERWERKINGENLOG_KEY: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
    NODE_ENV: 'test',
    OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
    ...tokens.env,
  });
  const feed = await startChild(server('feed-server.ts'), { DATABASE_URL: feedUrl });
  await fill(root, feedUrl);
  return { log, feed, postgres };
}

/** The same records in both, made by each checkout for its own tables. */
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

async function measure(server: Child, path: string, what: object): Promise<Figures> {
  const { url } = Object(await server.ask({}));
  const before = server.processorMs();
  const began = performance.now();
  const { perSecond } = Object(await load.ask({ ...what, url: `${url}${path}`, warmUpMs: 300, measureMs }));
  const answers = (perSecond * (performance.now() - began)) / 1000;
  return { perSecond, processorUs: ((server.processorMs() - before) * 1000) / answers };
}
