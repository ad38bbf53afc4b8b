/**
 * How fast a delivery file is imported and how much memory that takes, beside a program that does only the unavoidable part, both in
 * processes of their own; what its check takes beside that; and what becomes of a file that is broken in its last record.
 *
 * Usage: node bench/import.ts [megabytes, default 200]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { writeSample } from './support/sample-delivery.ts';

const RECORD_BYTES = 1450;
const megabytes = Number(process.argv[2] ?? 200);
const records = Math.ceil((megabytes * 1024 * 1024) / RECORD_BYTES);
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const FLOOR = fileURLToPath(new URL('floors/import.ts', import.meta.url));

const log = createLogger('error');
const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({ dir, log });
await migrate({ url: postgres.url, dir: MIGRATIONS, log });
const client = new pg.Client(postgres.url);
await client.connect();

interface Ran {
  readonly seconds: number;
  readonly peakMb: number;
  readonly status: number | null;
}

/** Runs a program and keeps an eye on the memory that it has resident. */
async function run(words: readonly string[]): Promise<Ran> {
  const started = performance.now();
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, DATABASE_URL: postgres.url, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.resume();
  let peakMb = 0;
  const poll = setInterval(() => {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readStatus(child.pid))?.[1];
    peakMb = Math.max(peakMb, Number(kilobytes ?? 0) / 1024);
  }, 50);
  const [status] = await once(child, 'exit');
  clearInterval(poll);
  return { seconds: (performance.now() - started) / 1000, peakMb, status };
}

function readStatus(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

async function stored(): Promise<number> {
  const { rows } = await client.query<{ count: number }>('select count(*)::int as count from gegevens.records');
  return rows[0]?.count ?? 0;
}

try {
  const file = join(dir, 'delivery.json');
  const lines = join(dir, 'records.ndjson');
  await writeSample(file, { variant: 'shv', records }, lines);
  const size = (await stat(file)).size / 1024 / 1024;
  const shown = (name: string, { seconds, peakMb }: Ran): void =>
    console.log(
      `${name.padEnd(34)}${seconds.toFixed(1).padStart(7)} s${(size / seconds).toFixed(1).padStart(8)} MB/s${peakMb.toFixed(0).padStart(6)} MB resident`,
    );
  console.log(`${records} records, ${size.toFixed(0)} MB`);
  const floor = await run([FLOOR, postgres.url, lines]);
  shown('floor: parse, schema, copy', floor);
  await client.query('truncate gegevens.records');
  const ours = await run([MAIN, 'gegevens', 'import', '--variant', 'shv', file]);
  shown('koppelvlak gegevens import', ours);
  if (ours.status !== 0 || (await stored()) !== records) throw new Error('the import did not store every record');
  console.log(`throughput of the floor reached: ${((floor.seconds / ours.seconds) * 100).toFixed(0)} %`);
  const checked = await run([MAIN, 'gegevens', 'check', '--variant', 'shv', '--json', file]);
  shown('koppelvlak gegevens check', checked);
  console.log(`time of the import that a check takes: ${((checked.seconds / ours.seconds) * 100).toFixed(0)} %`);
  await writeSample(file, { variant: 'shv', records, broken: true });
  const broken = await run([MAIN, 'gegevens', 'import', '--variant', 'shv', file]);
  shown('the same, last record broken', broken);
  console.log(`exit status ${broken.status}, stored of it: ${(await stored()) - records} records`);
} finally {
  await client.end();
  await postgres.stop();
  await rm(dir, { recursive: true });
}
