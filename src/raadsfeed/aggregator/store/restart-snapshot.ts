import type { Db } from '../../../kernel/database/db.ts';
import { type Lease, LeaseLostError } from '../source.ts';
import { forgetSeen } from './seen.ts';

/** Begins the snapshot of a source anew; `compare`: what is not seen in it is gone. @throws {LeaseLostError} */
export async function restartSnapshot(db: Db, { source, number }: Lease, compare: boolean): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-restart-snapshot',
    text: `update aggregator.bron
              set fase = 'stand', vergelijken = $3::boolean, stand_cursor = null, stand_feed_cursor = null, cursor = null, etag = null,
                  laatste_nummer = null, hervergelijken = null, stand_begonnen = now()
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number, compare],
  });
  if (rowCount !== 1) throw new LeaseLostError();
  await forgetSeen(db, source.id);
}
