/** Resources whose last record was refused: while there are any, the source is not up to date. */
import type { Db } from '../../../kernel/database/transaction.ts';

/** Of one source at most; beyond it one entry stands for the others, until the next snapshot. */
const MAX_REFUSED = 10_000;
const OTHERS = '';

/**
 * Keeps which resources were refused, and forgets those of which a record was taken since.
 * @param keys `organisatiecode/resourceType/bronidentificatie`; empty when a record does not say
 */
export async function noteRefused(
  db: Db,
  sourceId: number,
  { refused, accepted }: { readonly refused: readonly string[]; readonly accepted: readonly string[] },
): Promise<void> {
  await db.query({
    name: 'aggregator-accepted',
    text: 'delete from aggregator.geweigerd where bron_id = $1::integer and sleutel = any ($2::text[])',
    values: [sourceId, accepted],
  });
  if (refused.length > 0) {
    await db.query({
      name: 'aggregator-refused',
      text: `with vol as (select count(*) >= $3::integer as ja from aggregator.geweigerd where bron_id = $1::integer)
             insert into aggregator.geweigerd (bron_id, sleutel)
             select distinct $1::integer, case when vol.ja then $4::text else n.sleutel end
               from unnest($2::text[]) as n (sleutel), vol
                 on conflict do nothing`,
      values: [sourceId, refused, MAX_REFUSED, OTHERS],
    });
  }
}

export async function forgetRefused(db: Db, sourceId: number): Promise<void> {
  await db.query('delete from aggregator.geweigerd where bron_id = $1::integer', [sourceId]);
}

export async function hasRefused(db: Db, sourceId: number): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'aggregator-has-refused',
    text: 'select exists (select from aggregator.geweigerd where bron_id = $1::integer) as found',
    values: [sourceId],
  });
  return rows[0]?.found ?? false;
}
