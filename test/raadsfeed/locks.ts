import pg from 'pg';

export interface LockHolder {
  query(text: string): Promise<unknown>;
  /** Number of sessions waiting for the table. */
  waiting(): Promise<number>;
}

/** Runs work while holding an exclusive lock on a table; its changes are committed when the lock is released. */
export async function withLock<T>(
  databaseUrl: string,
  table: string,
  work: (client: LockHolder) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`begin; lock table ${table} in access exclusive mode`);
    const result = await work({
      query: (text) => client.query(text),
      waiting: async () => {
        const { rowCount } = await client.query('select from pg_locks where not granted and relation = $1::regclass', [
          table,
        ]);
        return rowCount ?? 0;
      },
    });
    await client.query('commit');
    return result;
  } finally {
    await client.end();
  }
}

/** The effect of pruning up to and including a number, all at once. */
export function pruneTo(number: number): string {
  return `update raadsfeed.feed
             set history_after = ${number}, redactions = redactions + 1,
                 history_after_epoch = (select epoch from raadsfeed.texts where sequence_number = ${number});
          delete from raadsfeed.texts t where sequence_number <= ${number}
             and not exists (select from raadsfeed.current_records s where s.sequence_number = t.sequence_number);
          delete from raadsfeed.records r where sequence_number <= ${number}
             and not exists (select from raadsfeed.current_records s where s.sequence_number = r.sequence_number);
          notify raadsfeed`;
}
