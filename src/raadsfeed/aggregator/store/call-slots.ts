import { randomUUID } from 'node:crypto';
import type { QueryResultRow } from 'pg';
import type { Db } from '../../../database/transaction.ts';
import type { Logger } from '../../../lib/log.ts';
import type { CallSlots } from '../supplier/supplier-client.ts';

/** Up to half as much is added at random, so that no process is always last. */
const RETRY_MS = 100;

interface CallLimits {
  readonly atOnce: number;
  /** A process that died frees its slot after this; a longer call renews its own. */
  readonly slotSeconds: number;
  /** Spread evenly; absent: no limit. */
  readonly perMinute?: number;
}

/** Call slots of a supplier or one of its hosts, in the database and by its clock. @see docs/decisions/0025-one-reader-for-each-source.md */
export function createCallSlots(db: Db, supplier: string, limits: CallLimits, log: Logger): CallSlots {
  const { atOnce, slotSeconds, perMinute } = limits;
  const warn = (message: string) => (error: unknown) => log.warn({ err: error, supplier }, message);
  const run = <R extends QueryResultRow>(text: string, ...values: readonly unknown[]) =>
    db.query<R>(text, [supplier, ...values]);
  const spacingMs = perMinute === undefined ? 0 : 60_000 / perMinute;
  let exist = false;
  return {
    async acquire() {
      if (!exist) {
        await run(ENSURE_SLOTS, atOnce);
        await run(ENSURE_PACE);
      }
      exist = true;
      const holder = randomUUID();
      const { rows } = await run<SlotAnswer>(ACQUIRE, holder, slotSeconds, spacingMs);
      const { slot = null, pausedMs = 0, blocked = null } = rows[0] ?? {};
      if (blocked !== null) return { blocked };
      if (slot === null) return { waitMs: pausedMs > 0 ? pausedMs : RETRY_MS * (1 + Math.random() / 2) };
      const renewal = setInterval(
        () => run(RENEW, holder, slotSeconds).catch(warn('a call slot cannot be renewed')),
        (slotSeconds * 1000) / 3,
      ).unref();
      const release = async (): Promise<void> => {
        clearInterval(renewal);
        await run(RELEASE, holder).catch(warn('a call slot cannot be released'));
      };
      return { release };
    },
    async pauseFor(ms) {
      await run(PAUSE, ms).catch(warn('a pause of a supplier cannot be shared'));
    },
    async block(reason) {
      await run(BLOCK, reason);
    },
  };
}

const ENSURE_SLOTS = `
  insert into aggregator.supplier_slots (supplier, slot)
  select $1::text, n from generate_series(1, $2::integer) n on conflict do nothing`;
const ENSURE_PACE = `
  insert into aggregator.supplier_pace (supplier, next_at) values ($1::text, now()) on conflict do nothing`;

interface SlotAnswer {
  readonly slot: number | null;
  readonly pausedMs: number;
  readonly blocked: string | null;
}

const ACQUIRE = `
  with block as (
    select reason from aggregator.supplier_blocks where supplier = $1::text
  ), pause as (
    select extract(epoch from max(until) - now())::double precision * 1000 as ms
      from (select paused_until from aggregator.supplier_pauses where supplier = $1::text
            union all select next_at from aggregator.supplier_pace where supplier = $1::text) p (until)
     where until > now()
  ), free as materialized (
    select slot from aggregator.supplier_slots
     where supplier = $1::text and (held_until is null or held_until < now())
       and not exists (select from block) and not exists (select from pause where ms is not null)
     order by slot
     limit 1
       for update skip locked
  ), paced as (
    -- Of two that are here together the second waits for the first, and then finds that it is too early.
    update aggregator.supplier_pace
       set next_at = now() + make_interval(secs => $4::double precision / 1000)
     where supplier = $1::text and next_at <= now() and $4::double precision > 0 and exists (select from free)
  returning 1
  ), taken as (
    update aggregator.supplier_slots s set holder = $2::text, held_until = now() + make_interval(secs => $3::integer)
      from free
     where s.supplier = $1::text and s.slot = free.slot
       and ($4::double precision = 0 or exists (select from paced))
  returning s.slot
  )
  select (select slot from taken) as slot, coalesce((select ms from pause), 0) as "pausedMs",
         (select reason from block) as blocked`;
const RENEW = `
  update aggregator.supplier_slots set held_until = now() + make_interval(secs => $3::integer)
   where supplier = $1::text and holder = $2::text`;
const RELEASE = `
  update aggregator.supplier_slots set holder = null, held_until = null where supplier = $1::text and holder = $2::text`;
const PAUSE = `
  insert into aggregator.supplier_pauses as r (supplier, paused_until)
  values ($1::text, now() + make_interval(secs => $2::double precision / 1000))
      on conflict (supplier) do update set paused_until = greatest(r.paused_until, excluded.paused_until)`;
/** Until an operator resumes the supplier; the first reason stays. */
const BLOCK = `
  insert into aggregator.supplier_blocks (supplier, reason) values ($1::text, $2::text) on conflict (supplier) do nothing`;

export async function readBlock(db: Db, supplier: string): Promise<string | undefined> {
  const text = 'select reason from aggregator.supplier_blocks where supplier = $1::text';
  return (await db.query<{ reason: string }>(text, [supplier])).rows[0]?.reason;
}

/** Its sources are due at once. @returns false when it was not blocked */
export async function resumeSupplier(db: Db, supplier: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from aggregator.supplier_blocks where supplier = $1::text', [supplier]);
  await db.query(
    `update aggregator.sources set next_at = now() where kind = 'leveranciers-api' and split_part(address, ':', 1) = $1::text`,
    [supplier],
  );
  return (rowCount ?? 0) > 0;
}
