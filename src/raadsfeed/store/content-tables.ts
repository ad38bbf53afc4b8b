/** Tables beside the feed that hold content of it: extensions register them in `raadsfeed.content_tables`, see migration 0127. */
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { rewriteFiles } from './text-partitions.ts';

/** Marks all registered tables: a redaction, of which this is the last number, removed content. */
export async function markContentTables(db: Db, redactedAt: number): Promise<void> {
  await db.query({
    name: 'raadsfeed-mark-content-tables',
    text: 'update raadsfeed.content_tables set redacted_at = $1::bigint',
    values: [redactedAt],
  });
}

/**
 * Rewrites the files of the tables that held what was redacted, each in a transaction of its own, as soon as they have followed the feed
 * that far.
 * @returns the tables whose files may still hold redacted content, with their schemas
 * @throws when a reader keeps a table open for longer than twenty seconds; it stays to be done
 */
export async function rewriteContentTables(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ schema: string; name: string }>(
    `select schema_name as schema, table_name as name from raadsfeed.content_tables where redacted_at > rewritten_to order by 1, 2`,
  );
  const waiting: string[] = [];
  for (const { schema, name } of rows) {
    const statement = 'select raadsfeed.rewrite_content_table($1::text, $2::text) as outcome';
    const outcome = await rewriteFiles(pool, statement, [schema, name]);
    if (outcome !== 'done' && outcome !== 'nothing') waiting.push(`${schema}.${name}`);
  }
  return waiting;
}

/** Milliseconds between checks whether an extension has followed the feed, and how long it may take. */
const POLL_MS = 500;
const WAIT_MS = 60_000;

/**
 * Waits until no table of an extension holds redacted content any more.
 * @returns the tables that may still hold it after a minute
 */
export async function awaitContentTables(pool: Pool, signal: AbortSignal): Promise<string[]> {
  for (let waited = 0; ; waited += POLL_MS) {
    const waiting = await rewriteContentTables(pool);
    if (waiting.length === 0 || waited >= WAIT_MS || signal.aborted) return waiting;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
