import type { Db } from '../../../kernel/database/transaction.ts';
import { type Lease, LeaseLostError } from '../source.ts';
import { forgetSeen } from './seen.ts';

/** Time in seconds after which a comparison that was withheld is made again: the source may have everything again. */
const AGAIN_SECONDS = 3600;

/** Ends a comparison; what was withheld is remembered by organisation. @throws {LeaseLostError} */
export async function endComparison(
  db: Db,
  { source, number }: Lease,
  withheld: readonly { readonly organisatiecode: string; readonly gone: number }[],
): Promise<void> {
  const { rowCount } = await db.query(
    `update aggregator.bron
        set vergelijken = false, mag_massaal = false,
            -- What was withheld is compared again, and must then be taken out of our history all the same.
            historie_gemist = historie_gemist and $3::boolean,
            hervergelijken = case when $3::boolean then now() + make_interval(secs => $4::integer) end
      where id = $1::integer and huur_nummer = $2::bigint`,
    [source.id, number, withheld.length > 0, AGAIN_SECONDS],
  );
  if (rowCount !== 1) throw new LeaseLostError();
  await db.query(
    `update aggregator.bron_organisatie o set achtergehouden = coalesce(n.aantal, 0)
       from aggregator.bron_organisatie b
       left join unnest($2::text[], $3::integer[]) as n (organisatiecode, aantal) using (organisatiecode)
      where b.organisatiecode = o.organisatiecode and o.bron_id = $1::integer`,
    [source.id, withheld.map(({ organisatiecode }) => organisatiecode), withheld.map(({ gone }) => gone)],
  );
  await forgetSeen(db, source.id);
}
