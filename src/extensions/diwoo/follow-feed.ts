/** How the index of what is offered follows the feed; documents keep their places throughout. */
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { type FeedIndex, followFeed, readIndexPosition } from '../../raadsfeed/store/follow-index.ts';
import { dropStrays, writeIndex } from './write-index.ts';

const INDEX: FeedIndex = { schema: 'diwoo', stepRecords: 1000, write: writeIndex, begin: dropStrays };

/** @see followFeed */
export const followStep = (pool: Pool): ReturnType<typeof followFeed> => followFeed(pool, INDEX);

/** Whether all of the current state was taken in: before that, what is offered says too little. */
export async function isComplete(db: Db): Promise<boolean> {
  const found = await readIndexPosition(db, INDEX);
  return found === undefined || (found.feedId !== '' && found.scanNa >= found.scanTot);
}
