import { expect, vi } from 'vitest';
import type { Pool } from '../../../src/database/pool.ts';
import type { NewSource } from '../../../src/raadsfeed/aggregator/plan-sources.ts';
import {
  findSource,
  readSourceStates,
  removeSource,
  type SourceState,
  saveSources,
} from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { callProgram } from '../../support/program.ts';
import { type FeedServer, readRecords, startFeed, type TestRecord } from '../support.ts';

// Several servers wait for each other here, which takes a while on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** An aggregator that polls often, and calls loopback. */
export const AGGREGATOR_ENV = {
  RAADSFEED_ROL: 'aggregator',
  'aggregator.pollMs': '50',
  'aggregator.backoffMs': '20',
  'aggregator.backoffMaxMs': '200',
  'raadsfeed.sourcesTimeoutMs': '2000',
  'aggregator.leaseSeconds': '2',
  AGGREGATOR_ALLOW_PRIVATE: 'true',
  'raadsfeed.headMaxAgeSeconds': '0',
};

/** A source that is our own server: pages at its head are not cacheable, so that tests need not wait for them. */
export const SOURCE_ENV = { 'raadsfeed.headMaxAgeSeconds': '0' };

export function startAggregator(env: Record<string, string> = {}): Promise<FeedServer> {
  return startFeed({ ...AGGREGATOR_ENV, ...env });
}

export async function follow(pool: Pool, adres: string, more: Partial<NewSource> = {}): Promise<void> {
  await saveSources(pool, [{ adres, soort: 'feed', organisatiecodes: [], ...more }]);
}

export async function unfollow(pool: Pool, adres: string): Promise<void> {
  const source = await findSource(pool, adres);
  if (source !== undefined) await removeSource(pool, source.id);
}

export async function sourceState(pool: Pool, adres: string): Promise<SourceState> {
  const found = (await readSourceStates(pool)).find((state) => state.adres === adres);
  if (found === undefined) throw new Error(`${adres} is not a source`);
  return found;
}

/** Runs the program beside an aggregator, on the same database. */
export async function programBeside(databaseUrl: string, env: Record<string, string>, words: readonly string[]) {
  const own = { ...AGGREGATOR_ENV, NODE_ENV: 'test', DATABASE_URL: databaseUrl, ...env };
  const { status, stdout, stderr } = await callProgram([...words, '--json'], own);
  return { status, json: stdout === '' ? undefined : JSON.parse(stdout), stderr };
}

/** Makes the service document of a source due, which it would otherwise be after a minute, or a failure. */
export async function rereadDocument(pool: Pool, adres: string): Promise<void> {
  await pool.query('update aggregator.sources set document_read_at = null where address = $1', [adres]);
}

/** Waits until that was done, or failed. */
export async function documentReread(pool: Pool, adres: string): Promise<void> {
  await rereadDocument(pool, adres);
  const text = `select from aggregator.sources
                 where address = $1 and (document_read_at is not null or failure_message is not null)`;
  await eventually(async () => expect((await pool.query(text, [adres])).rowCount).toBe(1));
}

export async function issueKinds(pool: Pool, sourceId: number): Promise<unknown[]> {
  const { rows } = await pool.query('select kind from aggregator.issues where source_id = $1', [sourceId]);
  return rows.map(({ kind }) => kind);
}

/**
 * Waits for a condition; an error meanwhile becomes the failure if it never holds. Each look is a request that is checked against the
 * contract, so looking more often costs more than it saves.
 */
export function eventually(check: () => Promise<void> | void): Promise<void> {
  return vi.waitFor(check, { timeout: 60_000, interval: 100 });
}

/** The current state according to a feed: hash by identity. */
export function stateOf(records: readonly TestRecord[]): Map<string, string> {
  const state = new Map<string, string>();
  for (const { op, resourceType, resource, contentHash } of records) {
    const key = `${resource.organisatiecode}/${resourceType}/${resource.bronidentificatie}`;
    if (op === 'upsert') state.set(key, contentHash ?? '');
    else state.delete(key);
  }
  return state;
}

/** Waits until the aggregator has the state of all these sources together. */
export async function expectMerged(aggregator: FeedServer, sources: readonly FeedServer[]): Promise<void> {
  await eventually(async () => {
    const want = new Map<string, string>();
    for (const source of sources) for (const [key, hash] of stateOf(await readRecords(source.api))) want.set(key, hash);
    expect(stateOf(await readRecords(aggregator.api))).toEqual(want);
  });
}
