/**
 * Attacks the service, running with a small heap, while measuring a well-behaved client: the service must survive, and
 * that client's median wait may at most double.
 *
 * The baseline is what the same client waits when the service is idle and under ordinary load (weighted by the CPU time
 * that the attack costs the service), and while the same attack hits a server that does nothing, because the attacker
 * shares this machine. A failing part is tried once more.
 *
 * Then the service follows sources with hostile pages, and programs get hostile answers and files, on which they must
 * exit soon.
 *
 * Usage: node bench/drill-hostile.ts [heap in MB, default 512] [part of the names of attacks]
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { importFile } from '../src/gegevens/store/import-file.ts';
import { createAuthority } from '../src/lib/authority/authority.ts';
import { loadModel } from '../src/lib/exchange-model/model.ts';
import { createLogger } from '../src/lib/log.ts';
import { findSource, removeSource, saveSources } from '../src/raadsfeed/aggregator/store/sources.ts';
import { FakeSource } from '../test/raadsfeed/aggregator/fake-source.ts';
import { document, publishLines } from '../test/raadsfeed/support.ts';
import { HOSTILE_SHAPES, hostileJson } from '../test/support/hostile-json.ts';
import { startTokens } from '../test/support/tokens.ts';
import { type Child, startChild } from './support/children.ts';
import { openPool } from './support/databases.ts';
import { growHistory } from './support/feed-history.ts';
import { ATTACKS, LARGE_RECORDS, PLAIN, type Target } from './support/hostile-attacks.ts';
import { HOSTILE_PROGRAMS, runHostile } from './support/hostile-programs.ts';
import { type Ask, measureWhile, type Waited } from './support/other-client.ts';
import { sampleActie } from './support/sample-actie.ts';
import { writeSample } from './support/sample-delivery.ts';
import { createSignedClient } from './support/signed-client.ts';

const [heapMb = '512', only = ''] = process.argv.slice(2);
const VERWERKING = '48086bf2-11b7-4603-9526-67d7c3bb6587';
const OTHER_ADDRESS = '203.0.113.7';
const IDLE_SECONDS = 4;
/** Records in the feed before the large ones. */
const HISTORY = 5000;
/** Fraction of an attack's duration for which it also targets the idle server, as a baseline. */
const ELSEWHERE = 0.5;
const FOLLOWED = 'four followed sources of 33 MB of brackets';
const FOLLOWED_BYTES = 33_500_000;
const FOLLOWED_SECONDS = 15;
const FOLLOWED_MB = 150;
/** A wait this short is unnoticeable on a busy machine. */
const UNNOTICED_MS = 10;
/** An attack may leave work behind, which must be finished within this time. */
const RECOVERY_MS = 30_000;

const log = createLogger('error');
await using closing = new AsyncDisposableStack();
const { path: dir } = closing.use(await mkdtempDisposable(join(tmpdir(), 'koppelvlak-drill-')));
process.exitCode = (await drill()) ? 0 : 1;

async function drill(): Promise<boolean> {
  const postgres = await startEmbedded({ dir: join(dir, 'pg'), log });
  closing.defer(postgres.stop);
  await migrate({ url: postgres.url, dir: MIGRATIONS, log });
  await loadDelivery(postgres.url);
  await growHistory(postgres.url, HISTORY);
  await publishLarge(postgres.url);
  const authority = await createAuthority({ dir: join(dir, 'pki'), port: 0, lifeSeconds: 3600 });
  closing.defer(authority.close);
  const tokens = await startTokens();
  closing.defer(tokens.close);
  const server = await startChild(
    new URL('support/hostile-server.ts', import.meta.url),
    {
      ...tokens.env,
      NODE_ENV: 'test',
      DATABASE_URL: postgres.url,
      PORT: '0',
      MANAGEMENT_PORT: '0',
      TRUST_PROXY: '1',
      SHUTDOWN_DRAIN_MS: '0',
      GEGEVENS_TRUST_ANCHORS: authority.root,
      GEGEVENS_SIGNING_KEY: authority.supplier.key,
      GEGEVENS_SIGNING_CHAIN: authority.supplier.chain,
      GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
      VERWERKINGENLOG_KEY: `drill:${Buffer.alloc(32, 3).toString('base64')}`,
      'verwerkingenlog.rateLimit': '6000',
      RAADSFEED_PAGES: 'true',
      RAADSFEED_ROL: 'aggregator',
      AGGREGATOR_ALLOW_PRIVATE: 'true',
      'aggregator.pollMs': '500',
      'aggregator.backoffMs': '500',
      'aggregator.backoffMaxMs': '1000',
    },
    [`--max-old-space-size=${heapMb}`],
  );
  closing.defer(() => server.stop());
  const hostile = await startChild(new URL('support/hostile-client.ts', import.meta.url));
  closing.defer(() => hostile.stop());
  const bare = await startChild(new URL('floors/http.ts', import.meta.url));
  closing.defer(() => bare.stop());

  const SCOPES = ['create:normal', 'update:normal', 'update:confidential', 'read:confidential', 'read'];
  const bearer = async (subject: string): Promise<string> => (await tokens.bearer(SCOPES, { subject })).authorization;
  const { url, managementUrl } = Object(await server.ask({}));
  const clients = await Promise.all(Array.from({ length: 8 }, (_, n) => bearer(`vijandig-${n}`)));
  const target: Target = { url, clients, verwerkingId: VERWERKING, beforeLarge: HISTORY, sharedAddress: OTHER_ADDRESS };
  const asks = await otherClient(url, managementUrl, await bearer('ander'), authority.requester);
  for (const { call } of asks) await call();

  const idle = await observe(
    'the service is idle',
    server,
    asks,
    () => new Promise((done) => setTimeout(done, IDLE_SECONDS * 1000)),
  );
  const plain = await observe(PLAIN.name, server, asks, () => hostile.ask({ name: PLAIN.name, target }));
  const bareUrl = String(Object(await bare.ask({})).url);
  let good = true;
  for (const { name, mayGrowMb, never } of ATTACKS.filter((attack) => attack.name.includes(only))) {
    const once = async (): Promise<string[]> => {
      const aside = await observe(`${name}, elsewhere`, server, asks, () =>
        hostile.ask({ name, target: { ...target, url: bareUrl }, part: ELSEWHERE }),
      );
      const seen = await observe(name, server, asks, () => hostile.ask({ name, target }));
      const faults = judge(seen, { idle, plain, aside, mayGrowMb });
      const wrong = never === undefined ? 0 : (seen.statuses[never] ?? 0);
      if (wrong > 0) faults.push(`${wrong} answers with status ${never}`);
      if (!(await recovers(asks))) faults.push(`no correct answer within ${RECOVERY_MS / 1000} s after it`);
      return faults;
    };
    const first = await once();
    const faults = first.length === 0 ? first : await once();
    good = tell(faults) && good;
  }
  if (FOLLOWED.includes(only)) {
    // Prepared before measuring, because it blocks this process.
    const pages = HOSTILE_SHAPES.map((shape) => gzipSync(hostileJson(shape, FOLLOWED_BYTES)));
    const faults = judge(await observe(FOLLOWED, server, asks, () => followHostile(postgres.url, pages)), {
      idle,
      plain,
      aside: idle,
      mayGrowMb: FOLLOWED_MB,
    });
    if (!(await recovers(asks))) faults.push(`no correct answer within ${RECOVERY_MS / 1000} s after it`);
    good = tell(faults) && good;
  }
  for (const program of HOSTILE_PROGRAMS.filter(({ name }) => name.includes(only))) {
    console.log(program.name);
    good = tell(await runHostile(program, dir)) && good;
  }
  console.log(good ? 'every part passed' : 'some parts failed');
  return good;
}

/** @returns true when there are no faults */
function tell(faults: readonly string[]): boolean {
  console.log(faults.length === 0 ? '  passed' : faults.map((fault) => `  FAULT ${fault}`).join('\n'));
  return faults.length === 0;
}

/** Has the service follow four sources whose JSON takes many times its size in memory once parsed. */
async function followHostile(url: string, pages: readonly Buffer[]): Promise<void> {
  const sources = await Promise.all(pages.map((_page, n) => new FakeSource(`gm980${n}`).listen()));
  const pool = openPool(url);
  try {
    for (const [n, source] of sources.entries()) {
      source.rule = ({ path, response }) => {
        if (path === '/') return false;
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(pages[n]);
        return true;
      };
    }
    await saveSources(
      pool,
      sources.map(({ url: adres }) => ({ adres, soort: 'feed', organisatiecodes: [] })),
    );
    await new Promise((done) => setTimeout(done, FOLLOWED_SECONDS * 1000));
    if (!sources.every(({ calls }) => calls.some(({ path }) => path !== '/'))) throw new Error('a source was not read');
    for (const source of sources) {
      const found = await findSource(pool, source.url);
      if (found !== undefined) await removeSource(pool, found.id);
    }
  } finally {
    await pool.end();
    for (const source of sources) await source.close();
  }
}

async function loadDelivery(url: string): Promise<void> {
  const path = join(dir, 'shv.json');
  await writeSample(path, { variant: 'shv', records: 50 });
  const pool = openPool(url);
  await importFile(pool, { path, model: loadModel('shv'), signal: new AbortController().signal });
  await pool.end();
}

async function publishLarge(url: string): Promise<void> {
  const pool = openPool(url);
  for (const [n, length] of LARGE_RECORDS.entries())
    await publishLines(pool, [document(`groot-${n}`, { omschrijving: 'x'.repeat(length) })]);
  await pool.end();
}

/** The well-behaved client: each interface used normally, and the health check an operator watches. */
async function otherClient(
  url: string,
  managementUrl: string,
  authorization: string,
  requester: { key: string; chain: string },
): Promise<Ask[]> {
  const address = { 'x-forwarded-for': OTHER_ADDRESS };
  const call = async (status: number, path: string, init: RequestInit = {}): Promise<void> => {
    const response = await fetch(path, {
      ...init,
      headers: { ...address, ...Object(init.headers) },
      signal: AbortSignal.timeout(20_000),
    });
    await response.arrayBuffer();
    if (response.status !== status) throw new Error(`status ${response.status}`);
  };
  const json = { authorization, 'content-type': 'application/json' };
  const signer = createSignedClient(requester.key, requester.chain, authorization);
  closing.defer(async () => signer.close());
  let n = 0;
  return [
    { name: 'feed', everyMs: 40, call: () => call(200, `${url}/ori/v1/feed?limit=20`) },
    {
      name: 'log',
      everyMs: 40,
      call: () => {
        n += 1;
        const body = JSON.stringify({
          ...JSON.parse(sampleActie(String(200_000_000 + n), n)),
          verwerkingId: VERWERKING,
        });
        return call(201, `${url}/verwerkingenlog/v1/verwerkingsacties`, { method: 'POST', headers: json, body });
      },
    },
    {
      name: 'gegevens',
      everyMs: 200,
      call: async () => void (await signer.post(`${url}/shv/v1/gegevens`, { pageSize: 5 }, 'digest')),
    },
    { name: 'health', everyMs: 100, call: () => call(200, `${managementUrl}/health/ready`) },
  ];
}

interface Seen {
  /** Number of answers per status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly waited: readonly Waited[];
  /** CPU time of the service, as a fraction of one core. */
  readonly cores: number;
  readonly peakMb: number;
  readonly crashed: boolean;
}

/** Runs `work` alongside the well-behaved client and reports on both. */
async function observe(name: string, server: Child, asks: readonly Ask[], work: () => Promise<unknown>): Promise<Seen> {
  const started = performance.now();
  const before = Object(await server.ask({})).cpuMs;
  const { result, waited } = await measureWhile(asks, work);
  const seconds = (performance.now() - started) / 1000;
  const after = await server.ask({}).then(Object, () => undefined);
  const cores = after === undefined ? Number.NaN : (after.cpuMs - before) / 1000 / seconds;
  const sent =
    Object(result).sent === undefined ? '' : `${Object(result).sent} sent ${JSON.stringify(Object(result).statuses)}`;
  console.log(
    `${name}: ${sent} in ${seconds.toFixed(1)} s, ${cores.toFixed(2)} cores, peak ${after?.peakRssMb.toFixed(0)} MB`,
  );
  for (const one of waited) {
    const failed =
      one.failed.length === 0 ? '' : `, ${one.failed.length} failed (${[...new Set(one.failed)].join(', ')})`;
    console.log(
      `  ${one.name.padEnd(9)} median ${one.medianMs.toFixed(1)} ms, worst ${one.worstMs.toFixed(0)} ms of ${one.calls}${failed}`,
    );
  }
  return {
    statuses: Object(Object(result).statuses),
    waited,
    cores,
    peakMb: after?.peakRssMb ?? 0,
    crashed: after === undefined,
  };
}

/** How long the well-behaved client waits when the service itself is not under attack. */
interface Measures {
  readonly idle: Seen;
  readonly plain: Seen;
  readonly aside: Seen;
  readonly mayGrowMb: number | undefined;
}

/** Limits that the well-behaved client's figures exceeded. */
function judge(seen: Seen, { idle, plain, aside, mayGrowMb = Number.POSITIVE_INFINITY }: Measures): string[] {
  if (seen.crashed) return ['the process exited'];
  const grown = seen.peakMb - aside.peakMb;
  if (grown > mayGrowMb) return [`grew by ${grown.toFixed(0)} MB, ${mayGrowMb} allowed`];
  const share = Math.min(1, Math.max(0, (seen.cores - idle.cores) / (plain.cores - idle.cores)));
  return seen.waited.flatMap(({ name, medianMs }, at) => {
    const [quiet = 0, busy = 0, beside = 0] = [idle, plain, aside].map(({ waited }) => waited[at]?.medianMs);
    const allowed = Math.max(2 * (quiet + share * Math.max(0, busy - quiet)), 2 * beside, UNNOTICED_MS);
    if (medianMs <= allowed) return [];
    const figures = `idle ${quiet.toFixed(1)}, ordinary load ${busy.toFixed(1)}, attack elsewhere ${beside.toFixed(1)}`;
    return [`${name}: median ${medianMs.toFixed(1)} ms, ${allowed.toFixed(1)} allowed (${figures})`];
  });
}

/** True when the well-behaved client soon gets correct answers again. */
async function recovers(asks: readonly Ask[]): Promise<boolean> {
  const ends = performance.now() + RECOVERY_MS;
  while (performance.now() < ends) {
    const results = await Promise.allSettled(asks.map(({ call }) => call()));
    if (results.every(({ status }) => status === 'fulfilled')) return true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return false;
}
