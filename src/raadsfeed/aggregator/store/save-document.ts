import type { ServiceDocument } from '../../../feed-client/client.ts';
import type { Db } from '../../../kernel/database/transaction.ts';
import { type Lease, LeaseLostError } from '../source.ts';

/** Keeps what a source says of itself; without a document only that it was looked at. @throws {LeaseLostError} */
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

/** Every document that names a feed takes its turn here: of two that name the same one, the second sees the first. */
const FEED_URL_LOCK = 'aggregator.bron.feed_url';

/**
 * The address of another source whose feed is at this address; its numbers and redactions are that one's. Within a transaction nobody
 * else comes between this and what is written.
 */
export async function findFeedHolder(db: Db, feedUrl: string, sourceId: number | null): Promise<string | undefined> {
  await db.query('select pg_advisory_xact_lock(hashtext($1::text))', [FEED_URL_LOCK]);
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
