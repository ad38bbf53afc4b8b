import type { Db } from '../../kernel/database/db.ts';
import type { FeedPosition } from '../domain/cursor.ts';

/** The channel on which every instance hears that the feed has changed. */
export const FEED_CHANNEL = 'raadsfeed';

/** Moves the head and tells every instance, at the commit. `redactions`: how many changes of earlier records go with it. */
export async function moveHead(db: Db, head: FeedPosition, storedAt: Date, redactions: number): Promise<void> {
  await db.query({
    name: 'raadsfeed-move-head',
    text: `with verzet as (
             update raadsfeed.feed
                set head = $1::bigint, head_merk = $2::integer, laatst_opgeslagen = $3::timestamptz, redacties = redacties + $4::bigint
             returning head, redacties
           )
           select pg_notify('raadsfeed', head || ' ' || redacties) from verzet`,
    values: [head.sequenceNumber, head.merk, storedAt.toISOString(), redactions],
  });
}
