import type { Db } from '../../kernel/database/transaction.ts';
import type { Levering, Period } from '../domain/levering.ts';
import type { Variant } from '../domain/model/mapping.ts';
import { LEVERING_COLUMNS, type LeveringRow, toLevering } from './levering-row.ts';

/** Whose pages belong together: one requester, one filter. */
export interface StandKey {
  readonly variant: Variant;
  readonly afnemer: string;
  readonly filter: string;
}

/** The state that the pages of a requester come from. */
export interface Stand {
  readonly leveringen: readonly Levering[];
  readonly period: Period;
}

export interface KeepStandOptions extends StandKey, Stand {
  readonly at: Date;
  readonly minutes: number;
}

/** Keeps the state that the pages of a requester come from; one that is over makes place. Page 1 asked for again begins anew. */
export async function keepStand(db: Db, options: KeepStandOptions): Promise<void> {
  const { variant, afnemer, filter, leveringen, period, at, minutes } = options;
  await db.query({
    name: 'gegevens-keep-stand',
    text: `with voorbij as (
        delete from gegevens.standen where ctid = any(array(
          select ctid from gegevens.standen where verloopt_op <= $5::timestamptz limit 100 for update skip locked))
      )
      insert into gegevens.standen (variant, afnemer, filter, leveringen, gemaakt_op, verloopt_op, periode_start, periode_einde)
      values ($1::text, $2::text, $3::text, $4::bigint[], $5::timestamptz, $6::timestamptz, $7::date, $8::date)
      on conflict (variant, afnemer, filter) do update
      set leveringen = excluded.leveringen, gemaakt_op = excluded.gemaakt_op, verloopt_op = excluded.verloopt_op,
        periode_start = excluded.periode_start, periode_einde = excluded.periode_einde`,
    values: [
      ...[variant, afnemer, filter, leveringen.map(({ id }) => id), at, new Date(at.getTime() + minutes * 60_000)],
      ...[period.start, period.end],
    ],
  });
}

/** The state that was kept for a requester, in its order; `undefined` when there is none, it is over, or part of it was removed. */
export async function findStand(db: Db, { variant, afnemer, filter }: StandKey, at: Date): Promise<Stand | undefined> {
  const { rows } = await db.query<LeveringRow & { verwacht: number; start: string; einde: string }>({
    name: 'gegevens-find-stand',
    text: `select ${LEVERING_COLUMNS}, cardinality(s.leveringen) as verwacht, s.periode_start as start, s.periode_einde as einde
      from gegevens.standen s
      cross join lateral unnest(s.leveringen) with ordinality as k (id, plaats)
      join gegevens.leveringen l on l.id = k.id and l.reden is distinct from 'verwijderd'
      where s.variant = $1::text and s.afnemer = $2::text and s.filter = $3::text and s.verloopt_op > $4::timestamptz
        and s.periode_start is not null
      order by k.plaats`,
    values: [variant, afnemer, filter, at],
  });
  const [first] = rows;
  // Part of it was removed or pruned: better the present than a state with holes.
  if (first === undefined || first.verwacht !== rows.length) return undefined;
  return { leveringen: rows.map(toLevering), period: { start: first.start, end: first.einde } };
}
