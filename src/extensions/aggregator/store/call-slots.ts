import { randomUUID } from 'node:crypto';
import type { Db } from '../../../database/transaction.ts';
import type { Logger } from '../../../lib/log.ts';
import type { CallSlots } from '../supplier/supplier-client.ts';

/** Seconds after which the slot of a process that died is free again: longer than any call takes. */
const SLOT_SECONDS = 120;
/** Milliseconds between attempts to acquire a slot; up to half as much is added at random, so that no process is always last. */
const RETRY_MS = 100;

/**
 * The call slots of a supplier or of one of its hosts, kept in the database: `limit` calls at a time. Times are the database's own.
 *
 * @see docs/decisions/0025-one-reader-for-each-source.md
 */
export function createCallSlots(db: Db, leverancier: string, limit: number, log: Logger): CallSlots {
  const warn = (message: string) => (error: unknown) => log.warn({ err: error, supplier: leverancier }, message);
  let exist = false;
  return {
    async acquire() {
      if (!exist) await ensureSlots(db, leverancier, limit);
      exist = true;
      const holder = randomUUID();
      const { slot, pausedMs } = await acquireSlot(db, leverancier, holder);
      if (slot === null) return { waitMs: pausedMs > 0 ? pausedMs : RETRY_MS * (1 + Math.random() / 2) };
      const release = (): Promise<void> =>
        releaseSlot(db, leverancier, holder).catch(warn('a call slot cannot be released'));
      return { release };
    },
    pauseFor: (ms) => pauseSupplier(db, leverancier, ms).catch(warn('a pause of a supplier cannot be shared')),
  };
}

async function ensureSlots(db: Db, leverancier: string, limit: number): Promise<void> {
  await db.query(
    `insert into aggregator.supplier_slots (leverancier, beurt)
     select $1::text, n from generate_series(1, $2::integer) n on conflict do nothing`,
    [leverancier, limit],
  );
}

/** @returns the slot, if one was free, and for how many milliseconds the supplier may not be called */
async function acquireSlot(
  db: Db,
  leverancier: string,
  holder: string,
): Promise<{ slot: number | null; pausedMs: number }> {
  const { rows } = await db.query<{ slot: number | null; pausedMs: number }>({
    name: 'aggregator-acquire-slot',
    text: `with rust as (
             select extract(epoch from tot - now())::double precision * 1000 as ms
               from aggregator.supplier_pauses where leverancier = $1::text and tot > now()
           ), vrij as materialized (
             select beurt from aggregator.supplier_slots
              where leverancier = $1::text and (tot is null or tot < now()) and not exists (select from rust)
              order by beurt
              limit 1
                for update skip locked
           ), genomen as (
             update aggregator.supplier_slots b set houder = $2::text, tot = now() + make_interval(secs => $3::integer)
               from vrij
              where b.leverancier = $1::text and b.beurt = vrij.beurt
          returning b.beurt
           )
           select (select beurt from genomen) as slot, coalesce((select ms from rust), 0) as "pausedMs"`,
    values: [leverancier, holder, SLOT_SECONDS],
  });
  return rows[0] ?? { slot: null, pausedMs: 0 };
}

async function releaseSlot(db: Db, leverancier: string, holder: string): Promise<void> {
  await db.query({
    name: 'aggregator-release-slot',
    text: `update aggregator.supplier_slots set houder = null, tot = null
            where leverancier = $1::text and houder = $2::text`,
    values: [leverancier, holder],
  });
}

async function pauseSupplier(db: Db, leverancier: string, ms: number): Promise<void> {
  await db.query({
    name: 'aggregator-pause-supplier',
    text: `insert into aggregator.supplier_pauses as r (leverancier, tot)
           values ($1::text, now() + make_interval(secs => $2::double precision / 1000))
               on conflict (leverancier) do update set tot = greatest(r.tot, excluded.tot)`,
    values: [leverancier, ms],
  });
}
