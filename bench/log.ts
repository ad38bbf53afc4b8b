/**
 * How many actions a second are kept durably, over HTTP, with tokens, validation, encryption and idempotency keys on; and what the
 * unavoidable part of that costs in the same run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { startEmbedded } from '../src/kernel/database/embedded.ts';
import { createLogger } from '../src/kernel/log.ts';
import { startTokens } from '../test/support/tokens.ts';
import { copyRows } from './floors/log-copy.ts';
import { insertOneByOne } from './floors/log-insert.ts';
import { pgbenchRate } from './floors/log-pgbench.ts';
import { startChild } from './support/children.ts';
import type { LoadResult } from './support/raw-client.ts';
import { sampleActies } from './support/sample-actie.ts';

/** `node bench/log.ts [seconds] [connections,…]` */
const CONNECTIONS = (process.argv[3] ?? '1,16,64,256').split(',').map(Number);
const measureMs = Number(process.argv[2] ?? 4) * 1000;
const KEY = `bench:${Buffer.alloc(32, 1).toString('base64')}`;

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({ dir, log: createLogger('error'), settings: { max_connections: '400' } });
const tokens = await startTokens();
const client = await startChild(new URL('./support/load-process.ts', import.meta.url));
const { authorization } = await tokens.bearer(['create:normal']);

async function measure(title: string, env: Record<string, string>): Promise<Map<number, LoadResult>> {
  const server = await startChild(new URL('./support/log-server.ts', import.meta.url), {
    DATABASE_URL: postgres.url,
    VERWERKINGENLOG_KEY: KEY,
    OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
    ...tokens.env,
    ...env,
  });
  const results = new Map<number, LoadResult>();
  try {
    const { url } = Object(await server.ask({}));
    for (const connections of CONNECTIONS) {
      const load = {
        url: `${url}/verwerkingenlog/v1/verwerkingsacties`,
        method: 'POST',
        connections,
        warmUpMs: 1500,
        measureMs,
        headers: { authorization },
        idempotencyKeys: true,
        bodies: sampleActies(2000),
        expectStatus: 201,
      };
      const result: LoadResult = Object(await client.ask(load));
      results.set(connections, result);
      row(title, connections, result);
    }
  } finally {
    await server.stop();
  }
  return results;
}

function row(title: string, connections: number, { perSecond, medianMs, p99Ms }: LoadResult): void {
  const ms = (value: number): string => `${value.toFixed(2)} ms`.padStart(10);
  console.log(
    `${title.padEnd(48)}${String(connections).padStart(5)}${perSecond.toFixed(0).padStart(9)}/s${ms(medianMs)}${ms(p99Ms)}`,
  );
}

try {
  console.log(`${'way'.padEnd(48)}conn.   per second    median       p99`);
  const grouped = await measure('over HTTP, groups share a transaction', {});
  const alone = await measure('over HTTP, grouping off', { VERWERKINGENLOG_GROUP_SIZE: '1' });
  const memory = await measure('over HTTP, the same route from memory', { BENCH_MEMORY: 'true' });
  const inserts = new Map<number, LoadResult>();
  for (const connections of CONNECTIONS) {
    const result = await insertOneByOne(postgres.url, connections, measureMs);
    inserts.set(connections, result);
    row('pg, one plain insert per transaction', connections, result);
  }
  for (const connections of CONNECTIONS) {
    const result = await pgbenchRate(postgres.url, connections, measureMs);
    if (result !== undefined) row('pgbench, one prepared insert per transaction', connections, result);
  }
  const copied = await copyRows(postgres.url, 200_000);
  console.log(`${'copy of the same rows into the same indexes'.padEnd(53)}${copied.toFixed(0).padStart(9)} rows/s`);

  const rate = (results: Map<number, LoadResult>, at: number): number => results.get(at)?.perSecond ?? Number.NaN;
  const median = (results: Map<number, LoadResult>, at: number): number => results.get(at)?.medianMs ?? Number.NaN;
  console.log('\nratios');
  console.log(
    `  64 connections, grouped / grouping off:      ${(rate(grouped, 64) / rate(alone, 64)).toFixed(2)} (to reach: 3)`,
  );
  console.log(
    `  64 connections, grouped / from memory:       ${(rate(grouped, 64) / rate(memory, 64)).toFixed(2)} (to reach: 0.4)`,
  );
  console.log(`  64 connections, grouped / copy:              ${(rate(grouped, 64) / copied).toFixed(2)}`);
  console.log(
    `  1 connection, latency / (from memory + insert): ${(median(grouped, 1) / (median(memory, 1) + median(inserts, 1))).toFixed(2)} (at most 1.3)`,
  );
} finally {
  await client.stop();
  await tokens.close();
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
