/** The partitions of the texts: 100 000 numbers each, created ahead, and rewritten when something was removed from them. */
import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
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

/** Marks the partitions of these numbers: something was removed from them. */
export async function markForRewrite(db: Db, numbers: readonly number[]): Promise<void> {
  await db.query({
    name: 'raadsfeed-note-removed',
    text: `insert into raadsfeed.pending_rewrites as p (first_number)
           select unnest($1::bigint[])
            order by 1
               on conflict (first_number) do update set changes = p.changes + 1`,
    values: [[...new Set(numbers.map(firstOfPartition))]],
  });
}

/** Milliseconds that one table may take. */
const REWRITE_TIMEOUT_MS = 600_000;
/** Another removal makes a copy worthless; after so many the rest is left to the next run. */
const MOST_ATTEMPTS = 20;

/**
 * Rewrites the files of all partitions that held what a redaction or pruning removed, each in a transaction of its own. Readers and
 * writers go on meanwhile.
 * @returns how many partitions were rewritten
 * @throws when a reader keeps a partition open for longer than twenty seconds; it stays to be done
 */
export async function rewritePartitions(pool: Pool): Promise<number> {
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

const rewritePartition = (pool: Pool, first: number): Promise<string | undefined> =>
  rewriteFiles(pool, 'select raadsfeed.rewrite_text_partition($1::bigint) as outcome', [first]);

/** Rewrites a table in a transaction of its own. @returns the outcome that the function of the database says */
export async function rewriteFiles(
  pool: Pool,
  statement: string,
  values: readonly unknown[],
): Promise<string | undefined> {
  return transaction(pool, async (client) => {
    const db = await allowLongStatements(client, REWRITE_TIMEOUT_MS);
    const { rows } = await db.query<{ outcome: string }>(statement, [...values]);
    return rows[0]?.outcome;
  });
}
