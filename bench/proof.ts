/**
 * Measures the cost of the proof log: appending with and without it in alternating turns and, on a tree of many
 * entries, the time of a checkpoint and a proof, and the bytes per entry. `node bench/proof.ts [seconds] [turns]
 * [connections] [entries in millions]`
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../src/database/pool.ts';
import { lock, transaction } from '../src/database/transaction.ts';
import { createSequencer } from '../src/proof/sequencer.ts';
import { openPublishedCheckpoints } from '../src/proof/state.ts';
import { appendLeaves, ENTRY_BYTES, tileReader } from '../src/proof/store/leaves.ts';
import { lockOf, moveLog, readLog, readQueue } from '../src/proof/store/logs.ts';
import { Frontier, proveInclusion } from '../src/proof/tlog/merkle.ts';
import { readHashesFromTiles } from '../src/proof/tlog/tiles.ts';
import { startTokens } from '../test/support/tokens.ts';
import { appendLoad, LOG_ENV } from './support/append-load.ts';
import { childrenClock, startChild } from './support/children.ts';
import { openPool, temporaryPostgres } from './support/databases.ts';
import type { LoadResult } from './support/raw-client.ts';
import { middle, ratioText } from './support/turns.ts';

const measureMs = Number(process.argv[2] ?? 2) * 1000;
const turns = Number(process.argv[3] ?? 7);
const connections = Number(process.argv[4] ?? 64);
const entries = Number(process.argv[5] ?? 10) * 1_000_000;
const WARM_UP_TURNS = 5;
const SERVICE = { size: 3, role: 'koppelvlak_dienst' } as const;
const PROOF_KEY = Buffer.alloc(32, 5).toString('base64');

await using postgres = await temporaryPostgres({ max_connections: '400' });
if (turns > 0) await measureAppends();
if (entries > 0) await measureTree();

/** Results of one turn. On a busy machine the CPU time per append says more than the rate. */
interface Cost {
  readonly perSecond: number;
  readonly serverUs: number;
  readonly databaseUs: number;
}

async function measureAppends(): Promise<void> {
  await using closing = new AsyncDisposableStack();
  const pool = closing.use(openPool(postgres.url, SERVICE));
  const tokens = await startTokens();
  closing.defer(tokens.close);
  const client = closing.use(await startChild(new URL('support/load-process.ts', import.meta.url)));
  const { authorization } = await tokens.bearer(['create:normal']);
  const [postmaster] = (await readFile(join(postgres.dir, 'pg', 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  const database = childrenClock(Number(postmaster));
  const way = async (env: Record<string, string>): Promise<() => Promise<Cost>> => {
    const settings = { DATABASE_URL: postgres.url, ...LOG_ENV, ...tokens.env, ...env };
    const server = closing.use(await startChild(new URL('support/log-server.ts', import.meta.url), settings));
    const { url } = Object(await server.ask({}));
    const load = appendLoad(url, authorization, { connections, measureMs });
    return async () => {
      const before = { server: server.processorMs(), database: database() };
      const { perSecond, answers }: LoadResult = Object(await client.ask(load));
      // Sequencing the entries is part of their cost.
      while ((await readQueue(pool, 'verwerkingen')).pending > 0) await sleep(100);
      return {
        perSecond,
        serverUs: ((server.processorMs() - before.server) * 1000) / answers,
        databaseUs: ((database() - before.database) * 1000) / answers,
      };
    };
  };
  // Without the proof log first: once it has entries, a server refuses to start without it.
  const off = await way({});
  const on = await way({ PROOF_KEY, PROOF_STATE: join(postgres.dir, 'append.json'), 'proof.intervalSeconds': '5' });
  for (let i = 0; i < WARM_UP_TURNS; i += 1) {
    await off();
    await on();
  }
  const costs = { off: [] as Cost[], on: [] as Cost[] };
  for (let turn = 0; turn < turns; turn += 1) {
    // Alternate, so that neither always goes first.
    for (const name of turn % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const))
      costs[name].push(await (name === 'off' ? off() : on()));
  }
  const middleOf = (name: 'off' | 'on', member: keyof Cost): number => middle(costs[name].map((cost) => cost[member]));
  const ratios = (member: keyof Cost): string =>
    ratioText(costs.on.map((cost, i) => cost[member] / (costs.off[i]?.[member] ?? Number.NaN)));
  console.log(`${turns} turns of ${measureMs / 1000} s, ${connections} connections; the median of the turns`);
  for (const name of ['off', 'on'] as const)
    console.log(
      `  proof log ${name.padEnd(4)} ${middleOf(name, 'perSecond').toFixed(0).padStart(8)} a second; CPU time per append: ` +
        `server ${middleOf(name, 'serverUs').toFixed(0)} us, database ${middleOf(name, 'databaseUs').toFixed(0)} us`,
    );
  console.log(`  on / off (at least 0.9)         ${ratios('perSecond')}`);
  console.log(`  CPU time of the server           ${ratios('serverUs')}`);
  console.log(`  CPU time of the database         ${ratios('databaseUs')}`);
}

/** Grows a separate tree, `leveringen`, to each power of ten. */
async function measureTree(): Promise<void> {
  await using pool = openPool(postgres.url, SERVICE);
  const sequencer = createSequencer({
    pool,
    log: 'leveringen',
    proofKey: Buffer.from(PROOF_KEY, 'base64'),
    published: await openPublishedCheckpoints(join(postgres.dir, 'tree.json')),
    host: () => 'bench.example',
    pad: 0,
    intervalSeconds: 0,
  });
  while (await sequencer.round());
  console.log('\n     entries   a checkpoint of 10 000 more      of 100 more       a proof   bytes an entry');
  let filled = 0;
  const checkpointOf = async (count: number): Promise<number> => {
    await queue(pool, filled, count);
    filled += count;
    const start = performance.now();
    while (await sequencer.round());
    return performance.now() - start;
  };
  for (const size of [10_000, 100_000, 1_000_000, 10_000_000].filter((one) => one <= entries)) {
    while (filled < size) {
      const count = Math.min(100_000, size - filled);
      await grow(pool, filled, count);
      filled += count;
    }
    // The first call reads entries that the sequencer did not write.
    await checkpointOf(100);
    const many = await timed(3, () => checkpointOf(10_000));
    const few = await timed(11, () => checkpointOf(100));
    const stored = await readLog(pool, 'leveringen');
    if (stored === undefined) throw new Error('the tree does not exist');
    const read = readHashesFromTiles(stored.size, tileReader(pool, stored));
    const proof = await timed(101, async () => {
      const start = performance.now();
      await proveInclusion(Math.floor(Math.random() * stored.size), stored.size, read);
      return performance.now() - start;
    });
    const bytes = ((await bytesOf(pool)) / stored.size).toFixed(0);
    console.log(
      `${String(size).padStart(12)} ${many.padStart(26)} ms ${few.padStart(13)} ms ${proof.padStart(10)} ms ${bytes.padStart(16)}`,
    );
  }
}

/** Adds leaves to the tree directly: the queue is not measured here. */
async function grow(pool: Pool, from: number, count: number): Promise<void> {
  const bytes = randomBytes(count * ENTRY_BYTES);
  const leaves = Array.from({ length: count }, (_, i) => ({
    number: from + i + 1,
    entry: bytes.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES),
  }));
  await transaction(pool, async (db) => {
    await lock(db, lockOf('leveringen'));
    const stored = await readLog(db, 'leveringen');
    if (stored === undefined) throw new Error('the tree does not exist');
    const frontier = await Frontier.load(stored.size, readHashesFromTiles(stored.size, tileReader(db, stored)));
    await appendLeaves(db, stored, frontier, leaves);
    await moveLog(db, stored, frontier.size, frontier.root());
  });
}

async function queue(pool: Pool, from: number, count: number): Promise<void> {
  await pool.query(
    `insert into proof.queue (log, number, entry)
     select 'leveringen', $1::bigint + i, '\\x01'::bytea || sha256(int8send($1::bigint + i) || $3::bytea) from generate_series(1, $2::integer) i`,
    [from, count, randomBytes(8)],
  );
}

async function timed(times: number, once: () => Promise<number>): Promise<string> {
  const figures: number[] = [];
  for (let i = 0; i < times; i += 1) figures.push(await once());
  return middle(figures).toFixed(1);
}

async function bytesOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(t))::float8 as bytes from unnest(array['proof.tiles', 'proof.bundles']::regclass[]) t`,
  );
  return rows[0]?.bytes ?? 0;
}
