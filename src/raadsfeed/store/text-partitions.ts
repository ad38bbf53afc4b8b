/** The partitions of the texts: 100 000 numbers each, made ahead, and written anew when something was removed from them. */

import type { Pool } from '../../kernel/database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../kernel/database/transaction.ts';
import type { FeedRow } from './feed-row.ts';

/** As migration 0040 has it. */
export const PARTITION_NUMBERS = 100_000;

/** Makes sure that numbers up to and including one have a partition, and the next ones too. The caller has locked the feed. */
export async function ensureTextPartitions(db: Db, { partitionedTo }: FeedRow, upTo: number): Promise<void> {
  if (upTo + PARTITION_NUMBERS / 2 < partitionedTo) return;
  await db.query('select raadsfeed.ensure_text_partitions($1::bigint)', [upTo + PARTITION_NUMBERS]);
}

/** First number of the partition that a number lies in. */
export function firstOfPartition(sequenceNumber: number): number {
  return sequenceNumber - (sequenceNumber % PARTITION_NUMBERS);
}

/** Notes that something was removed from the partitions of these numbers. */
export async function noteRemoved(db: Db, numbers: readonly number[]): Promise<void> {
  await db.query({
    name: 'raadsfeed-note-removed',
    text: `insert into raadsfeed.pending_rewrites as p (first_number)
           select unnest($1::bigint[])
            order by 1
               on conflict (first_number) do update set changes = p.changes + 1`,
    values: [[...new Set(numbers.map(firstOfPartition))]],
  });
}

/** Longest that one partition may take, in milliseconds. */
const REWRITE_TIMEOUT_MS = 600_000;
/** Others may go on removing; who is beaten so often leaves the rest to the next time. */
const MOST_ATTEMPTS = 20;

/**
 * Writes the files of all partitions anew that held what a redaction or pruning removed, each in a transaction of its own. Readers and
 * writers go on meanwhile.
 * @returns how many partitions were written anew
 * @throws when a reader keeps a partition open for longer than ten seconds; it is still to be done then
 */
export async function rewriteParts(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ first: number }>(
    'select first_number as first from raadsfeed.pending_rewrites order by since',
  );
  let written = 0;
  for (const { first } of rows) {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const outcome = await rewritePartition(pool, first);
      if (outcome === 'done') written += 1;
      if (outcome !== 'again') break;
    }
  }
  return written;
}

async function rewritePartition(pool: Pool, first: number): Promise<string | undefined> {
  return transaction(pool, async (client) => {
    const db = await allowLongStatements(client, REWRITE_TIMEOUT_MS);
    const { rows } = await db.query<{ outcome: string }>(
      'select raadsfeed.rewrite_text_partition($1::bigint) as outcome',
      [first],
    );
    return rows[0]?.outcome;
  });
}
