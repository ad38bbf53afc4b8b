import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../database/pool.ts';
import { transaction } from '../../database/transaction.ts';
import type { ProofWriter } from '../../seams/proof-log.ts';
import { lockFeedRow, moveBeginning } from './feed-row.ts';
import { markForRewrite } from './text-partitions.ts';

/** Numbers that one transaction goes through. */
const STEP = 20_000;

export interface Pruned {
  /** The history up to and including this number is gone; what was current stays readable in the snapshot. */
  readonly upTo: number;
  readonly removed: number;
}

/** Milliseconds within which every instance knows where the history begins, or answers 503. */
const KNOWN_MS = 1000;

/**
 * Milliseconds between the move of the history and the first row that goes: every instance knows of the move by then, and earlier reads
 * have ended.
 * @param statementTimeoutMs of the service's reads; 0: without a limit, which counts as a minute
 */
export function pruneGraceMs(statementTimeoutMs: number): number {
  return KNOWN_MS + (statementTimeoutMs === 0 ? 60_000 : statementTimeoutMs);
}

export interface PruneOptions {
  readonly before: Date;
  /** Milliseconds between the move of the history and the first row that goes: `pruneGraceMs`. */
  readonly graceMs: number;
  readonly signal: AbortSignal;
  /** The proof log of the feed, when there is one. */
  readonly proof?: ProofWriter | undefined;
  readonly progress: (done: number, of: number) => void;
}

/**
 * How far pruning before a moment would go: the last number stored before it; `storedAt` never goes back. The clock of the database decides
 * whether the moment has passed: with that of a machine that is ahead, more would go than anybody meant.
 * @throws {Error} when the moment lies in the future
 */
export async function findPruneEnd(pool: Pool, before: Date): Promise<number> {
  const { rows } = await pool.query<{ last: number | null; isFuture: boolean }>(
    `select max(sequence_number) as last, $1::timestamptz > clock_timestamp() as "isFuture"
       from raadsfeed.record where stored_at < $1::timestamptz`,
    [before.toISOString()],
  );
  const [found] = rows;
  if (found?.isFuture !== false)
    throw new Error(`${before.toISOString()} lies in the future by the clock of the database: nothing was removed`);
  return found.last ?? 0;
}

/**
 * Drops the history stored before a moment, never current state, and moves `historieVanaf`. First the beginning of the history moves, so
 * that no reader meets a hole; the rows go in steps, after `graceMs`. A run that was interrupted is finished by the next one.
 * @throws the signal's reason
 */
export async function pruneHistory(
  pool: Pool,
  { before, graceMs, signal, proof, progress }: PruneOptions,
): Promise<Pruned> {
  const upTo = await moveTo(pool, await findPruneEnd(pool, before), before);
  await sleep(graceMs, undefined, { signal });
  let removed = 0;
  for (let from = 0; from < upTo; from += STEP) {
    signal.throwIfAborted();
    removed += await removeRange(pool, from, Math.min(from + STEP, upTo), proof);
    progress(Math.min(from + STEP, upTo), upTo);
  }
  return { upTo, removed };
}

async function moveTo(pool: Pool, wanted: number, before: Date): Promise<number> {
  return transaction(pool, async (client) => {
    const feed = await lockFeedRow(client);
    if (wanted <= feed.historyAfter.sequenceNumber) return feed.historyAfter.sequenceNumber;
    const { rows } = await client.query<{ epoch: number }>(
      'select epoch as epoch from raadsfeed.texts where sequence_number = $1::bigint',
      [wanted],
    );
    await moveBeginning(client, { sequenceNumber: wanted, epoch: rows[0]?.epoch ?? 0 }, before);
    return wanted;
  });
}

async function removeRange(pool: Pool, after: number, upTo: number, proof: ProofWriter | undefined): Promise<number> {
  return transaction(pool, async (client) => {
    const { rows } = await client.query<{ number: number }>(
      `with weg as (
         delete from raadsfeed.record r
          where r.sequence_number > $1::bigint and r.sequence_number <= $2::bigint
            and not exists (select from raadsfeed.current_records s where s.sequence_number = r.sequence_number)
         returning r.sequence_number
       ), teksten as (
         delete from raadsfeed.texts t using weg
          where t.sequence_number = weg.sequence_number
            and t.sequence_number > $1::bigint and t.sequence_number <= $2::bigint
       )
       select sequence_number as number from weg`,
      [after, upTo],
    );
    const numbers = rows.map(({ number }) => number);
    if (numbers.length > 0) await markForRewrite(client, numbers);
    await proof?.remove(client, { kind: 'opschoning', at: new Date(), by: 'feed prune', numbers });
    return numbers.length;
  });
}
