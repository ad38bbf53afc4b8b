import type { Db } from '../../kernel/database/db.ts';
import type { Levering } from '../domain/levering.ts';
import type { Variant } from '../domain/model/mapping.ts';
import { LEVERING_COLUMNS, type LeveringRow, toLevering } from './levering-row.ts';

/** Whose pages belong together: one requester, one filter. */
export interface StandKey {
  readonly variant: Variant;
  readonly afnemer: string;
  readonly filter: string;
}

export interface KeepStandOptions extends StandKey {
  readonly leveringen: readonly Levering[];
  readonly at: Date;
  readonly minutes: number;
}

/** Keeps the state that the pages of a requester come from; one that is over makes place. Page 1 asked for again begins anew. */
export async function keepStand(db: Db, options: KeepStandOptions): Promise<void> {
  const { variant, afnemer, filter, leveringen, at, minutes } = options;
  await db.query({
    name: 'gegevens-keep-stand',
    text: `with voorbij as (
        delete from gegevens.standen where ctid = any(array(
          select ctid from gegevens.standen where verloopt_op <= $5::timestamptz limit 100 for update skip locked))
      )
      insert into gegevens.standen (variant, afnemer, filter, leveringen, gemaakt_op, verloopt_op)
      values ($1::text, $2::text, $3::text, $4::bigint[], $5::timestamptz, $6::timestamptz)
      on conflict (variant, afnemer, filter) do update
      set leveringen = excluded.leveringen, gemaakt_op = excluded.gemaakt_op, verloopt_op = excluded.verloopt_op`,
    values: [variant, afnemer, filter, leveringen.map(({ id }) => id), at, new Date(at.getTime() + minutes * 60_000)],
  });
}

/** The state that was kept for a requester, in its order; `undefined` when there is none, or it is over. */
export async function findStand(
  db: Db,
  { variant, afnemer, filter }: StandKey,
  at: Date,
): Promise<Levering[] | undefined> {
  const { rows } = await db.query<LeveringRow & { verwacht: number }>({
    name: 'gegevens-find-stand',
    text: `select ${LEVERING_COLUMNS}, cardinality(s.leveringen) as verwacht
      from gegevens.standen s
      cross join lateral unnest(s.leveringen) with ordinality as k (id, plaats)
      join gegevens.leveringen l on l.id = k.id
      where s.variant = $1::text and s.afnemer = $2::text and s.filter = $3::text and s.verloopt_op > $4::timestamptz
      order by k.plaats`,
    values: [variant, afnemer, filter, at],
  });
  const [first] = rows;
  // Part of it was pruned: better the present than a state with holes.
  return first === undefined || first.verwacht !== rows.length ? undefined : rows.map(toLevering);
}
