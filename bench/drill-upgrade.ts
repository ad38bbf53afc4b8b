/**
 * A release that reads everything again, over a large feed: how soon each part of the service answers after its process has started, how long
 * each thing is read, whether the feed answers meanwhile, and that a process that was killed is gone on from; then, what has been written.
 * Searches come after that.
 *
 *   node bench/drill-upgrade.ts [--records 1000000] [--data DIR] [--searches 60] [--only 'search index']
 *
 * With `--data` the filled database stays in that directory for the next run.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { childrenClock } from './support/children.ts';
import { fillFeed } from './support/fill-feed.ts';
import { SEARCHES, searchAddress, summary } from './support/searches.ts';
import { FEED, type StartedProgram, startServe } from './support/started-program.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    searches: { type: 'string', default: '60' },
    data: { type: 'string' },
    only: { type: 'string' },
  },
});
const records = Number(values.records);
/** Milliseconds between looks at how far it is: a small feed is read in seconds. */
const LOOK_MS = Math.min(1000, records / 200);
/** Milliseconds that the search page may take, 95 of 100 times. */
const SEARCH_MS = 500;
/** A database that holds a million documents has more memory than the embedded one takes by itself. */
const SETTINGS = { shared_buffers: '2GB', max_wal_size: '4GB' };

interface Part {
  /** As readiness names it. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** A page that needs it. */
  readonly page: string;
  /** What a release does that reads it again. */
  readonly empty: string;
  /** Statements that give `n`: what has been written, and what must have been when all is read. */
  readonly written: string;
  readonly expected: string;
}

const positionOf = (schema: string): string =>
  `update ${schema}.position set feed_id = '', nummer = 0, scan_after = 0, scan_to = 0`;
const SEARCH_INDEX = 'search index';
/** What was published before, in a folder that lasts as long as the drill: another database has other checkpoints. */
const own = await mkdtemp(join(tmpdir(), 'koppelvlak-drill-own-'));
const proofState = join(own, 'proof-state.json');
const RECORDS = 'select count(*) as n from raadsfeed.current_records';
/** A proof log, once begun, must be kept: it comes last. */
const PARTS: readonly Part[] = [
  {
    name: SEARCH_INDEX,
    // Nothing is kept in memory: every search reaches the database.
    env: { RAADSFEED_PAGES: 'true', RAADSFEED_CACHE_MB: '0' },
    page: '/raad/zoeken?q=voorstel',
    empty: `truncate pages.items, pages.links; ${positionOf('pages')}`,
    written: 'select count(*) as n from pages.items',
    expected: RECORDS,
  },
  {
    name: 'offer to DiWoo',
    env: { RAADSFEED_DIWOO: 'true' },
    page: '/woo/sitemapindex-diwoo-infocat008.xml',
    empty: `truncate diwoo.documents, diwoo.links, diwoo.agendapunt, diwoo.series, diwoo.sitemap; ${positionOf('diwoo')}`,
    written: 'select count(*) as n from diwoo.documents',
    expected: `${RECORDS} where resource_type = 'Informatieobject'`,
  },
  {
    name: 'proof log raadsfeed',
    env: { PROOF_KEY: Buffer.alloc(32, 5).toString('base64'), PROOF_STATE: proofState },
    page: '/proof/v1/raadsfeed/checkpoint',
    empty:
      'truncate proof.logs, proof.queue, proof.tiles, proof.bundles, proof.removals, proof.key_check; update raadsfeed.record set seed = null where seed is not null',
    written: `select size as n from proof.logs where log = 'raadsfeed'`,
    expected: RECORDS,
  },
];
const faults: string[] = [];
/** The process that serves. */
let running: StartedProgram | undefined;

const dir = values.data ?? (await mkdtemp(join(tmpdir(), 'koppelvlak-drill-')));
const postgres = await startEmbedded({ dir, log: createLogger('error'), settings: SETTINGS });
try {
  await migrate({ url: postgres.url, dir: MIGRATIONS, log: createLogger('error') });
  await fillFeed(postgres.url, records);
  for (const { empty } of PARTS) await asOwner(empty);
  for (const part of PARTS) if (values.only === undefined || values.only === part.name) await readAgain(part);
  for (const fault of faults) console.log(`FAULT ${fault}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await running?.kill();
  await postgres.stop();
  await rm(own, { recursive: true });
  if (values.data === undefined) await rm(dir, { recursive: true, force: true });
}

async function asOwner(statements: string): Promise<void> {
  const client = new pg.Client(postgres.url);
  await client.connect();
  await client.query(statements).finally(() => client.end());
}

async function count(statement: string): Promise<number> {
  const client = new pg.Client(postgres.url);
  await client.connect();
  const { rows } = await client.query<{ n: string }>(statement).finally(() => client.end());
  return Number(rows[0]?.n);
}

async function start(part: Part): Promise<StartedProgram> {
  const program = await startServe({ DATABASE_URL: postgres.url, ...part.env }, part.page);
  running = program;
  const cpuMs = program.processorMs();
  const { firstAnswers } = program;
  const said = firstAnswers.map(({ path, ms, status }) => `${path} ${status} after ${ms} ms`).join(', ');
  console.log(`  ${said}; ${cpuMs} ms of a processor`);
  return program;
}

async function readAgain(part: Part): Promise<void> {
  const { name, empty, written, expected } = part;
  await asOwner(empty);
  await rm(proofState, { force: true });
  console.log(`${name}, emptied:`);
  const first = await start(part);
  const before = await follow(first, part, records / 2);
  await first.kill();
  console.log(`  killed at ${before.read}`);
  const second = await start(part);
  const after = await follow(second, part, records);
  const [resumed] = after.seen;
  if (resumed !== undefined && resumed < before.read)
    faults.push(`${name}: at ${before.read}, after a kill at ${resumed}`);
  const seen = new Set([...before.seen, ...after.seen].filter((read) => read > 0 && read < records)).size;
  if (seen === 0) faults.push(`${name}: readiness did not say how far it was`);
  const [minutes, ofDatabase, ofProgram] = before.spent.map((ms, i) =>
    ((ms + (after.spent[i] ?? 0)) / 60_000).toFixed(1),
  );
  console.log(
    `  ${records} records in ${minutes} minutes, readiness saying ${seen} times how far; of a processor, ${ofDatabase} of the database and ${ofProgram} of the program`,
  );
  await second.stop();
  const [is, wanted] = [await count(written), await count(expected)];
  console.log(`  ${is} written of ${wanted}`);
  if (is !== wanted) faults.push(`${name}: ${is} written of ${wanted}`);
  console.log(`${name}, read:`);
  const ready = await start(part);
  if (name === SEARCH_INDEX) await answerSearches(ready);
  await ready.stop();
}

interface Followed {
  /** Records that were read in the end. */
  readonly read: number;
  /** What readiness said before that. */
  readonly seen: readonly number[];
  /** Milliseconds by the clock, of the database and of the program. */
  readonly spent: readonly number[];
}

/** Looks until so many records are read. @throws when readiness says anything else of this part */
async function follow(program: StartedProgram, { name, page }: Part, upTo: number): Promise<Followed> {
  const [postmaster = ''] = (await readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  const clocks = [() => performance.now(), childrenClock(Number(postmaster)), () => program.processorMs()];
  const begun = clocks.map((clock) => clock());
  const feedMs: number[] = [];
  const seen: number[] = [];
  let read = 0;
  let mostBytes = 0;
  while (read < upTo) {
    clocks[1]?.();
    const found = await program.progress(name);
    if (found !== undefined && found < read) faults.push(`${name}: ${read}, and then ${found}`);
    if (found !== undefined) seen.push(found);
    read = found ?? records;
    const { status, ms } = await program.ask(FEED);
    feedMs.push(ms);
    mostBytes = Math.max(mostBytes, program.memoryBytes());
    if (status !== 200) faults.push(`${name} at ${read}: ${FEED} ${status}`);
    if (read < upTo) await sleep(LOOK_MS);
  }
  const spent = clocks.map((clock, i) => clock() - (begun[i] ?? 0));
  const { p50, p95 } = summary(feedMs);
  const { status } = await program.ask(page);
  console.log(
    `  at ${read}: ${page} ${status}; a page of the feed meanwhile ${p50} ms, 95 of 100 within ${p95} ms; at most ${Math.round(mostBytes / 1e6)} MB of memory`,
  );
  return { read, seen, spent };
}

async function answerSearches(program: StartedProgram): Promise<void> {
  const kinds = Object.entries(SEARCHES);
  const times: number[] = [];
  for (let i = 0; i < Number(values.searches); i += 1) {
    const [kind, make] = kinds[i % kinds.length] ?? ['', () => ({ q: '' })];
    const { status, ms } = await program.ask(searchAddress(make(Math.floor(i / kinds.length))));
    if (status !== 200) faults.push(`a search of ${kind}: ${status}`);
    times.push(ms);
  }
  const { p50, p95, count } = summary(times);
  console.log(`${count} searches in ${records} records: ${p50} ms, 95 of 100 within ${p95} ms`);
  if (p95 > SEARCH_MS) faults.push(`95 of 100 searches within ${p95} ms`);
}
