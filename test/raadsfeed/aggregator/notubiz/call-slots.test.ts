/** A supplier's limits apply to all instances, and to commands beside them: each has its own client here. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NotubizClient } from '../../../../src/raadsfeed/aggregator/notubiz/api.ts';
import { createCallSlots } from '../../../../src/raadsfeed/aggregator/store/call-slots.ts';
import { pool, serviceDatabase } from '../../service-database.ts';
import { quiet } from '../../support.ts';
import { type NotubizServer, startNotubiz } from './supplier/server.ts';

let supplier: NotubizServer;
const clients: NotubizClient[] = [];
const never = new AbortController().signal;

serviceDatabase();

beforeEach(async () => {
  supplier = await startNotubiz();
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await supplier.close();
  await pool.query('delete from aggregator.supplier_pauses');
});

/** A client as in another process. */
function instance(slotSeconds = 30): NotubizClient {
  const client = new NotubizClient({
    base: supplier.base,
    retry: { attempts: 3, firstDelay: 1, maxDelay: 5000 },
    slots: createCallSlots(pool, 'notubiz', { atOnce: 4, slotSeconds }, quiet),
  });
  clients.push(client);
  return client;
}

async function free(): Promise<number> {
  const { rows } = await pool.query<{ free: number }>(
    `select count(*) as free from aggregator.supplier_slots where supplier = 'notubiz' and held_until is null`,
  );
  return rows[0]?.free ?? -1;
}

describe('several instances', () => {
  it('never have more than four concurrent calls, and release every slot', async () => {
    supplier.delay = 20;
    const calls = [instance(), instance(), instance()].flatMap((client) =>
      Array.from({ length: 12 }, () => client.get('/organisations', {}, never)),
    );
    await Promise.all(calls);
    expect(supplier.mostAtOnce()).toBeLessThanOrEqual(4);
    expect(supplier.count('/organisations')).toBe(36);
    expect(await free()).toBe(4);
  });

  it('all pause when the supplier asked one of them to', async () => {
    supplier.rule = (_call, times) => (times === 1 ? { status: 429, headers: { 'retry-after': '1' } } : undefined);
    const [first, second] = [instance(), instance()];
    const began = performance.now();
    await first.get('/organisations', {}, AbortSignal.timeout(60_000));
    expect(performance.now() - began).toBeGreaterThan(990);
    supplier.rule = () => ({ status: 503, headers: { 'retry-after': '3600' } });
    await expect(first.get('/organisations', {}, never)).rejects.toThrow('status 503');
    const before = supplier.calls.length;
    await expect(second.get('/organisations', {}, never)).rejects.toThrow('asked to wait');
    expect(supplier.calls).toHaveLength(before);
    expect(await free()).toBe(4);
  });

  it('keep the slots of calls that last longer than those of a dead instance', async () => {
    supplier.delay = 3000;
    const [first, second] = [instance(2), instance(2)];
    const calls = Array.from({ length: 4 }, () => first.get('/organisations', {}, never));
    await expect.poll(() => supplier.calls.length).toBe(4);
    await Promise.all([...calls, second.get('/organisations', {}, never)]);
    expect(supplier.mostAtOnce()).toBe(4);
    expect(await free()).toBe(4);
  });

  it('do not wait for ever for a dead one', async () => {
    await pool.query(`update aggregator.supplier_slots set holder = 'dead', held_until = now() + interval '1 hour'`);
    const waiting = instance().get('/organisations', {}, never);
    const outcome = await Promise.race([waiting, new Promise((resolve) => setTimeout(() => resolve('waits'), 300))]);
    expect(outcome).toBe('waits');
    expect(supplier.calls).toEqual([]);
    await pool.query(`update aggregator.supplier_slots set held_until = now() where slot = 3`);
    await waiting;
    expect(supplier.calls).toHaveLength(1);
    await pool.query(`update aggregator.supplier_slots set holder = null, held_until = null`);
  });

  it('stop waiting for a slot when they are aborted', async () => {
    await pool.query(`update aggregator.supplier_slots set holder = 'other', held_until = now() + interval '1 hour'`);
    const stop = new AbortController();
    const waiting = instance().get('/organisations', {}, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await pool.query(`update aggregator.supplier_slots set holder = null, held_until = null`);
  });
});
