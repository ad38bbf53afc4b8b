import { type Db, lock } from '../../../database/transaction.ts';
import type { ServiceDocument } from '../../../lib/feed-client/client.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';
import { forgetSeen } from './comparison.ts';
import { deleteRefusals } from './issues.ts';

/** How far a source was read. */
export type Position = Pick<
  Source,
  | 'phase'
  | 'isComparing'
  | 'snapshotCursor'
  | 'snapshotFeedCursor'
  | 'cursor'
  | 'etag'
  | 'lastNumber'
  | 'pageSize'
  | 'mustReadHistory'
  | 'historyCursor'
  | 'historyJoins'
  | 'historyMissed'
  | 'progress'
  | 'lookAhead'
  | 'hashMatches'
>;

export interface Counts {
  readonly read: number;
  readonly published: number;
  readonly refused: number;
}

const NO_COUNTS: Counts = { read: 0, published: 0, refused: 0 };

/**
 * Stores how far a source was read; last in the transaction that publishes what was read, so that nothing is published without the lease.
 * @throws {LeaseLostError} when another worker has the source now: the transaction must roll back
 */
export async function saveProgress(
  db: Db,
  { source, number }: Lease,
  position: Position,
  more: { readonly head?: number | undefined; readonly counts?: Counts } = {},
): Promise<void> {
  const { read, published, refused } = more.counts ?? NO_COUNTS;
  const { rowCount } = await db.query({
    name: 'aggregator-progress',
    text: `update aggregator.bron
              set fase = $3::text, vergelijken = $4::boolean, stand_cursor = $5::text, stand_feed_cursor = $6::text, cursor = $7::text,
                  etag = $8::text, laatste_nummer = $9::bigint, paginagrootte = $10::integer, head = coalesce($11::bigint, head),
                  gelezen = gelezen + $12::bigint, gepubliceerd = gepubliceerd + $13::bigint, geweigerd = geweigerd + $14::bigint,
                  historie_lezen = $15::boolean, historie_cursor = $16::text, historie_sluit_aan = $17::boolean,
                  historie_gemist = $18::boolean, voortgang = $19::jsonb, hash_klopt = $20::boolean, vooruit = $21::jsonb
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [
      source.id,
      number,
      position.phase,
      position.isComparing,
      position.snapshotCursor,
      position.snapshotFeedCursor,
      position.cursor,
      position.etag,
      position.lastNumber,
      position.pageSize,
      more.head ?? null,
      read,
      published,
      refused,
      position.mustReadHistory,
      position.historyCursor,
      position.historyJoins,
      position.historyMissed,
      position.progress === null ? null : JSON.stringify(position.progress),
      position.hashMatches,
      position.lookAhead === null ? null : JSON.stringify(position.lookAhead),
    ],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}

/** @throws {LeaseLostError} */
export async function countPublished(db: Db, { source, number }: Lease, published: number): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-count-published',
    text: `update aggregator.bron set gepubliceerd = gepubliceerd + $3::bigint where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number, published],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}

interface Restart {
  /** Resources that the new snapshot does not show are deleted. */
  readonly compare: boolean;
  /**
   * Its history is read from the beginning: the source does not know our cursor any more, or that history was not read for all
   * organisations that are taken from it now.
   */
  readonly wholeHistory: boolean;
}

/**
 * Starts the snapshot of a source again. The cursor that is given up is stored, so that the redactions after it are found in the
 * history; also when our data came from elsewhere: the source was removed and added again, it moved to another address, or its
 * organisations belonged to another source.
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
                  -- Nothing from a feed was published before, so no redaction can have been missed.
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
  await deleteRefusals(db, source.id);
}

/** Reads the history from its beginning: the source does not know our cursor. @throws {LeaseLostError} */
export async function restartHistory(db: Db, { source, number }: Lease): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-restart-history',
    text: `update aggregator.bron set historie_cursor = null, historie_sluit_aan = null, voortgang = null
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}

/** Stops reading the history: it is unreadable, so redactions may have been missed. @throws {LeaseLostError} */
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

/** Stores the service document of a source; without one, only when it was read. @throws {LeaseLostError} */
export async function saveDocument(
  db: Db,
  { source, number }: Lease,
  read: { readonly document: ServiceDocument; readonly etag: string | undefined } | undefined,
): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-save-document',
    text: `update aggregator.bron
              set document_op = now(), feed_url = coalesce($3::text, feed_url), snapshot_url = coalesce($4::text, snapshot_url),
                  rol = coalesce($5::text, rol), genoemd = coalesce($7::text[], genoemd), document_etag = case when $3::text is null then document_etag else $6::text end
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [
      source.id,
      number,
      read?.document.feedUrl ?? null,
      read?.document.snapshotUrl ?? null,
      read?.document.rol ?? null,
      read?.etag ?? null,
      read?.document.organisaties.map(({ organisatiecode }) => organisatiecode) ?? null,
    ],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}

/** Serialises the documents that name a feed: of two that name the same one, the second sees the first. */
const FEED_URL_LOCK = 'aggregator.bron.feed_url';

/**
 * The address of another source with this feed: numbers and redactions belong to one source. The lock lasts until the end of the
 * transaction, so nothing changes between this query and what is written after it.
 */
export async function findFeedHolder(db: Db, feedUrl: string, sourceId: number | null): Promise<string | undefined> {
  await lock(db, FEED_URL_LOCK);
  const { rows } = await db.query<{ adres: string }>(
    `select adres from aggregator.bron b
      where feed_url = $1::text and id is distinct from $2::integer
        -- Where two have it already, the one that was first keeps it.
        and not exists (select from aggregator.bron own where own.id = $2::integer and own.feed_url = $1::text and own.id < b.id)
      order by id limit 1`,
    [feedUrl, sourceId],
  );
  return rows[0]?.adres;
}
