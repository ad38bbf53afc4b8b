/** How the index of what is offered follows the feed; documents keep their places throughout. */
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { type FeedChange, type FeedIndex, followFeed, readIndexPosition } from '../../raadsfeed/store/follow-index.ts';
import { toItemState, toOffer } from './offer.ts';
import { dropStrays, type IndexChange, writeIndex } from './write-index.ts';

const INDEX: FeedIndex = {
  schema: 'diwoo',
  stepRecords: 1000,
  write: (db, changes) => writeIndex(db, changes.flatMap(toChange)),
  begin: dropStrays,
};

/** @see followFeed */
export const followStep = (pool: Pool): ReturnType<typeof followFeed> => followFeed(pool, INDEX);

/** Whether all of the current state was taken in: before that, what is offered says too little. */
export async function isComplete(db: Db): Promise<boolean> {
  const found = await readIndexPosition(db, INDEX);
  return found === undefined || (found.feedId !== '' && found.scanNa >= found.scanTot);
}

function toChange({ data, resourceType, ...base }: FeedChange): IndexChange[] {
  if (resourceType === 'Informatieobject') {
    return [{ ...base, resourceType, offer: data && toOffer(base.resource.organisatiecode, data) }];
  }
  return resourceType === 'Agendapunt' ? [{ ...base, resourceType, item: data && toItemState(data) }] : [];
}
