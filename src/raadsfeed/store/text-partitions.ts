/** The partitions of the texts: 100 000 numbers each, created ahead, and rewritten after removals. */
import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import type { FeedRow } from './records.ts';

/** As `raadsfeed.ensure_text_partitions` has it. */
export const PARTITION_NUMBERS = 100_000;

/** Ensures that numbers up to and including one have a partition, and the next ones too. The caller has locked the feed. */
export async function ensureTextPartitions(db: Db, { partitionedTo }: FeedRow, upTo: number): Promise<void> {
  if (upTo + PARTITION_NUMBERS / 2 < partitionedTo) return;
  await db.query('select raadsfeed.ensure_text_partitions($1::bigint)', [upTo + PARTITION_NUMBERS]);
}

export function firstOfPartition(sequenceNumber: number): number {
  return sequenceNumber - (sequenceNumber % PARTITION_NUMBERS);
}

export async function markForRewrite(db: Db, numbers: readonly number[]): Promise<void> {
  await db.query(
    `insert into raadsfeed.pending_rewrites as p (first_number)
     select unnest($1::bigint[])
      order by 1
         on conflict (first_number) do update set changes = p.changes + 1`,
    [[...new Set(numbers.map(firstOfPartition))]],
  );
}

const REWRITE_TIMEOUT_MS = 600_000;
/** Another removal makes a copy worthless; after this number the rest is left to the next run. */
const MOST_ATTEMPTS = 20;

function rewriteFiles(pool: Pool, call: string, values: readonly unknown[]): Promise<string | undefined> {
  return transaction(pool, async (client) => {
    const db = await allowLongStatements(client, REWRITE_TIMEOUT_MS);
    const { rows } = await db.query<{ outcome: string }>(`select raadsfeed.${call} as outcome`, [...values]);
    return rows[0]?.outcome;
  });
}

/**
 * Rewrites the files of all partitions that held redacted or pruned records, each in a transaction of its own, beside readers and writers.
 * @returns how many partitions were rewritten
 * @throws when a reader keeps a partition open for too long
 */
export async function rewritePartitions(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ first: number }>(
    'select first_number as first from raadsfeed.pending_rewrites order by since',
  );
  let written = 0;
  for (const { first } of rows) {
    let outcome: string | undefined = 'again';
    for (let attempt = 0; attempt < MOST_ATTEMPTS && outcome === 'again'; attempt += 1)
      outcome = await rewriteFiles(pool, 'rewrite_text_partition($1::bigint)', [first]);
    if (outcome === 'done') written += 1;
  }
  return written;
}

/** Marks the feature tables registered in `raadsfeed.content_tables`: a redaction, of which this is the last number, removed content. */
export async function markContentTables(db: Db, redactedAt: number): Promise<void> {
  await db.query('update raadsfeed.content_tables set redacted_at = $1::bigint', [redactedAt]);
}

/** The same for feature tables, once they have followed the feed that far. @returns those whose files may still hold redacted content */
export async function rewriteContentTables(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ schema: string; name: string }>(
    `select schema_name as schema, table_name as name from raadsfeed.content_tables where redacted_at > rewritten_to order by 1, 2`,
  );
  const waiting: string[] = [];
  for (const { schema, name } of rows) {
    const outcome = await rewriteFiles(pool, 'rewrite_content_table($1::text, $2::text)', [schema, name]);
    if (outcome !== 'done' && outcome !== 'nothing') waiting.push(`${schema}.${name}`);
  }
  return waiting;
}
