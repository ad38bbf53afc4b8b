/**
 * What the proof log costs: appending with it on and off in paired turns, and on a tree of many entries a checkpoint, a proof, and bytes an
 * entry. `node bench/proof.ts [seconds] [turns] [connections] [entries in millions]`
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createPool, type Pool } from '../src/kernel/database/pool.ts';
import { createLogger } from '../src/kernel/log.ts';
import { createSequencer } from '../src/proof/sequencer.ts';
import { openPublishedCheckpoints } from '../src/proof/state.ts';
import { tileReader } from '../src/proof/store/leaves.ts';
import { readLog } from '../src/proof/store/logs.ts';
import { proveInclusion } from '../src/proof/tree/merkle.ts';
import { readHashesFromTiles } from '../src/proof/tree/tiles.ts';
import { startTokens } from '../test/support/tokens.ts';
import { type Child, startChild } from './support/children.ts';
import type { Load, LoadResult } from './support/raw-client.ts';
import { sampleActies } from './support/sample-actie.ts';
import { middle, ratioText } from './support/turns.ts';

const measureMs = Number(process.argv[2] ?? 2) * 1000;
const turns = Number(process.argv[3] ?? 7);
const connections = Number(process.argv[4] ?? 64);
const entries = Number(process.argv[5] ?? 10) * 1_000_000;
const WARM_UP_TURNS = 5;
const PROOF_KEY = Buffer.alloc(32, 5).toString('base64');

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({
  dir: join(dir, 'postgres'),
  log: createLogger('error'),
  settings: { max_connections: '400' },
});
try {
  await measureAppends();
  if (entries > 0) await measureTree();
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}

async function measureAppends(): Promise<void> {
  const tokens = await startTokens();
  const client = await startChild(new URL('./support/load-process.ts', import.meta.url));
  const { authorization } = await tokens.bearer(['create:normal']);
  const bodies = sampleActies(2000);
  const servers: Child[] = [];
  const way = async (env: Record<string, string>): Promise<() => Promise<LoadResult>> => {
    const server = await startChild(new URL('./support/log-server.ts', import.meta.url), {
      DATABASE_URL: postgres.url,
      VERWERKINGENLOG_KEY: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
      OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
      ...tokens.env,
      ...env,
    });
    servers.push(server);
    const { url } = Object(await server.ask({}));
    const load: Load = {
      url: `${url}/verwerkingenlog/v1/verwerkingsacties`,
      method: 'POST',
      connections,
      warmUpMs: 500,
      measureMs,
      headers: { authorization },
      idempotencyKeys: true,
      bodies,
      expectStatus: 201,
    };
    return async () => Object(await client.ask(load));
  };
  try {
    // The one without first: once the log is begun, a server does not start without it.
    const off = await way({});
    const on = await way({ PROOF_KEY, PROOF_STATE: join(dir, 'append.json'), PROOF_INTERVAL_SECONDS: '5' });
    for (let i = 0; i < WARM_UP_TURNS; i += 1) {
      await off();
      await on();
    }
    const rates = { off: [] as number[], on: [] as number[] };
    for (let turn = 0; turn < turns; turn += 1) {
      // In turns of order, so that neither always goes first.
      for (const name of turn % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const))
        rates[name].push((await (name === 'off' ? off() : on())).perSecond);
    }
    console.log(`${turns} turns of ${measureMs / 1000} s, ${connections} connections; the middle of the turns`);
    for (const name of ['off', 'on'] as const)
      console.log(`  proof log ${name.padEnd(4)} ${middle(rates[name]).toFixed(0).padStart(8)} a second`);
    console.log(
      `  on / off (at least 0.9)  ${ratioText(rates.on.map((rate, i) => rate / (rates.off[i] ?? Number.NaN)))}`,
    );
  } finally {
    for (const server of servers) await server.stop();
    await client.stop();
    await tokens.close();
  }
}

/** Grows a tree of its own, `leveringen`, to each power of ten. */
async function measureTree(): Promise<void> {
  const pool = createPool({
    url: postgres.url,
    size: 3,
    connectTimeoutMs: 20_000,
    statementTimeoutMs: 0,
    pooler: 'none',
    role: 'koppelvlak_dienst',
    applicationName: 'bench',
    log: createLogger('error'),
  });
  try {
    const sequencer = createSequencer({
      pool,
      log: 'leveringen',
      proofKey: Buffer.from(PROOF_KEY, 'base64'),
      published: await openPublishedCheckpoints(join(dir, 'tree.json')),
      host: () => 'bench.example',
      pad: 0,
      intervalSeconds: 0,
    });
    await sequencer.round();
    console.log('\n     entries   sequencing   a checkpoint of 100 more      a proof   bytes an entry');
    let filled = 0;
    for (const size of [10_000, 100_000, 1_000_000, 10_000_000].filter((one) => one <= entries)) {
      const began = performance.now();
      while (filled < size) {
        const count = Math.min(100_000, size - filled);
        await fill(pool, filled, count);
        filled += count;
        await sequencer.round();
      }
      const perSecond = size / ((performance.now() - began) / 1000);
      const checkpoint = await timed(async (i) => {
        await fill(pool, filled, 100);
        filled += 100;
        const start = performance.now();
        await sequencer.round();
        return i === 0 ? Number.NaN : performance.now() - start;
      });
      const stored = await readLog(pool, 'leveringen');
      if (stored === undefined) throw new Error('the tree is not there');
      const read = readHashesFromTiles(stored.size, tileReader(pool, stored));
      const proof = await timed(async () => {
        const start = performance.now();
        await proveInclusion(Math.floor(Math.random() * stored.size), stored.size, read);
        return performance.now() - start;
      });
      const bytes = (await bytesOf(pool)) / stored.size;
      console.log(
        `${String(size).padStart(12)} ${perSecond.toFixed(0).padStart(8)} /s ${checkpoint.padStart(22)} ms ${proof.padStart(12)} ms ${bytes.toFixed(0).padStart(14)}`,
      );
    }
  } finally {
    await pool.end();
  }
}

async function fill(pool: Pool, from: number, count: number): Promise<void> {
  await pool.query(
    `insert into proof.queue (log, nr, vermelding)
     select 'leveringen', $1::bigint + i, '\\x01'::bytea || sha256(int8send($1::bigint + i) || $3::bytea) from generate_series(1, $2::integer) i`,
    [from, count, randomBytes(8)],
  );
}

async function timed(once: (i: number) => Promise<number>): Promise<string> {
  const figures: number[] = [];
  for (let i = 0; i < 11; i += 1) figures.push(await once(i));
  return middle(figures.filter((figure) => !Number.isNaN(figure))).toFixed(1);
}

async function bytesOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(t))::float8 as bytes from unnest(array['proof.tegels', 'proof.bladen']::regclass[]) t`,
  );
  return rows[0]?.bytes ?? 0;
}
