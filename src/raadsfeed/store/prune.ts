import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import { lockFeedRow, moveBeginning } from './records.ts';
import { markForRewrite } from './text-partitions.ts';

const STEP = 20_000;

/** Within it every instance knows the beginning of the history, or answers 503. */
const KNOWN_MS = 1000;

/**
 * Milliseconds between the move of the history and the first removed row: by then every instance knows of the move, and earlier reads have ended.
 * @param statementTimeoutMs of the service's reads; 0: without a limit, which counts as a minute
 */
export function pruneGraceMs(statementTimeoutMs: number): number {
  return KNOWN_MS + (statementTimeoutMs === 0 ? 60_000 : statementTimeoutMs);
}

export interface PruneOptions {
  readonly before: Date;
  readonly graceMs: number;
  readonly signal: AbortSignal;
  readonly proof?: ProofWriter | undefined;
  readonly progress: (done: number, of: number) => void;
}

/**
 * Drops the history stored before a given time, never current state, and moves `historieVanaf`. First the beginning of the history moves, so that no
 * reader finds a gap; the rows are removed in steps, after `graceMs`. The next run finishes an interrupted one.
 * @returns `upTo`: the history up to and including this number is gone; current records stay readable in the snapshot
 */
export async function pruneHistory(pool: Pool, { before, graceMs, signal, proof, progress }: PruneOptions) {
  const upTo = await transaction(pool, (db) => moveHistory(db, before));
  await sleep(graceMs, undefined, { signal });
  let removed = 0;
  for (let from = 0; from < upTo; from += STEP) {
    signal.throwIfAborted();
    const end = Math.min(from + STEP, upTo);
    removed += await removeRange(pool, from, end, proof);
    progress(end, upTo);
  }
  return { upTo, removed };
}

/** Moves the beginning of the history past the last number that was stored before a given time; `storedAt` never goes back. */
async function moveHistory(db: Db, before: Date): Promise<number> {
  const { rows } = await db.query<{ isFuture: boolean; number: number | null; epoch: number | null }>(
    `select $1::timestamptz > clock_timestamp() as "isFuture", last.number, epoch
       from (select max(sequence_number) as number from raadsfeed.records where stored_at < $1::timestamptz) last
       left join raadsfeed.texts on sequence_number = last.number`,
    [before.toISOString()],
  );
  const [{ isFuture, number, epoch } = { isFuture: true, number: null, epoch: null }] = rows;
  if (isFuture)
    throw new Error(`${before.toISOString()} is in the future by the database's clock: nothing was removed`);
  const { historyAfter } = await lockFeedRow(db);
  if (number === null || number <= historyAfter.sequenceNumber) return historyAfter.sequenceNumber;
  await moveBeginning(db, { sequenceNumber: number, epoch: epoch ?? 0 }, before);
  return number;
}

async function removeRange(pool: Pool, after: number, upTo: number, proof: ProofWriter | undefined): Promise<number> {
  return transaction(pool, async (client) => {
    const { rows } = await client.query<{ number: number }>(
      `with gone as (
         delete from raadsfeed.records r
          where r.sequence_number > $1::bigint and r.sequence_number <= $2::bigint
            and not exists (select from raadsfeed.current_records s where s.sequence_number = r.sequence_number)
         returning r.sequence_number
       ), texts as (
         delete from raadsfeed.texts t using gone
          where t.sequence_number = gone.sequence_number
            and t.sequence_number > $1::bigint and t.sequence_number <= $2::bigint
       )
       select sequence_number as number from gone`,
      [after, upTo],
    );
    const numbers = rows.map(({ number }) => number);
    if (numbers.length > 0) await markForRewrite(client, numbers);
    await proof?.remove(client, { kind: 'opschoning', at: new Date(), by: 'feed prune', numbers });
    return numbers.length;
  });
}
