import type { Db } from '../../database/transaction.ts';

/** A partition of `versies`. */
export interface Month {
  /** As `202601`. */
  readonly name: string;
  /** Lowest identity that belongs to it. */
  readonly from: string;
  readonly to: string;
}

/** The oldest first. */
export async function listMonths(db: Db): Promise<Month[]> {
  const { rows } = await db.query<Month>(
    `select m.name, verwerkingenlog.first_id(m.start at time zone 'UTC') as "from",
       verwerkingenlog.first_id((m.start + interval '1 month') at time zone 'UTC') as "to"
     from (
       select right(c.relname, 6) as name, to_date(right(c.relname, 6), 'YYYYMM')::timestamp as start
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'verwerkingenlog.versies'::regclass and c.relname ~ '^versies_[0-9]{6}$'
     ) as m order by m.name`,
  );
  return rows;
}

/** Including the current one. */
const MONTHS_AHEAD = 4;

export async function makeMonths(db: Db, now: Date): Promise<void> {
  await db.query('select verwerkingenlog.create_months($1::timestamptz, $2::integer)', [now, MONTHS_AHEAD]);
}
