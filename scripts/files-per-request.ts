/**
 * Counts our files and functions that run for one request of each kind, using V8's coverage of a running demo: `node
 * scripts/files-per-request.ts [--files]`. Only code that runs in each of several identical requests counts, to exclude
 * timers.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDemoClient, type DemoFile, processingHeaders, readDemoFile } from '../src/demo/demo-client.ts';
import { signMessage } from '../src/demo/signed-message.ts';
import { readEvents } from '../src/demo/tour/tour-feed.ts';
import { isRecord } from '../src/lib/json/json-value.ts';

const ROOT = join(import.meta.dirname, '..');
const MAIN = join(ROOT, 'src/main.ts');
const REPETITIONS = 8;
/**
 * Run in the same process but are not the service: the demo and its certificate authority, which answers about
 * revocation.
 */
const OTHER_SERVICES = ['src/demo/', 'src/lib/authority/'] as const;
const START_DEADLINE_MS = 120_000;
const isListing = process.argv.includes('--files');

/** Executed functions: `src/plugins/contract.ts functionName@offset`. */
type Ran = ReadonlySet<string>;

interface Measured {
  readonly name: string;
  readonly run: () => Promise<void>;
}

const ending = new AbortController();
const home = await mkdtemp(join(tmpdir(), 'koppelvlak-files-'));
const environment = {
  ...process.env,
  KOPPELVLAK_HOME: home,
  PORT: '0',
  MANAGEMENT_PORT: '0',
  // The core alone: nothing else follows the feed, and only the feed is sealed.
  RAADSFEED_PAGES: 'false',
  RAADSFEED_DIWOO: 'false',
  PROOF_LOGS: 'raadsfeed',
};
/** Loaded into the demo: answers each message with the functions that were called since the one before. */
const PROFILER = `
  import { Session } from 'node:inspector/promises';
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('message', async () => process.send(await session.post('Profiler.takePreciseCoverage')));
  process.channel.unref();`;
const demo = fork(MAIN, ['demo', '--empty'], {
  env: environment,
  execArgv: ['--import', `data:text/javascript,${encodeURIComponent(PROFILER)}`],
  stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
});
try {
  const file = await demoFile();
  for (const measured of await requests(file)) {
    const ran = await measure(measured);
    const files = new Set([...ran].map((entry) => entry.split(' ', 1)[0] ?? ''));
    process.stdout.write(
      `${measured.name.padEnd(32)}${String(files.size).padStart(4)} files ${String(ran.size).padStart(5)} functions\n`,
    );
    if (isListing) for (const path of [...files].toSorted()) process.stdout.write(`    ${path}\n`);
  }
  ending.abort();
} finally {
  demo.kill('SIGTERM');
  if (demo.exitCode === null) await once(demo, 'exit');
  await rm(home, { recursive: true, force: true });
}

/** The four kinds of request in `docs/architecture.md`, each against a demo without data. */
async function requests(file: DemoFile): Promise<Measured[]> {
  const client = createDemoClient(file);
  const { requester, mounts } = file;
  const identity = { key: await readFile(requester.key, 'utf8'), chain: await readFile(requester.chain, 'utf8') };
  const expect = (status: number, wanted: number): void => {
    if (status !== wanted) throw new Error(`answered ${status}, not ${wanted}`);
  };
  const signed = async (): Promise<void> => {
    const body = Buffer.from('{}');
    const headers = {
      'content-type': 'application/json',
      ...processingHeaders(requester.oin),
      ...(await signMessage(body, identity, 'body')),
    };
    expect((await client.call('POST', `${mounts.shv}/gegevens`, { as: 'statistiek', headers, body })).status, 200);
  };
  const append = async (): Promise<void> => {
    const body = {
      vertrouwelijkheid: 'normaal',
      tijdstip: new Date().toISOString(),
      verwerkteObjecten: [{ objecttype: 'persoon', soortObjectId: 'BSN', objectId: '999990019' }],
    };
    expect(
      (await client.call('POST', `${mounts.verwerkingenlog}/verwerkingsacties`, { as: 'applicatie', body })).status,
      201,
    );
  };
  let published = 0;
  const publish = async (): Promise<void> => {
    published += 1;
    await publishOne(`vergadering-${published}`);
  };
  const page = async (limit: number): Promise<void> => {
    expect((await client.call('GET', `${mounts.raadsfeed}/feed?limit=${limit}`)).status, 200);
  };
  await publish();
  let limit = 10;
  const events = readEvents(`${mounts.raadsfeed}/feed/stream`, '0', ending.signal);
  await events.next();
  return [
    { name: 'signed POST /gegevens', run: signed },
    { name: 'POST /verwerkingsacties', run: append },
    {
      name: 'GET /feed, first',
      run: () => {
        limit += 1;
        return page(limit);
      },
    },
    { name: 'GET /feed, repeated', run: () => page(10) },
    {
      name: 'an event of the stream',
      run: async () => {
        await publish();
        await events.next();
      },
    },
  ];
}

/** Publishes a meeting from another process, so that publishing is not counted. */
async function publishOne(bronidentificatie: string): Promise<void> {
  const data = {
    bronidentificatie,
    dossiertype: 'vergadering',
    organisatie: { gemeente: 'gm9901', naam: 'Gemeente Voorbeeld' },
    naam: bronidentificatie,
  };
  const lines = join(home, `${bronidentificatie}.ndjson`);
  await writeFile(lines, `${JSON.stringify({ op: 'upsert', resourceType: 'Vergadering', data })}\n`);
  const { databaseUrl, environment: ofDemo } = await readDemoFile(home);
  const child = spawn(process.execPath, [MAIN, 'feed', 'publish', lines], {
    env: { ...environment, ...ofDemo, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`feed publish ended with ${code}`);
}

async function measure({ run }: Measured): Promise<Ran> {
  await run();
  let common: Ran | undefined;
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    await takeCoverage();
    await run();
    // Work after the answer (metrics, log lines, caches) belongs to the request too.
    await delay(50);
    const ran = await takeCoverage();
    common = common === undefined ? ran : new Set([...common].filter((entry) => ran.has(entry)));
  }
  return common ?? new Set();
}

async function takeCoverage(): Promise<Ran> {
  demo.send('take');
  const [coverage] = await once(demo, 'message');
  return functionsIn(coverage);
}

/** The functions of `src` that were called at least once, excluding other services; loading a module is not a call. */
function functionsIn(coverage: unknown): Ran {
  const ran = new Set<string>();
  const scripts = isRecord(coverage) && Array.isArray(coverage.result) ? coverage.result : [];
  for (const { url, functions } of scripts) {
    if (typeof url !== 'string' || !url.startsWith('file:')) continue;
    const path = relative(ROOT, new URL(url).pathname);
    if (!path.startsWith('src/') || OTHER_SERVICES.some((other) => path.startsWith(other))) continue;
    for (const { functionName, ranges } of functions) {
      const [{ startOffset, count }] = ranges;
      if (count > 0 && startOffset > 0) ran.add(`${path} ${functionName}@${startOffset}`);
    }
  }
  return ran;
}

async function demoFile(): Promise<DemoFile> {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    try {
      return await readDemoFile(home);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(200);
    }
  }
}
