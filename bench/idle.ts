/**
 * What a process that nobody calls takes: memory and connections, by areas; then as many beside each other as a centre has organisations,
 * each on a database of its own. Each but the first is started as deploy/organisations says. `npm run bench -- idle [processes] [seconds of quiet]`.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import pg from 'pg';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { freePort } from '../test/support/free-port.ts';
import { startTokens } from '../test/support/tokens.ts';
import { withDatabase } from '../test/support/with-database.ts';
import { type Instance, startInstance } from './support/proxied-pair.ts';

const [processes = 30, quietSeconds = 30] = process.argv.slice(2).map(Number);
/** As Prometheus and a balancer ask. */
const PROBE_MS = 10_000;
const SAMPLE_MS = 100;
const MEGABYTE = 1024 ** 2;
const DEPLOY = join(import.meta.dirname, '../deploy/organisations');

/** How deploy/organisations starts a process. */
const unit = await readFile(join(DEPLOY, 'koppelvlak@.service'), 'utf8');
const small = {
  flags: /^ExecStart=\S+ (.*) \S+ serve$/m.exec(unit)?.[1]?.split(' ') ?? [],
  env: {
    ...Object.fromEntries(
      [...unit.matchAll(/\b(MALLOC_ARENA_MAX|UV_THREADPOOL_SIZE)=(\d+)/g)].map(([, name, n]) => [name, n]),
    ),
    ...Object.fromEntries(
      Object.entries(parseEnv(await readFile(join(DEPLOY, 'gm0001.env'), 'utf8'))).filter(([name]) =>
        name.startsWith('DATABASE_'),
      ),
    ),
  },
};
if (small.flags.length === 0) throw new Error('the unit of deploy/organisations has no options of Node');
const plain: typeof small = { flags: [], env: {} };

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
  // Fills Node's cache of compiled sources, which goes by the options of Node too; a process writes it when it ends.
  for (const how of [plain, small]) await (await startOn('organisatie', 'verwerkingenlog,raadsfeed', how)).stop();
  for (const [title, areas, how] of [
    ['by itself', 'verwerkingenlog', plain],
    ['as deploy/organisations', 'verwerkingenlog', small],
    ['as deploy/organisations', 'raadsfeed', small],
    ['as deploy/organisations', 'verwerkingenlog,raadsfeed', small],
  ] as const) {
    running.push(await startOn('organisatie', areas, how));
    await report(`one process, ${areas}, ${title}`);
    await stopAll();
  }
  if (processes > 1) {
    for (let n = 1; n <= processes; n += 1) {
      await admin.query(`create database organisatie_${n} template organisatie strategy file_copy`);
    }
    for (let n = 1; n <= processes; n += 1) running.push(await startOn(`organisatie_${n}`, 'verwerkingenlog', small));
    await report(`${processes} processes, verwerkingenlog, as deploy/organisations`);
  }
} finally {
  await stopAll();
  await admin.end();
  await postgres.stop();
  await tokens.close();
  await rm(dir, { recursive: true, force: true });
}

async function startOn(database: string, areas: string, how: typeof small): Promise<Instance> {
  const env = {
    ...tokens.env,
    ...how.env,
    NODE_COMPILE_CACHE: join(dir, 'compiled'),
    AREAS: areas,
    DATABASE_URL: withDatabase(postgres.url, database),
    DATABASE_MIGRATE: 'false',
    VERWERKINGENLOG_KEY: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
  };
  return startInstance(await freePort(), env, how.flags);
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((instance) => instance.kill()));
}

/** Waits until what starting took has been given back, then prints what is left, while readiness is asked for as in life. */
async function report(title: string): Promise<void> {
  const quietUntil = Date.now() + quietSeconds * 1000;
  const counts: number[] = [];
  for (let probeAt = Date.now(); Date.now() < quietUntil; await sleep(SAMPLE_MS)) {
    if (Date.now() >= probeAt) {
      // Not all in the same moment.
      const after = PROBE_MS / Math.max(1, running.length);
      for (const [i, { managementUrl }] of running.entries()) void sleep(i * after).then(() => probe(managementUrl));
      probeAt += PROBE_MS;
    }
    if (quietUntil - Date.now() < PROBE_MS) counts.push(await connections());
  }
  const memory = await Promise.all(running.map(({ pid }) => memoryOf(pid)));
  const together = memory.reduce((sum, { proportional }) => sum + proportional, 0);
  const largest = Math.max(...memory.map(({ resident }) => resident));
  counts.sort((a, b) => a - b);
  console.log(
    `${title.padEnd(60)} ${(largest / MEGABYTE).toFixed(0)} MB resident (the largest), ${(together / MEGABYTE).toFixed(0)} MB together; ` +
      `connections: ${counts[counts.length >> 1]} at most times, ${counts.at(-1)} at once`,
  );
}

async function connections(): Promise<number> {
  const { rows } = await admin.query<{ connections: number }>(
    `select count(*)::int as connections from pg_stat_activity where application_name like 'koppelvlak %'`,
  );
  return rows[0]?.connections ?? 0;
}

/** A process that is stopped meanwhile does not answer. */
async function probe(managementUrl: string): Promise<void> {
  const answer = await fetch(`${managementUrl}/health/ready`).catch(() => undefined);
  if (answer?.ok === false) console.log(`not ready: ${await answer.text()}`);
  else await answer?.arrayBuffer();
}

interface Memory {
  readonly resident: number;
  /** What processes share is divided among them (proportional set size). */
  readonly proportional: number;
}

/** In bytes. @see proc_pid_smaps(5) */
async function memoryOf(pid: number): Promise<Memory> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1');
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
  return { resident: bytes('Rss'), proportional: bytes('Pss') };
}
