import type { Db } from '../../../kernel/database/transaction.ts';
import { type Lease, LeaseLostError } from '../source.ts';
import type { Counts } from './save-progress.ts';

/** How much was deleted in the slow round that runs; a new one begins after `roundMs`. */
export async function readRound(db: Db, { source, number }: Lease, roundMs: number): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>(
    `update aggregator.bron
        set ronde_verwijderd = case when ronde_begonnen < now() - make_interval(secs => $3::double precision / 1000) then 0 else ronde_verwijderd end,
            ronde_begonnen = case when ronde_begonnen < now() - make_interval(secs => $3::double precision / 1000) then now() else ronde_begonnen end
      where id = $1::integer and huur_nummer = $2::bigint
  returning ronde_verwijderd as deleted`,
    [source.id, number, roundMs],
  );
  const [row] = rows;
  if (row === undefined) throw new LeaseLostError();
  return row.deleted;
}

/** Counts what a reading came to, under the lease. @throws {LeaseLostError} and then nothing may be published */
export async function countSupplierRead(
  db: Db,
  { source, number }: Lease,
  { read, published, refused, deleted }: Counts & { readonly deleted: number },
): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-count-supplier',
    text: `update aggregator.bron
              set gelezen = gelezen + $3::bigint, gepubliceerd = gepubliceerd + $4::bigint, geweigerd = geweigerd + $5::bigint,
                  ronde_verwijderd = ronde_verwijderd + $6::integer
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number, read, published, refused, deleted],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}
