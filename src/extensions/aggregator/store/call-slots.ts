import { randomUUID } from 'node:crypto';
import type { Db } from '../../../database/transaction.ts';
import type { Logger } from '../../../lib/log.ts';
import type { CallSlot, CallSlots } from '../supplier/supplier-client.ts';

/** Seconds after which the slot of a process that died is free again. */
const SLOT_SECONDS = 30;

/**
 * The call slots of a supplier or of one of its hosts, kept in the database: `limit` calls at a time. Times are the database's own.
 *
 * @see docs/decisions/0025-one-reader-for-each-source.md
 */
export function createCallSlots(db: Db, leverancier: string, limit: number, log: Logger): CallSlots {
  const holder = randomUUID();
  let held = 0;
  let ready: Promise<void> | undefined;
  const warn = (message: string) => (error: unknown) => log.warn({ err: error, supplier: leverancier }, message);
  const renewal = setInterval(
    () => {
      if (held > 0) renewSlots(db, leverancier, holder).catch(warn('call slots cannot be renewed'));
    },
    (SLOT_SECONDS * 1000) / 3,
  ).unref();
  return {
    async acquire(): Promise<CallSlot> {
      ready ??= ensureSlots(db, leverancier, limit);
      await ready.catch((error: unknown) => {
        ready = undefined;
        throw error;
      });
      const { slot, pausedMs } = await acquireSlot(db, leverancier, holder);
      if (slot === null) return pausedMs > 0 ? { kind: 'paused', waitMs: pausedMs } : { kind: 'busy' };
      held += 1;
      const release = async (): Promise<void> => {
        held -= 1;
        await releaseSlot(db, { leverancier, slot, holder }).catch(warn('a call slot cannot be released'));
      };
      return { kind: 'acquired', release };
    },
    pauseFor: (ms) => pauseSupplier(db, leverancier, ms).catch(warn('a pause of a supplier cannot be shared')),
    close: () => clearInterval(renewal),
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

async function releaseSlot(
  db: Db,
  { leverancier, slot, holder }: { leverancier: string; slot: number; holder: string },
): Promise<void> {
  await db.query({
    name: 'aggregator-release-slot',
    text: `update aggregator.supplier_slots set houder = null, tot = null
            where leverancier = $1::text and beurt = $2::smallint and houder = $3::text`,
    values: [leverancier, slot, holder],
  });
}

async function renewSlots(db: Db, leverancier: string, holder: string): Promise<void> {
  await db.query({
    name: 'aggregator-renew-slots',
    text: `update aggregator.supplier_slots set tot = now() + make_interval(secs => $3::integer)
            where leverancier = $1::text and houder = $2::text`,
    values: [leverancier, holder, SLOT_SECONDS],
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
