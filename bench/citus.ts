/**
 * What the log on Citus costs beside the log on one machine: appends, a person's page, PATCH of a processing, rotate, verify and prune.
 * Nodes that share a machine share its processors, so figures are to be compared, not believed: `node bench/citus.ts COORDINATOR_URL [seconds]`
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { allowRolesOnNodes, createCitusDatabase, dropCitusDatabase } from '../test/support/citus.ts';
import { callProgram } from '../test/support/program.ts';
import { startTokens } from '../test/support/tokens.ts';
import { startChild } from './support/children.ts';
import type { Load, LoadResult } from './support/raw-client.ts';
import { sampleActie } from './support/sample-actie.ts';

const [coordinator = '', seconds = '3'] = process.argv.slice(2);
const measureMs = Number(seconds) * 1000;
const PROCESSING = 100;
const PERSON = '123456782';
const KEYS = ['oud', 'nieuw'].map((name, i) => `${name}:${Buffer.alloc(32, i + 1).toString('base64')}`);

const tokens = await startTokens();
const { authorization } = await tokens.bearer(['create:normal', 'read:normal', 'update:confidential']);
const client = await startChild(new URL('support/load-process.ts', import.meta.url));
const log = createLogger('error');

/** Milliseconds or actions a second, by what was measured. */
async function measure(url: string, title: string): Promise<void> {
  const figures: [string, string][] = [];
  const env = { DATABASE_URL: url, NODE_ENV: 'test', OVERLOAD_EVENT_LOOP_DELAY_MS: '0', ...tokens.env };
  const server = await startChild(new URL('support/log-server.ts', import.meta.url), {
    ...env,
    VERWERKINGENLOG_KEY: KEYS[0] ?? '',
  });
  const base = `${Object(await server.ask({})).url}/verwerkingenlog/v1/verwerkingsacties`;
  const headers = { authorization };
  const bodies = Array.from({ length: 500 }, (_, i) =>
    sampleActie(String(100_000_000 + i * 7919), i).replace('P10Y', 'P1D'),
  );
  const append: Omit<Load, 'connections'> = {
    ...{ url: base, method: 'POST', warmUpMs: 1000, measureMs, headers, idempotencyKeys: true, bodies },
    expectStatus: 201,
  };
  try {
    for (const connections of [1, 16, 64]) {
      const { perSecond, medianMs }: LoadResult = Object(await client.ask({ ...append, connections }));
      figures.push([
        `appends, ${connections} connections`,
        `${Math.round(perSecond)}/s, median ${medianMs.toFixed(1)} ms`,
      ]);
    }
    const verwerkingId = randomUUID();
    const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    for (let i = 0; i < PROCESSING; i += 1) {
      const body = JSON.stringify({ ...JSON.parse(sampleActie(PERSON, i)), verwerkingId });
      await (await fetch(base, { ...post, body })).arrayBuffer();
    }
    const page = `${new URL(base).pathname}?objecttype=persoon&soortObjectId=BSN&objectId=${PERSON}&vertrouwelijkheid=normaal`;
    const read: Load = {
      ...{ ...append, method: 'GET', idempotencyKeys: false, bodies: [], paths: [page] },
      ...{ connections: 1, expectStatus: 200 },
    };
    const { medianMs }: LoadResult = Object(await client.ask(read));
    figures.push(['a person’s page of 100 actions', `${medianMs.toFixed(1)} ms`]);
    const begun = performance.now();
    const change = { ...post, method: 'PATCH', body: JSON.stringify({ bewaartermijn: 'P1D' }) };
    const { status } = await fetch(`${base}?verwerkingId=${verwerkingId}`, change);
    figures.push([`PATCH of ${PROCESSING} actions (${status})`, `${Math.round(performance.now() - begun)} ms`]);
  } finally {
    await server.stop();
  }
  const short = { VERWERKINGENLOG_MIN_RETENTION: 'PT1S', VERWERKINGENLOG_RETENTION_GRACE: 'PT1S' };
  for (const command of ['verify', 'rotate-key', 'prune']) {
    const from = performance.now();
    const { status, stdout, stderr } = await callProgram(['log', command], {
      ...{ DATABASE_URL: url, VERWERKINGENLOG_KEY: KEYS.toReversed().join(',') },
      ...short,
    });
    const said = (status === 0 ? stdout : stderr).trim().split('\n').at(-1) ?? '';
    figures.push([`log ${command}`, `${((performance.now() - from) / 1000).toFixed(1)} s: ${said}`]);
  }
  console.log(`\n${title}`);
  for (const [what, figure] of figures) console.log(`  ${what.padEnd(36)} ${figure}`);
}

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({ dir, log });
const name = `koppelvlak_bench_${randomBytes(4).toString('hex')}`;
try {
  if (coordinator === '') throw new Error('name the address of the coordinator, as superuser');
  const url = await createCitusDatabase(coordinator, name);
  await migrate({ url, dir: MIGRATIONS, log, distributed: true });
  await allowRolesOnNodes(coordinator);
  await measure(postgres.url, 'one machine');
  await measure(url, 'through the coordinator');
} finally {
  if (coordinator !== '') await dropCitusDatabase(coordinator, name);
  await postgres.stop();
  await client.stop();
  await tokens.close();
  await rm(dir, { recursive: true, force: true });
}
