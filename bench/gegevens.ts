import { join } from 'node:path';
import { importFile } from '../src/gegevens/store/import-file.ts';
import { createAuthority } from '../src/lib/authority/authority.ts';
import type { Variant } from '../src/lib/exchange-model/mapping.ts';
import { loadModel } from '../src/lib/exchange-model/model.ts';
import { startTokens } from '../test/support/tokens.ts';
import { type Child, startChild } from './support/children.ts';
import { openPool, temporaryPostgres } from './support/databases.ts';
import { gegevensEnv } from './support/gegevens-env.ts';
import { writeSample } from './support/sample-delivery.ts';
import { createSignedClient, type Taken } from './support/signed-client.ts';

const rounds = Number(process.argv[2] ?? 15);
const RECORDS = { shv: 25_000, vs: 50_000 } as const;
const SERVER = new URL('support/gegevens-server.ts', import.meta.url);

await using postgres = await temporaryPostgres();
const { dir } = postgres;
await using closing = new AsyncDisposableStack();
const authority = await createAuthority({ dir: join(dir, 'pki'), port: 0, lifeSeconds: 3600 });
closing.defer(authority.close);
const tokens = await startTokens();
closing.defer(tokens.close);
const { authorization } = await tokens.bearer(['read']);
const client = createSignedClient(authority.requester.key, authority.requester.chain, authorization);
closing.defer(async () => client.close());
const env = {
  DATABASE_URL: postgres.url,
  AREAS: 'shv,vs',
  ...gegevensEnv(authority, tokens),
};

interface Stats {
  readonly url: string;
  readonly heldMs: number;
  readonly growthMb: number;
}

const stats = async (child: Child, reset: boolean): Promise<Stats> => Object(await child.ask({ reset }));

async function load(variant: Variant): Promise<void> {
  const path = join(dir, `${variant}.json`);
  await writeSample(path, { variant, records: RECORDS[variant] });
  const pool = openPool(postgres.url);
  await importFile(pool, { path, model: loadModel(variant), signal: new AbortController().signal });
  await pool.query('analyze');
  await pool.end();
}

interface Shot {
  readonly url: string;
  readonly form: 'digest' | 'body';
}

/** Medians of several variants, taken alternately so that other load on the machine affects all alike. */
async function medians(...shots: Shot[]): Promise<Taken[]> {
  const taken: Taken[][] = shots.map(() => []);
  for (let round = -2; round < rounds; round += 1) {
    for (const [at, { url, form }] of shots.entries()) {
      const one = await client.post(url, {}, form);
      // The first rounds warm up.
      if (round >= 0) taken[at]?.push(one);
    }
  }
  return taken.map((all) => all.toSorted((a, b) => a.ms - b.ms)[Math.floor(all.length / 2)] ?? { ms: 0, bytes: 0 });
}

function row(what: string, ms: number, extra = ''): void {
  console.log(`${what.padEnd(46)}${ms.toFixed(1).padStart(9)} ms  ${extra}`);
}

async function measure(variant: Variant): Promise<void> {
  await load(variant);
  const start = (more: Record<string, string>): Promise<Child> =>
    startChild(SERVER, { ...env, BENCH_VARIANT: variant, NODE_OPTIONS: '--expose-gc', ...more });
  const floor = await start({ BENCH_FLOOR: variant });
  const { url: floorUrl } = await stats(floor, false);
  const cold = await start({ 'gegevens.cacheMb': '0' });
  const { url: coldUrl } = await stats(cold, false);
  await client.post(coldUrl, {}, 'digest');
  await stats(cold, true);
  await stats(floor, true);
  const [floorCold, ours] = await medians(
    { url: `${floorUrl}/cold`, form: 'digest' },
    { url: coldUrl, form: 'digest' },
  );
  const held = (await stats(cold, false)).heldMs;
  const floorHeld = (await stats(floor, false)).heldMs;
  const [body] = await medians({ url: coldUrl, form: 'body' });
  if (floorCold === undefined || ours === undefined || body === undefined) return;
  console.log(`\n${variant.toUpperCase()}: ${RECORDS[variant]} records, ${(ours.bytes / 1e6).toFixed(1)} MB`);
  const loop = (ms: number): string => `event loop blocked at most ${ms.toFixed(0)} ms`;
  row('floor: texts from Postgres, SHA-256, signature', floorCold.ms, loop(floorHeld));
  row('cold page, digest form', ours.ms, `${(ours.ms / floorCold.ms).toFixed(2)} x floor; ${loop(held)}`);
  row('cold page, body form', body.ms);

  await stats(cold, true);
  // Different sizes, because one cached page would serve equal requests.
  const several = [1, 2, 3, 4].map((less) => client.post(coldUrl, { pageSize: RECORDS[variant] - less }, 'digest'));
  const answers = await Promise.all(several);
  const { growthMb } = await stats(cold, false);
  const share = growthMb / answers.reduce((sum, { bytes }) => sum + bytes / 1e6, 0);
  row(
    '4 large at once, all different: slowest',
    Math.max(...answers.map(({ ms }) => ms)),
    `memory +${share.toFixed(2)} x their size`,
  );

  // Signed in advance: a requester runs on another machine.
  const largeOnes = await Promise.all([client.sign({}, 'digest'), client.sign({}, 'body')]);
  const smallOnes = await Promise.all(
    Array.from({ length: 1000 }, (_, n) => client.sign({ page: n + 1, pageSize: 1 }, 'digest')),
  );
  // The floor is idle meanwhile, so a blocked event loop there is the machine's doing and affects the service too.
  await stats(floor, true);
  await stats(cold, true);
  const began = performance.now();
  const large = largeOnes.map((signed) => client.send(coldUrl, signed));
  const small = smallOnes.map((signed) => client.send(coldUrl, signed));
  const largeMs = Math.max(...(await Promise.all(large)).map(({ ms }) => ms));
  const smallMs = (await Promise.all(small)).map(({ ms }) => ms).toSorted((a, b) => a - b);
  const crowd = await stats(cold, false);
  const idle = await stats(floor, false);
  row('2 large and 1000 small at once: all', performance.now() - began, `slowest large ${largeMs.toFixed(0)} ms`);
  row('  small, median and 99th percentile', smallMs[500] ?? 0, `${(smallMs[990] ?? 0).toFixed(0)} ms`);
  row('  event loop blocked at most', crowd.heldMs, `memory +${crowd.growthMb.toFixed(0)} MB`);
  row('  that of an idle process alongside', idle.heldMs);
  await cold.stop();

  const warm = await start({ 'gegevens.cacheMb': '256' });
  const { url } = await stats(warm, false);
  const [floorWarm, again] = await medians({ url: `${floorUrl}/warm`, form: 'digest' }, { url, form: 'digest' });
  const [bodyAgain] = await medians({ url, form: 'body' });
  if (floorWarm === undefined || again === undefined || bodyAgain === undefined) return;
  row('floor: bytes from memory, SHA-256, signature', floorWarm.ms);
  row('repeated page, digest form', again.ms, `${(again.ms / floorWarm.ms).toFixed(2)} x floor`);
  row('repeated page, body form', bodyAgain.ms);
  await warm.stop();
  await floor.stop();
}

for (const variant of ['shv', 'vs'] as const) await measure(variant);
