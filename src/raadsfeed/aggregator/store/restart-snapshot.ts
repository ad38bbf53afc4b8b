import type { Db } from '../../../kernel/database/transaction.ts';
import { type Lease, LeaseLostError } from '../source.ts';
import { forgetRefused } from './refused.ts';
import { forgetSeen } from './seen.ts';

export interface Restart {
  /** What is not seen in the new snapshot is gone. */
  readonly compare: boolean;
  /**
   * Its history is read from the beginning: it does not know our place in it any more, or it was not read up to there for all that is
   * taken from it now.
   */
  readonly wholeHistory: boolean;
}

/**
 * Begins the snapshot of a source anew. The place in its feed that is given up with it is remembered, so that the redactions after it
 * are found in the history; also when what we have came from elsewhere: the source was removed and added again, it moved to another
 * address, or its organisations were another source's.
 * @throws {LeaseLostError}
 */
export async function restartSnapshot(db: Db, { source, number }: Lease, restart: Restart): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-restart-snapshot',
    text: `update aggregator.bron b
              set fase = 'stand',
                  vergelijken = $3::boolean or b.historie_lezen or b.cursor is not null or eigen.hoogste is not null, stand_cursor = null, stand_feed_cursor = null, cursor = null, etag = null,
                  laatste_nummer = null, hervergelijken = null, stand_begonnen = now(), voortgang = null, vooruit = null, hash_klopt = false,
                  historie_cursor = case when $4::boolean then null when b.historie_lezen then b.historie_cursor else b.cursor end,
                  historie_na = case when b.historie_lezen then b.historie_na else coalesce(b.laatste_nummer, eigen.hoogste) end,
                  -- Nothing of a feed was published before: no redaction of one can have been missed.
                  historie_sluit_aan = case when not eigen.van_feed then true when $4::boolean then null
                                            when b.historie_lezen then b.historie_sluit_aan when b.cursor is not null then true end,
                  historie_lezen = b.historie_lezen or b.cursor is not null or eigen.hoogste is not null or eigen.iets
             from (select (select max(herkomst_nummer) from raadsfeed.record
                            where herkomst_feed = (select feed_url from aggregator.bron where id = $1::integer)) as hoogste,
                          exists (select from raadsfeed.record r join aggregator.bron_organisatie o using (organisatiecode)
                                   where o.bron_id = $1::integer) as iets,
                          exists (select from raadsfeed.record r join aggregator.bron_organisatie o using (organisatiecode)
                                   where o.bron_id = $1::integer and r.herkomst_feed is not null) as van_feed) as eigen
            where b.id = $1::integer and b.huur_nummer = $2::bigint`,
    values: [source.id, number, restart.compare, restart.wholeHistory],
  });
  if (rowCount !== 1) throw new LeaseLostError();
  await forgetSeen(db, source.id);
  await forgetRefused(db, source.id);
}

/** Reads the history from its beginning: the source does not know our place in it. @throws {LeaseLostError} */
export async function restartHistory(db: Db, { source, number }: Lease): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-restart-history',
    text: `update aggregator.bron set historie_cursor = null, historie_sluit_aan = null, voortgang = null
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}

/** Leaves the history for what it is: it cannot be read, so redactions may have been missed. @throws {LeaseLostError} */
export async function giveUpHistory(db: Db, { source, number }: Lease): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-give-up-history',
    text: `update aggregator.bron
              set fase = 'feed', cursor = stand_feed_cursor, stand_feed_cursor = null, historie_lezen = false, historie_cursor = null,
                  historie_sluit_aan = null, historie_gemist = true, voortgang = null
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}
