/** A removed record can no longer be linked to its leaf, and the tree stays valid. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool, type Pool } from '../../src/database/pool.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { deriveSealingKey } from '../../src/proof/keys.ts';
import { createProofWriters } from '../../src/proof/writer.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { prune } from '../../src/verwerkingenlog/store/retention.ts';
import { filesWith } from '../raadsfeed/database-files.ts';
import { quiet, vergadering } from '../raadsfeed/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from '../verwerkingenlog/cli.ts';
import { actie, actieIn, HEADERS, KEY, type LogServer, newPerson, startLog } from '../verwerkingenlog/support.ts';
import { getText, hasLeaves, type ProofFeed, startProofFeed, stateFile } from './support.ts';

const SCOPES = ['create:normal', 'update:normal', 'read:normal'];
const state = stateFile();
let database: TestDatabase;
let client: pg.Client;
let retention: Pool;
let log: LogServer;
let feed: ProofFeed;

beforeAll(async () => {
  database = await createDatabase();
  log = await startLog({ env: state.env, databaseUrl: database.url });
  client = new pg.Client(database.url);
  await client.connect();
  retention = createPool({
    url: database.url,
    size: 2,
    connectTimeoutMs: 20_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    role: 'koppelvlak_opschoner',
    applicationName: 'test',
    log: quiet,
  });
  feed = await startProofFeed();
});
afterAll(async () => {
  await feed.stop();
  await retention.end();
  await client.end();
  await log.stop();
  await database.drop();
  state.remove();
});

async function verify(url: string, name: string, env: Record<string, string>): Promise<unknown> {
  const { json, code } = await koppelvlak(url, ['proof', 'verify', name, '--json'], env);
  return { code, logs: isRecord(json) ? json.logs : undefined };
}

const WELL = { code: 0, logs: [{ faults: [] }] };

async function keep(term: string): Promise<string> {
  const wishes = { bewaartermijn: term, tijdstip: '2020-01-15T13:35:42Z' };
  return actieIn(await log.call(SCOPES, 'POST', '/verwerkingsacties', actie(newPerson(), wishes), HEADERS)).actieId;
}

it('removes seed and link of expired records, and says so in the tree', async () => {
  const address = `${log.server.url}/proof/v1/verwerkingen`;
  await Promise.all(Array.from({ length: 5 }, () => keep('P1D')));
  const kept = await keep('P80Y');
  await hasLeaves(address, 6);
  // One without a position when it is removed.
  await keep('P1D');
  const env = { ...state.env, AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY };
  const sealing = sealingOnly(env);
  const rules = { minRetention: 'P0D', retentionGrace: 'P0D', maxRetention: undefined };
  const { removed } = await prune({
    pool: retention,
    clock: { now: () => new Date() },
    rules,
    dryRun: false,
    signal: new AbortController().signal,
    // With the sealing key, as a job has it.
    proof: createProofWriters(readConfig(sealing, 'tool'))('verwerkingen'),
  });
  expect(removed).toBe(6);
  const { rows } = await client.query('select actie_id, seed is null as zonder from verwerkingenlog.versies');
  expect(rows).toEqual([{ actie_id: kept, zonder: false }]);
  const removals = await client.query<{ content: string }>('select content from proof.removals');
  expect(removals.rows).toHaveLength(1);
  const [{ content } = { content: '' }] = removals.rows;
  expect(JSON.parse(content)).toMatchObject({ soort: 'bewaartermijn' });
  expect(content).not.toMatch(/[0-9a-f]{8}-/);
  expect(await verify(database.url, 'verwerkingen', env)).toMatchObject(WELL);
  await hasLeaves(address, 8);
  expect(await verify(database.url, 'verwerkingen', env)).toMatchObject(WELL);
});

it('is not done without the key', async () => {
  const env = { AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY };
  expect(await koppelvlak(database.url, ['log', 'prune'], env)).toMatchObject({
    code: 1,
    error: expect.stringContaining('PROOF_KEY'),
  });
  await expect(startLog({ databaseUrl: database.url, tokens: log.tokens })).rejects.toThrow(/PROOF_KEY/);
});

it('is done by a command with the sealing key', async () => {
  const env = { ...state.env, AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY };
  expect(await koppelvlak(database.url, ['log', 'prune'], sealingOnly(env))).toMatchObject({
    code: 0,
    error: expect.stringMatching(/^Database \S+ on .+\n$/),
  });
});

/** With the key that cannot sign instead of the one that can. */
function sealingOnly({ PROOF_KEY, ...env }: Record<string, string>): Record<string, string> {
  const key = deriveSealingKey(Buffer.from(PROOF_KEY ?? '', 'base64'));
  return { ...env, PROOF_SEALING_KEY: Buffer.from(key).toString('base64') };
}

it('keeps seeds readable when the keys of identifiers are rotated', async () => {
  const env = {
    ...state.env,
    AREAS: 'verwerkingenlog',
    VERWERKINGENLOG_KEY: `nieuw:${Buffer.alloc(32, 8).toString('base64')},${KEY}`,
  };
  await log.stop();
  log = await startLog({ env, databaseUrl: database.url });
  expect(await koppelvlak(database.url, ['log', 'rotate-key'], env)).toMatchObject({ code: 0 });
  const only = { ...env, VERWERKINGENLOG_KEY: env.VERWERKINGENLOG_KEY.split(',')[0] ?? '' };
  expect(await verify(database.url, 'verwerkingen', only)).toMatchObject(WELL);
});

it('also applies to redactions and pruning of the feed', async () => {
  const address = `${feed.server.url}/proof/v1/raadsfeed`;
  const env = { ...feed.state.env, AREAS: 'raadsfeed' };
  await feed.prove(Array.from({ length: 6 }, (_, i) => vergadering(`r${i}`)));
  await feed.prove([vergadering('r0', { naam: 'Anders' }), vergadering('r1', { naam: 'Anders' })]);
  const resource = { organisatiecode: 'gm9901', bronidentificatie: 'r2' };
  const redact = { op: 'redact', resourceType: 'Vergadering', resource, verwijderreden: 'persoonsgegevens' };
  await feed.prove([vergadering('r2', { naam: 'Zwetsgeheim' })]);
  expect(await filesWith(feed.databaseUrl, 'Zwetsgeheim')).not.toEqual([]);
  await feed.prove([redact]);
  await expect.poll(() => filesWith(feed.databaseUrl, 'Zwetsgeheim'), { interval: 500 }).toEqual([]);
  expect(await verify(feed.databaseUrl, 'raadsfeed', env)).toMatchObject(WELL);
  await hasLeaves(address, 10);
  expect(await verify(feed.databaseUrl, 'raadsfeed', env)).toMatchObject(WELL);
  const before = new Date(Date.now() - 1).toISOString();
  const pruned = await koppelvlak(feed.databaseUrl, ['feed', 'prune', '--before', before], {
    ...env,
    'database.statementTimeoutMs': '1000',
  });
  expect(pruned).toMatchObject({ code: 0 });
  const { rows } = await feed.pool.query('select sequence_number as n from raadsfeed.records where seed is null');
  expect(rows).toEqual([]);
  expect(await verify(feed.databaseUrl, 'raadsfeed', env)).toMatchObject(WELL);
  expect((await getText(`${address}/record/1`)).status).toBe(410);
});
