import type { ServiceDocument } from '../../../feed-client/service-document.ts';
import type { Db } from '../../../kernel/database/db.ts';
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
