/**
 * Runs a mixed load on all areas; memory, open files and connections must not grow: `node bench/drill-soak.ts [minutes]
 * [milliseconds between a client's requests]`.
 */
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFeedPublisher } from '../src/client/raadsfeed.ts';
import { createLogger } from '../src/lib/log.ts';
import { freePort } from '../test/support/free-port.ts';
import { startMixedLoad } from './support/mixed-load.ts';
import { startInstance } from './support/proxied-pair.ts';
import { sampleLine } from './support/sample-records.ts';
import { query } from './support/standby.ts';
import { openSupplierDatabase } from './support/supplier-database.ts';
import { middle } from './support/turns.ts';

const [minutes = 30, pauseMs = 10] = process.argv.slice(2).map(Number);
const CLIENTS = 8;
/** The warm-up, in which caches fill and the compiler optimises, is not judged. */
const WARM_UP = 0.3;
const SAMPLES = 60;
/** Growth between the second and the third part of the judged time that still counts as flat. */
const LIMITS = { memoryMb: 48, memoryRatio: 0.15, files: 12, connections: 8 } as const;

interface Sample {
  readonly memoryMb: number;
  readonly files: number;
  readonly connections: number;
}

await using closing = new AsyncDisposableStack();
const { path: dir } = closing.use(await mkdtempDisposable(join(tmpdir(), 'kv-soak-')));
process.exitCode = (await drill()) ? 0 : 1;

async function drill(): Promise<boolean> {
  const supplier = await openSupplierDatabase(dir);
  closing.defer(supplier.close);
  const port = await freePort();
  const instance = await startInstance(port, { ...supplier.env, SHUTDOWN_DRAIN_MS: '0' });
  closing.defer(async () => void (await instance.stop()));
  const load = startMixedLoad({ port, asks: supplier.asks, clients: CLIENTS, pauseMs });
  const stop = new AbortController();
  const publishing = publish(supplier.databaseUrl, stop.signal);
  const streaming = openStreams(`http://127.0.0.1:${port}/ori/v1/feed/stream`, stop.signal);
  const samples: Sample[] = [];
  const stepMs = (minutes * 60_000) / SAMPLES;
  for (let n = 1; n <= SAMPLES; n += 1) {
    await sleep(stepMs);
    samples.push(await take(instance.pid, supplier.databaseUrl));
    if (n % 6 === 0)
      console.log(
        `${((n * stepMs) / 60_000).toFixed(1)} min: ${describe(samples.at(-1))}, ${load.answered()} answered`,
      );
  }
  stop.abort();
  await Promise.all([load.stop(), streaming]);
  const published = await publishing;
  const faults = [...load.failures.slice(0, 20), ...judge(samples)];
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(
    `${minutes} min: ${load.answered()} answered, ${load.failures.length} failed, ${published} published; ${faults.length === 0 ? 'flat' : 'not flat'}`,
  );
  return faults.length === 0;
}

async function publish(databaseUrl: string, signal: AbortSignal): Promise<number> {
  const publisher = createFeedPublisher({ databaseUrl, log: createLogger('error') });
  let n = 0;
  while (!signal.aborted) {
    // Republishes the same documents, so that the feed's current state keeps its size.
    await publisher.publish([JSON.parse(sampleLine(n % 200, n))]);
    n += 1;
    await sleep(100);
  }
  await publisher.close();
  return n;
}

/** Keeps opening a stream, reading it for a second and leaving it: its resources must be released. */
async function openStreams(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const controller = new AbortController();
    const response = await fetch(url, { signal: controller.signal });
    const reading = response.text().catch(() => '');
    await sleep(1000);
    controller.abort();
    await reading;
  }
}

async function take(pid: number, databaseUrl: string): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [row] = await query(
    databaseUrl,
    `select count(*)::int as n from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return {
    memoryMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
    files: (await readdir(`/proc/${pid}/fd`)).length,
    connections: Number(row?.n),
  };
}

function describe(sample: Sample | undefined): string {
  return sample === undefined
    ? ''
    : `${sample.memoryMb.toFixed(0)} MB, ${sample.files} open files, ${sample.connections} connections`;
}

/** Compares medians of two halves after the warm-up, because a single garbage collection proves nothing. */
function judge(samples: readonly Sample[]): string[] {
  const judged = samples.slice(Math.ceil(samples.length * WARM_UP));
  const half = Math.floor(judged.length / 2);
  const growth = (of: (sample: Sample) => number): { from: number; by: number } => {
    const [from, to] = [middle(judged.slice(0, half).map(of)), middle(judged.slice(half).map(of))];
    return { from, by: to - from };
  };
  const memory = growth(({ memoryMb }) => memoryMb);
  const files = growth((sample) => sample.files);
  const connections = growth((sample) => sample.connections);
  console.log(
    `second half compared with first: memory ${memory.by.toFixed(0)} MB of ${memory.from.toFixed(0)}, files ${files.by}, connections ${connections.by}`,
  );
  const faults: string[] = [];
  if (memory.by > Math.max(LIMITS.memoryMb, memory.from * LIMITS.memoryRatio))
    faults.push(`memory grew by ${memory.by.toFixed(0)} MB`);
  if (files.by > LIMITS.files) faults.push(`open files grew by ${files.by}`);
  if (connections.by > LIMITS.connections) faults.push(`connections grew by ${connections.by}`);
  return faults;
}
