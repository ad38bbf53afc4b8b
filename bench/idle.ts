/**
 * What a process that nobody calls takes: memory, processor and connections, for each choice of areas; then as many beside each other as
 * a centre has organisations, each on a database of its own. `npm run bench -- idle [processes] [seconds of quiet]`.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withDatabase } from '../src/embedded-postgres/data-directory.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { MIGRATIONS, migrate } from '../src/kernel/database/migrate.ts';
import { createLogger } from '../src/kernel/log.ts';
import { freePort } from '../test/support/free-port.ts';
import { startTokens } from '../test/support/tokens.ts';
import { type Instance, startInstance } from './support/proxied-pair.ts';

const [processes = 30, quietSeconds = 45] = process.argv.slice(2).map(Number);
/** As Prometheus and a balancer ask. */
const PROBE_MS = 10_000;
const KEY = `bench:${Buffer.alloc(32, 1).toString('base64')}`;
const CHOICES = ['verwerkingenlog', 'raadsfeed', 'verwerkingenlog,raadsfeed'];

const dir = await mkdtemp(join(tmpdir(), 'kv-idle-'));
const log = createLogger('error');
const tokens = await startTokens();
const postgres = await startEmbedded({ dir, log, settings: { fsync: 'off', max_connections: '500' } });
const admin = new pg.Client({ connectionString: withDatabase(postgres.url, 'postgres') });
await admin.connect();
const running: Instance[] = [];
try {
  await admin.query('create database organisatie');
  await migrate({ url: withDatabase(postgres.url, 'organisatie'), dir: MIGRATIONS, log });
  for (const areas of CHOICES) {
    running.push(await startOn('organisatie', areas));
    await report(`one process, ${areas}`);
    await stopAll();
  }
  if (processes > 1) {
    for (let n = 1; n <= processes; n += 1) {
      await admin.query(`create database organisatie_${n} template organisatie strategy file_copy`);
    }
    for (let n = 1; n <= processes; n += 1) running.push(await startOn(`organisatie_${n}`, 'verwerkingenlog'));
    await report(`${processes} processes, verwerkingenlog`);
  }
} finally {
  await stopAll();
  await admin.end();
  await postgres.stop();
  await tokens.close();
  await rm(dir, { recursive: true, force: true });
}

async function startOn(database: string, areas: string): Promise<Instance> {
  return startInstance(await freePort(), {
    ...tokens.env,
    AREAS: areas,
    DATABASE_URL: withDatabase(postgres.url, database),
    DATABASE_MIGRATE: 'false',
    VERWERKINGENLOG_KEY: KEY,
    LOG_LEVEL: 'info',
  });
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((instance) => instance.kill()));
}

/** Waits until what starting took has been given back, and prints what is left. */
async function report(title: string): Promise<void> {
  const quietUntil = Date.now() + quietSeconds * 1000;
  while (Date.now() < quietUntil) {
    await Promise.all(running.map(({ managementUrl }) => probe(managementUrl)));
    await sleep(Math.min(PROBE_MS, Math.max(0, quietUntil - Date.now())));
  }
  const memory = await Promise.all(running.map(({ pid }) => memoryOf(pid)));
  const sum = (of: (one: Memory) => number): number => memory.reduce((total, one) => total + of(one), 0);
  const largest = Math.max(...memory.map(({ resident }) => resident));
  const { rows } = await admin.query<{ connections: number }>(
    `select count(*)::int as connections from pg_stat_activity where application_name like 'koppelvlak %'`,
  );
  const connections = rows[0]?.connections ?? 0;
  console.log(
    `${title.padEnd(44)} ${megabytes(largest)} MB resident (the largest), ${megabytes(sum(({ proportional }) => proportional))} MB together, ${connections} connections`,
  );
}

async function probe(managementUrl: string): Promise<void> {
  const answer = await fetch(`${managementUrl}/health/ready`);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`a process is not ready: ${answer.status}`);
}

interface Memory {
  readonly resident: number;
  /** Its share of what processes have in common counted once (proportional set size). */
  readonly proportional: number;
}

/** In bytes. @see proc_pid_smaps(5) */
async function memoryOf(pid: number): Promise<Memory> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1');
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
  return { resident: kilobytes('Rss'), proportional: kilobytes('Pss') };
}

function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}
