/** A source has one reader at a time, and a reader that lost its lease publishes nothing more. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../../src/database/transaction.ts';
import { publishChanges } from '../../../src/raadsfeed/aggregator/feed/redactions.ts';
import { type Lease, LeaseLostError } from '../../../src/raadsfeed/aggregator/source.ts';
import { markSeen } from '../../../src/raadsfeed/aggregator/store/comparison.ts';
import {
  claimDueSources,
  releaseSource,
  renewLeases,
  rereadLease,
  takeLease,
  updateSource,
} from '../../../src/raadsfeed/aggregator/store/leased-source.ts';
import { findSource, removeSource, saveSources, setPaused } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { ensureWindows, saveWindow } from '../../../src/raadsfeed/aggregator/store/windows.ts';
import { prepareChange } from '../../../src/raadsfeed/domain/change.ts';
import { pool, serviceDatabase } from '../service-database.ts';

const SOURCES = 12;
const url = (n: number): string => `https://raad.example/${n}`;
const FEEDS = { kind: 'feed', limit: 100, leaseSeconds: 30 } as const;

serviceDatabase();
beforeEach(async () => {
  for (let n = 0; n < SOURCES; n += 1)
    await saveSources(pool, [{ adres: url(n), soort: 'feed', organisatiecodes: [] }]);
});
afterEach(async () => {
  await pool.query('delete from aggregator.sources');
});

async function head(): Promise<number | undefined> {
  return (await pool.query<{ head: number }>('select head from raadsfeed.feed')).rows[0]?.head;
}

async function publish(lease: Lease): Promise<number> {
  const organisatie = { gemeente: 'gm0001', naam: 'Een' };
  const data = {
    bronidentificatie: `v-${Math.random()}`,
    dossiertype: 'vergadering',
    organisatie,
    naam: 'Raad',
  } as const;
  const herkomst = { feedUrl: 'https://raad.example/feed', sequenceNumber: 1 };
  const changes = [prepareChange({ op: 'upsert', resourceType: 'Vergadering', data }, { herkomst })];
  return await transaction(pool, async (db) => {
    const published = await publishChanges(db, changes, { clock: { now: () => new Date() }, proof: undefined });
    await updateSource(db, lease, { cursor: 'c1', phase: 'feed' }, { published });
    return published;
  });
}

describe('a lease', () => {
  it('has one holder: concurrent claims divide the sources, each of them once', async () => {
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, i) => claimDueSources(pool, `holder ${i}`, { ...FEEDS, limit: 3 })),
    );
    const taken = claims.flat().map(({ source }) => source.adres);
    expect(new Set(taken).size).toBe(taken.length);
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(3);
    const rest = await claimDueSources(pool, 'late', FEEDS);
    expect([...taken, ...rest.map(({ source }) => source.adres)]).toHaveLength(SOURCES);
    expect(await claimDueSources(pool, 'later', FEEDS)).toEqual([]);
  });

  it('that expired goes to another holder, and later publications of the old one are rolled back', async () => {
    const [lease] = await claimDueSources(pool, 'first', { ...FEEDS, limit: 1 });
    if (lease === undefined) throw new Error('nothing was due');
    expect(await publish(lease)).toBe(1);
    await pool.query("update aggregator.sources set lease_until = now() - interval '1 second' where id = $1", [
      lease.source.id,
    ]);
    const second = await claimDueSources(pool, 'second', FEEDS);
    expect(second.map(({ source }) => source.adres)).toContain(lease.source.adres);
    const before = await head();
    await expect(publish(lease)).rejects.toThrow(LeaseLostError);
    await expect(rereadLease(pool, lease)).rejects.toThrow(LeaseLostError);
    expect(await head()).toBe(before);
    // Releasing it does not take it from its new holder.
    await releaseSource(pool, lease, { inMs: 0 });
    await releaseSource(pool, lease, { inMs: 0, failure: { kind: 'x', message: 'x', pageSize: 1 } });
    expect(await claimDueSources(pool, 'third', FEEDS)).toEqual([]);
  });

  it('lasts as long as it is renewed', async () => {
    await claimDueSources(pool, 'first', FEEDS);
    await pool.query("update aggregator.sources set lease_until = now() + interval '1 second'");
    await renewLeases(pool, 'first', 60);
    const { rows } = await pool.query(
      'select min(extract(epoch from lease_until - now())) > 50 as lasts from aggregator.sources',
    );
    expect(rows).toEqual([{ lasts: true }]);
  });

  it('of a source that is changed while its window is being stored lasts until it is stored', async () => {
    const source = { adres: 'ibabs:een', soort: 'leveranciers-api', organisatiecodes: ['gm0001'] } as const;
    await saveSources(pool, [{ ...source, naam: 'Een' }]);
    const known = await findSource(pool, source.adres);
    const lease = await takeLease(pool, known?.id ?? 0, 'first', 30);
    if (lease === undefined) throw new Error('it is gone');
    const window = { from: '2026-01-01', to: '2026-03-31' };
    await ensureWindows(pool, lease.source.id, [window]);
    let change: Promise<unknown> | undefined;
    const result = { ...window, depth: 'full', complete: true, withheld: 0, quickAgainMs: 1, fullAgainMs: 1 } as const;
    await transaction(pool, async (db) => {
      await saveWindow(db, lease.source.id, result, new Date());
      change = saveSources(pool, [{ ...source, naam: 'Twee' }]);
      await expect
        .poll(async () => (await pool.query('select from pg_locks where not granted')).rowCount)
        .toBeGreaterThan(0);
      await updateSource(db, lease, { cursor: 'c1' });
    });
    await change;
    expect((await findSource(pool, source.adres))?.naam).toBe('Twee');
    await removeSource(pool, lease.source.id);
  });

  it('of a source that is removed while its records are being published lasts until they are', async () => {
    const [lease] = await claimDueSources(pool, 'first', { ...FEEDS, limit: 1 });
    if (lease === undefined) throw new Error('nothing was due');
    const { id } = lease.source;
    const resource = { organisatiecode: 'gm0001', bronidentificatie: 'v-1' };
    let removal: Promise<void> | undefined;
    await transaction(pool, async (db) => {
      await markSeen(db, id, [{ resourceType: 'Vergadering', resource }]);
      removal = removeSource(pool, id);
      await expect
        .poll(async () => (await pool.query('select from pg_locks where not granted')).rowCount)
        .toBeGreaterThan(0);
      await updateSource(db, lease, { cursor: 'c1' });
    });
    await removal;
    expect(await findSource(pool, lease.source.adres)).toBeUndefined();
  });

  it.each([
    ['paused', (id: number) => setPaused(pool, id, true)],
    ['removed', (id: number) => removeSource(pool, id)],
    ['taken over by an operator', (id: number) => takeLease(pool, id, 'operator', 60)],
  ])('of a source that is %s is invalid', async (_what, change) => {
    const [lease] = await claimDueSources(pool, 'first', { ...FEEDS, limit: 1 });
    if (lease === undefined) throw new Error('nothing was due');
    await change(lease.source.id);
    const before = await head();
    await expect(publish(lease)).rejects.toThrow(LeaseLostError);
    await expect(transaction(pool, (db) => updateSource(db, lease, { ...lease.source }))).rejects.toThrow(
      LeaseLostError,
    );
    expect(await head()).toBe(before);
    expect((await findSource(pool, lease.source.adres))?.cursor ?? null).toBeNull();
  });
});
