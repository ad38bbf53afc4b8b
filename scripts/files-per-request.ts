/**
 * Counts our files and functions that run for one request of each kind, using V8's coverage of a running demo: `node
 * scripts/files-per-request.ts [--files]`. Only code that runs in each of several identical requests counts, to exclude
 * timers.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDemoClient, demoFilePath, processingHeaders, readDemoFile } from '../src/demo/demo-client.ts';
import { signMessage } from '../src/demo/signed-message.ts';
import { readEvents } from '../src/demo/tour/tour-feed.ts';
import { isRecord } from '../src/lib/json/json-value.ts';

const ROOT = join(import.meta.dirname, '..');
const MAIN = join(ROOT, 'src/main.ts');
const REPETITIONS = 8;
/** Not the service: the demo and its certificate authority, which answers about revocation, run in its process too. */
const OTHER_SERVICES = ['src/demo/', 'src/lib/authority/'] as const;
const START_DEADLINE_MS = 120_000;

/** Loaded into the demo: answers each message with the functions that were called since the one before. */
const PROFILER = `
  import { Session } from 'node:inspector/promises';
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('message', async () => process.send(await session.post('Profiler.takePreciseCoverage')));
  process.channel.unref();`;

const home = await mkdtemp(join(tmpdir(), 'koppelvlak-files-'));
const demo = fork(MAIN, ['demo', '--empty'], {
  env: {
    ...process.env,
    KOPPELVLAK_HOME: home,
    PORT: '0',
    MANAGEMENT_PORT: '0',
    // The core alone: nothing else follows the feed, and only the feed is sealed.
    RAADSFEED_PAGES: 'false',
    RAADSFEED_DIWOO: 'false',
    PROOF_LOGS: 'raadsfeed',
  },
  execArgv: ['--import', `data:text/javascript,${encodeURIComponent(PROFILER)}`],
  stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
});
const ending = new AbortController();
try {
  const deadline = AbortSignal.timeout(START_DEADLINE_MS);
  while (!existsSync(demoFilePath(home))) await delay(200, undefined, { signal: deadline });
  for (const [name, request] of Object.entries(await createRequests())) {
    const ran = await measure(request);
    const files = new Set([...ran].map((entry) => entry.split(' ', 1)[0] ?? ''));
    console.log(`${name.padEnd(32)}${String(files.size).padStart(4)} files ${String(ran.size).padStart(5)} functions`);
    if (process.argv.includes('--files')) for (const path of [...files].toSorted()) console.log(`    ${path}`);
  }
} finally {
  ending.abort();
  demo.kill('SIGTERM');
  if (demo.exitCode === null) await once(demo, 'exit');
  await rm(home, { recursive: true, force: true });
}

/** The kinds of request in `docs/architecture.md`, by name, each against a demo without data. */
async function createRequests(): Promise<Record<string, () => Promise<unknown>>> {
  const file = await readDemoFile(home);
  const { requester, mounts } = file;
  const client = createDemoClient(file);
  const identity = { key: await readFile(requester.key, 'utf8'), chain: await readFile(requester.chain, 'utf8') };
  const call = async (expected: number, ...request: Parameters<typeof client.call>): Promise<void> => {
    const { status } = await client.call(...request);
    if (status !== expected) throw new Error(`answered ${status}, not ${expected}`);
  };
  const readPage = (limit: number) => call(200, 'GET', `${mounts.raadsfeed}/feed?limit=${limit}`);
  let published = 0;
  /** As another application does. */
  const publishMeeting = (): void => {
    published += 1;
    const meeting = { bronidentificatie: `vergadering-${published}`, dossiertype: 'vergadering', naam: 'Vergadering' };
    const data = { ...meeting, organisatie: { gemeente: 'gm9901', naam: 'Gemeente Voorbeeld' } };
    execFileSync(process.execPath, [MAIN, 'feed', 'publish'], {
      input: JSON.stringify({ op: 'upsert', resourceType: 'Vergadering', data }),
      env: { ...process.env, ...file.environment, DATABASE_URL: file.databaseUrl },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  };
  publishMeeting();
  const events = readEvents(`${mounts.raadsfeed}/feed/stream`, '0', ending.signal);
  await events.next();
  let limit = 10;
  return {
    'signed POST /gegevens': async () => {
      const body = Buffer.from('{}');
      const headers = { ...processingHeaders(requester.oin), ...(await signMessage(body, identity, 'body')) };
      await call(200, 'POST', `${mounts.shv}/gegevens`, { as: 'statistiek', headers, body });
    },
    'POST /verwerkingsacties': async () => {
      const verwerkteObjecten = [{ objecttype: 'persoon', soortObjectId: 'BSN', objectId: '999990019' }];
      const body = { vertrouwelijkheid: 'normaal', tijdstip: new Date().toISOString(), verwerkteObjecten };
      await call(201, 'POST', `${mounts.verwerkingenlog}/verwerkingsacties`, { as: 'applicatie', body });
    },
    'GET /feed, first': async () => {
      limit += 1;
      await readPage(limit);
    },
    'GET /feed, repeated': () => readPage(10),
    'an event of the stream': async () => {
      publishMeeting();
      await events.next();
    },
  };
}

/** The functions that ran each time. */
async function measure(request: () => Promise<unknown>): Promise<Set<string>> {
  await request();
  let common: Set<string> | undefined;
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    await takeCoverage();
    await request();
    // Work after the answer (metrics, log lines, caches) belongs to the request too.
    await delay(50);
    const ran = await takeCoverage();
    common = common === undefined ? ran : new Set([...common].filter((entry) => ran.has(entry)));
  }
  return common ?? new Set();
}

/**
 * The functions of `src` that were called since the last time, as `src/plugins/contract.ts functionName@offset`; loading
 * a module is not a call.
 */
async function takeCoverage(): Promise<Set<string>> {
  demo.send('take');
  const [coverage] = await once(demo, 'message');
  const ran = new Set<string>();
  for (const { url, functions } of isRecord(coverage) && Array.isArray(coverage.result) ? coverage.result : []) {
    const path = relative(ROOT, String(url).replace(/^file:\/\//, ''));
    if (!path.startsWith('src/') || OTHER_SERVICES.some((other) => path.startsWith(other))) continue;
    for (const { functionName, ranges } of functions) {
      const [{ startOffset, count }] = ranges;
      if (count > 0 && startOffset > 0) ran.add(`${path} ${functionName}@${startOffset}`);
    }
  }
  return ran;
}
