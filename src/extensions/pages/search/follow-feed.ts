/** How the search index follows the feed. */
import type { Pool } from '../../../database/pool.ts';
import type { Db } from '../../../database/transaction.ts';
import { type FeedIndex, followFeed, MOST_REMOVED, readIndexPosition } from '../../../raadsfeed/store/follow-index.ts';
import { toEntry } from './entry.ts';
import { writeIndex } from './write-index.ts';

const INDEX: FeedIndex = {
  schema: 'pages',
  stepRecords: 500,
  write: (db, changes) =>
    writeIndex(
      db,
      changes.map(({ data, ...change }) => ({
        ...change,
        entry: data && toEntry(change.resourceType, change.resource, data),
      })),
    ),
  async begin(db) {
    let isDone = true;
    for (const table of ['items', 'links']) {
      const { rowCount } = await db.query(
        `delete from pages.${table} where ctid = any (array(select ctid from pages.${table} limit ${MOST_REMOVED}))`,
      );
      isDone &&= (rowCount ?? 0) < MOST_REMOVED;
    }
    return isDone;
  },
  scanned: dropStrays,
};

/** @see followFeed */
export const followStep = (pool: Pool): ReturnType<typeof followFeed> => followFeed(pool, INDEX);

/** How far the index is. */
export interface IndexState {
  /** Number of the last record that was taken in. */
  readonly position: number;
  /** Records of the current state that are still to be taken in: an upper bound. */
  readonly toScan: number;
}

export async function readIndexState(db: Db): Promise<IndexState> {
  const found = await readIndexPosition(db, INDEX);
  return { position: found?.nummer ?? 0, toScan: found === undefined ? 0 : found.scanTot - found.scanNa };
}

/** Entries of what is not there any more: none, unless somebody changed the tables by hand. */
async function dropStrays(db: Db): Promise<void> {
  await db.query(
    `delete from pages.items s where not exists (select from raadsfeed.current_records t where t.sequence_number = s.nummer)`,
  );
}

/** Has the whole current state taken in again, while the index is in use. */
export async function startReindex(db: Db): Promise<void> {
  await db.query(
    `update pages.position set scan_after = 0, scan_to = greatest(nummer, 1), feed_id = case when nummer = 0 then '' else feed_id end`,
  );
}
