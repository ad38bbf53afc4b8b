/**
 * Simulates the whole country: imports a list of 330 sources in one command and reads a year of each with two
 * instances. Prints calls, time, memory and the distribution of sources; exits with 1 when a limit is exceeded.
 *
 *   node bench/drill-suppliers.ts [iBabs calls per minute] [meetings of each] [milliseconds per answer]
 */
import { writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../src/database/pool.ts';
import { RID } from '../test/raadsfeed/aggregator/parlaeus/server.ts';
import { judgeRecords } from '../test/raadsfeed/aggregator/supplier-kill-drill.ts';
import { startProgram } from '../test/support/program.ts';
import { startChild } from './support/children.ts';
import { countCaughtUp, openPool, temporaryPostgres } from './support/databases.ts';

const perMinute = Number(process.argv[2] ?? 150);
const meetings = Number(process.argv[3] ?? 40);
const delayMs = Number(process.argv[4] ?? 100);
const MAX_MB = 400;
/** Reading may take this many times what the suppliers' rate limits require. */
const SPARE = 1.2;

interface Suppliers {
  readonly list: readonly Readonly<Record<string, string>>[];
  readonly resources: number;
  readonly env: Readonly<Record<string, string>>;
  readonly hosts: readonly { readonly scheme: string; readonly calls: number; readonly mostAtOnce: number }[];
  readonly ibabsInMinute: number;
}

await using postgres = await temporaryPostgres();
const { dir } = postgres;
const ridFile = join(dir, 'rid');
await writeFile(ridFile, RID);
const given = { MEETINGS: `${meetings}`, DELAY_MS: `${delayMs}`, RID_FILE: ridFile };
await using suppliers = await startChild(new URL('support/many-suppliers.ts', import.meta.url), given);
const { list, resources, env: addresses } = await look();
const env = {
  NODE_ENV: 'test',
  RAADSFEED_ROL: 'aggregator',
  AGGREGATOR_ALLOW_PRIVATE: 'true',
  DATABASE_URL: postgres.url,
  IBABS_CALLS_PER_MINUTE: `${perMinute}`,
  ...addresses,
};
const faults: string[] = [];
await using pool = openPool(postgres.url);
await importList(pool);
await readYear(pool);
for (const fault of faults) console.log(`FAULT ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function look(): Promise<Suppliers> {
  return Object(await suppliers.ask({}));
}

async function importList(db: Pool): Promise<void> {
  const file = join(dir, 'bronnen.jsonl');
  const lines = list.map((line) => JSON.stringify(line));
  await writeFile(file, lines.with(100, '{"bron":"ibabs:x","organisatie":"gm1","naam":"X"}').with(200, '{').join('\n'));
  const faulty = await startProgram(['bron', 'import', file, '--yes'], env).ended;
  console.log(
    `a list with two errors: status ${faulty.status}, ${await countSources(db)} sources\n${faulty.stderr.trim()}`,
  );
  if (faulty.status === 0 || (await countSources(db)) > 0) faults.push('a list with errors was imported');
  await writeFile(file, lines.join('\n'));
  const startedAt = performance.now();
  const imported = await startProgram(['bron', 'import', file, '--yes'], env).ended;
  const { hosts } = await look();
  console.log(
    `imported: status ${imported.status}, ${await countSources(db)} sources in ${seconds(startedAt)} s, ` +
      `${imported.stderr.split('\n').length} lines of preview, ${callsOf(hosts)}`,
  );
  if (imported.status !== 0 || (await countSources(db)) !== list.length) {
    faults.push(`the list was not imported: ${imported.stderr.slice(-500)}`);
  }
}

async function countSources(db: Pool): Promise<number> {
  return (await db.query<{ count: number }>('select count(*) as count from aggregator.sources')).rows[0]?.count ?? 0;
}

async function readYear(db: Pool): Promise<void> {
  const before = await look();
  const startedAt = performance.now();
  const server = new URL('support/aggregator-server.ts', import.meta.url);
  await using first = await startChild(server, env);
  await using second = await startChild(server, env);
  const leases = new Map<string, Set<string>>();
  let mostAtOnce = 0;
  for (let shown = startedAt; (await countCaughtUp(db)) < list.length; ) {
    const { rows } = await db.query<{ lease: string; pid: string }>(
      `select id || '/' || lease_number as lease, split_part(lease_holder, ' ', 2) as pid
         from aggregator.sources where lease_holder is not null`,
    );
    mostAtOnce = Math.max(mostAtOnce, rows.length);
    for (const { lease, pid } of rows) leases.set(pid, (leases.get(pid) ?? new Set()).add(lease));
    if (performance.now() - shown > 30_000) {
      shown = performance.now();
      console.log(
        `  ${seconds(startedAt)} s: ${await countCaughtUp(db)} sources, ${callsOf((await look()).hosts, before)}`,
      );
    }
    await sleep(100);
  }
  const took = (performance.now() - startedAt) / 1000;
  const after = await look();
  const { gap, twice } = await judgeRecords(db);
  const { rows } = await db.query<{ resources: number; coverage: number }>(
    `select (select count(*) from raadsfeed.current_records) as resources,
            (select 100.0 * sum(held) / sum(shown) from aggregator.coverage)::double precision as coverage`,
  );
  const [row = { resources: 0, coverage: 0 }] = rows;
  const own = ownTime(before, after);
  const used = await Promise.all([first, second].map(async (one) => Object(await one.ask({}))));
  const memory = used.map(({ peakMb }) => Number(peakMb));
  const processor = used.reduce((sum, { cpuMs }) => sum + Number(cpuMs) / 1000, 0);
  const shares = [...leases.values()].map(({ size }) => size);
  console.log(
    `read: ${row.resources} of ${resources} resources, ${twice} twice, ${row.coverage} % covered in ${took.toFixed(0)} s; ` +
      `the suppliers' limits require ${own.toFixed(0)} s (target: ${SPARE} times that)\n` +
      `calls: ${callsOf(after.hosts, before)}; iBabs at most ${after.ibabsInMinute} in a minute (limit ${perMinute}); ` +
      `at most at once ${mostOf(after.hosts)}\n` +
      `memory: ${memory.map((mb) => mb.toFixed(0)).join(' and ')} MB at most (target: ${MAX_MB} MB); ${processor.toFixed(0)} s of CPU, load ${loadavg()[0]?.toFixed(0)} on ${availableParallelism()}\n` +
      `leases: ${shares.join(' and ')} held by the instances, at most ${mostAtOnce} at once`,
  );
  if (row.resources !== resources || gap || twice > 0 || row.coverage !== 100)
    faults.push('the feed differs from what the suppliers show');
  if (took > own * SPARE) faults.push("reading took longer than the suppliers' limits require");
  if (after.ibabsInMinute > perMinute + 2) faults.push('iBabs was called more often than its limit allows');
  if (after.hosts.some((host) => host.mostAtOnce > (host.scheme === 'ibabs' ? 2 : 4)))
    faults.push('too many concurrent calls');
  if (Math.max(...memory) > MAX_MB) faults.push('too much memory');
  if (shares.length < 2 || Math.min(...shares) < Math.max(...shares) / 2)
    faults.push('one instance has nearly all leases');
}

/** Seconds that each host's rate limit requires for these calls; the largest counts. */
function ownTime(before: Suppliers, after: Suppliers): number {
  const times = after.hosts.map(({ scheme, calls }, i) => {
    const made = calls - (before.hosts[i]?.calls ?? 0);
    return scheme === 'ibabs' ? (made * 60) / perMinute : (made * delayMs) / 4000;
  });
  return Math.max(...times);
}

function callsOf(hosts: Suppliers['hosts'], before?: Suppliers): string {
  const sums = new Map<string, number>();
  for (const [i, { scheme, calls }] of hosts.entries()) {
    sums.set(scheme, (sums.get(scheme) ?? 0) + calls - (before?.hosts[i]?.calls ?? 0));
  }
  return [...sums].map(([scheme, calls]) => `${scheme} ${calls}`).join(', ');
}

function mostOf(hosts: Suppliers['hosts']): string {
  const most = new Map<string, number>();
  for (const { scheme, mostAtOnce } of hosts) most.set(scheme, Math.max(most.get(scheme) ?? 0, mostAtOnce));
  return [...most].map(([scheme, count]) => `${scheme} ${count}`).join(', ');
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
