/** How the index of what is offered follows the feed; documents keep their places throughout. */
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { type FeedIndex, followFeed, readIndexPosition } from '../../raadsfeed/store/follow-index.ts';
import { toItemState, toOffer } from './offer.ts';
import { dropStrays, type IndexChange, writeIndex } from './write-index.ts';

const INDEX: FeedIndex = {
  schema: 'raadsfeed_diwoo',
  stepRecords: 1000,
  write: (db, texts) => writeIndex(db, texts.flatMap(toChange)),
  begin: dropStrays,
};

/** @see followFeed */
export const followStep = (pool: Pool): ReturnType<typeof followFeed> => followFeed(pool, INDEX);

/** Whether all of the current state was taken in: before that, what is offered says too little. */
export async function isComplete(db: Db): Promise<boolean> {
  const found = await readIndexPosition(db, INDEX);
  return found === undefined || (found.feedId !== '' && found.scanNa >= found.scanTot);
}

/** @param text a record as the feed has it */
function toChange(text: string): IndexChange[] {
  const record: unknown = JSON.parse(text);
  if (!isRecord(record) || !isRecord(record.resource)) throw new Error('a record of the feed cannot be read');
  const { resourceType, data } = record;
  const resource = {
    organisatiecode: String(record.resource.organisatiecode),
    bronidentificatie: String(record.resource.bronidentificatie),
  };
  const base = {
    ...{ resource, sequenceNumber: Number(record.sequenceNumber) },
    storedAt: new Date(String(record.storedAt)),
  };
  const present = record.op === 'upsert' && isRecord(data) ? data : undefined;
  if (resourceType === 'Informatieobject') {
    return [{ ...base, resourceType, offer: present && toOffer(resource.organisatiecode, present) }];
  }
  if (resourceType === 'Agendapunt') return [{ ...base, resourceType, item: present && toItemState(present) }];
  return [];
}
