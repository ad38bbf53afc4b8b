import type { Db } from '../../../kernel/database/db.ts';
import { type Lease, LeaseLostError } from '../source.ts';
import { forgetRefused } from './refused.ts';
import { forgetSeen } from './seen.ts';

export interface Restart {
  /** What is not seen in the new snapshot is gone. */
  readonly compare: boolean;
  /** The source does not know our place in its feed any more: only the beginning of its history is left to read. */
  readonly cursorLost: boolean;
}

/**
 * Begins the snapshot of a source anew. The place in its feed that is given up with it is remembered, so that the redactions after it
 * are found in the history; also when the source was removed and added again.
 * @throws {LeaseLostError}
 */
export async function restartSnapshot(db: Db, { source, number }: Lease, restart: Restart): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-restart-snapshot',
    text: `update aggregator.bron b
              set fase = 'stand',
                  vergelijken = $3::boolean or b.historie_lezen or b.cursor is not null or eigen.hoogste is not null, stand_cursor = null, stand_feed_cursor = null, cursor = null, etag = null,
                  laatste_nummer = null, hervergelijken = null, stand_begonnen = now(), voortgang = null, hash_klopt = false,
                  historie_cursor = case when $4::boolean then null when b.historie_lezen then b.historie_cursor else b.cursor end,
                  historie_na = case when b.historie_lezen then b.historie_na else coalesce(b.laatste_nummer, eigen.hoogste) end,
                  historie_sluit_aan = case when $4::boolean then null when b.historie_lezen then b.historie_sluit_aan
                                            when b.cursor is not null then true end,
                  historie_lezen = b.historie_lezen or b.cursor is not null or eigen.hoogste is not null
             from (select max(herkomst_nummer) as hoogste from raadsfeed.record 
                    where herkomst_feed = (select feed_url from aggregator.bron where id = $1::integer)) as eigen
            where b.id = $1::integer and b.huur_nummer = $2::bigint`,
    values: [source.id, number, restart.compare, restart.cursorLost],
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
