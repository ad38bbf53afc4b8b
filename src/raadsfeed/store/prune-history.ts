import type { Pool } from '../../kernel/database/pool.ts';
import { transaction } from '../../kernel/database/transaction.ts';
import { settled } from '../settling.ts';
import { lockFeedRow } from './read-feed-row.ts';

/** Numbers that one transaction goes through. */
const STEP = 20_000;

export interface Pruned {
  /** The history up to and including this number is gone; what was current stays readable in the snapshot. */
  readonly upTo: number;
  readonly removed: number;
}

export interface PruneOptions {
  readonly before: Date;
  readonly signal: AbortSignal;
  readonly progress: (done: number, of: number) => void;
}

/** How far pruning before a moment would go: the last number stored before it. `storedAt` never goes back, so one number says it all. */
export async function findPruneEnd(pool: Pool, before: Date): Promise<number> {
  const { rows } = await pool.query<{ last: number | null }>(
    `select max(sequence_number) as last from raadsfeed.record where opgeslagen < $1::timestamptz`,
    [before.toISOString()],
  );
  return rows[0]?.last ?? 0;
}

/**
 * Drops the history stored before a moment, never current state, and moves `historieVanaf`. First the beginning of the history moves, so
 * that no reader meets a hole; once all have seen that the rows go, in steps. Interrupted, it is finished by the next time.
 * @throws the signal's reason
 */
export async function pruneHistory(pool: Pool, { before, signal, progress }: PruneOptions): Promise<Pruned> {
  const upTo = await moveBeginning(pool, await findPruneEnd(pool, before), before);
  await settled(performance.now());
  let removed = 0;
  for (let from = 0; from < upTo; from += STEP) {
    signal.throwIfAborted();
    removed += await removeRange(pool, from, Math.min(from + STEP, upTo));
    progress(Math.min(from + STEP, upTo), upTo);
  }
  return { upTo, removed };
}

async function moveBeginning(pool: Pool, wanted: number, before: Date): Promise<number> {
  return transaction(pool, async (client) => {
    const feed = await lockFeedRow(client);
    if (wanted <= feed.historyAfter.sequenceNumber) return feed.historyAfter.sequenceNumber;
    await client.query(
      `with verzet as (
         update raadsfeed.feed
            set historie_na = $1::bigint, historie_vanaf = $2::timestamptz, redacties = redacties + 1,
                historie_na_merk = (select merk from raadsfeed.tekst where deel = ($1::bigint >> 12) & 31 and sequence_number = $1::bigint)
         returning head, redacties
       )
       select pg_notify('raadsfeed', head || ' ' || redacties) from verzet`,
      [wanted, before.toISOString()],
    );
    return wanted;
  });
}

async function removeRange(pool: Pool, after: number, upTo: number): Promise<number> {
  return transaction(pool, async (client) => {
    const { rows } = await client.query<{ removed: number }>(
      `with weg as (
         delete from raadsfeed.record r
          where r.sequence_number > $1::bigint and r.sequence_number <= $2::bigint
            and not exists (select from raadsfeed.stand s where s.sequence_number = r.sequence_number)
         returning r.sequence_number
       ), teksten as (
         delete from raadsfeed.tekst t using weg
          where t.deel = (weg.sequence_number >> 12) & 31 and t.sequence_number = weg.sequence_number
       ), delen as (
         insert into raadsfeed.opruimen (deel)
         select distinct ((sequence_number >> 12) & 31)::smallint from weg
             on conflict (deel) do nothing
       )
       select count(*) as removed from weg`,
      [after, upTo],
    );
    return rows[0]?.removed ?? 0;
  });
}
