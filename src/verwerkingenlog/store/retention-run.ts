import type { Db } from '../../kernel/database/transaction.ts';

/** Characters of a failure that a line keeps. */
const MAX_FAULT = 1000;

/** What a run has removed until now. */
export interface Removed {
  readonly month: string;
  readonly actions: number;
  /** Earliest and latest first registration among them. */
  readonly oldest: Date;
  readonly newest: Date;
}

/** The line of one run, as it stands in the table. */
export interface RetentionRun {
  readonly begunAt: Date;
  /** Absent: it is still running, or was killed. */
  readonly endedAt: Date | null;
  readonly removed: number;
  /** Actions that have no term at all and are kept; known at the end. */
  readonly withoutTerm: number | null;
  readonly fault: string | null;
}

/** The last run, and the last one that ended well. */
export interface RetentionRuns {
  readonly last?: RetentionRun;
  readonly lastGood?: RetentionRun;
}

/** Begins the line of a run, as the retention role. @returns its number */
export async function beginRun(db: Db, at: Date): Promise<number> {
  const { rows } = await db.query<{ nummer: number }>(
    'insert into verwerkingenlog.opschoningen (begonnen_op, door) values ($1::timestamptz, session_user) returning nummer',
    [at],
  );
  if (rows[0] === undefined) throw new TypeError('an insert returned nothing');
  return rows[0].nummer;
}

/** Adds a batch to the line, in the transaction that removes it: nothing is ever removed that the line does not tell. */
export async function noteRemoved(db: Db, run: number, { month, actions, oldest, newest }: Removed): Promise<void> {
  await db.query(
    `update verwerkingenlog.opschoningen set verwijderd = verwijderd + $2::integer,
       maanden = maanden || jsonb_build_object($3::text, coalesce((maanden ->> $3::text)::bigint, 0) + $2::integer),
       oudste = least(oudste, $4::timestamptz), nieuwste = greatest(nieuwste, $5::timestamptz)
     where nummer = $1::bigint`,
    [run, actions, month, oldest, newest],
  );
}

/** Adds a month that was dropped whole. */
export async function noteDropped(db: Db, run: number, month: string): Promise<void> {
  await db.query(
    `update verwerkingenlog.opschoningen set verwijderde_maanden = verwijderde_maanden || $2::text where nummer = $1::bigint`,
    [run, month],
  );
}

/** Ends the line; it cannot be changed after that. */
export async function endRun(
  db: Db,
  run: number,
  { at, withoutTerm, fault }: { readonly at: Date; readonly withoutTerm: number | null; readonly fault: string | null },
): Promise<void> {
  await db.query(
    `update verwerkingenlog.opschoningen set geeindigd_op = $2::timestamptz, zonder_termijn = $3::bigint, fout = $4::text
     where nummer = $1::bigint`,
    [run, at, withoutTerm, fault?.slice(0, MAX_FAULT) ?? null],
  );
}

/** As the service's own role. */
export async function readRuns(db: Db): Promise<RetentionRuns> {
  const columns = `begonnen_op as "begunAt", geeindigd_op as "endedAt", verwijderd as removed, zonder_termijn as "withoutTerm", fout as fault`;
  const { rows } = await db.query<RetentionRun & { good: boolean }>(
    `(select false as good, ${columns} from verwerkingenlog.opschoningen order by nummer desc limit 1)
     union all
     (select true, ${columns} from verwerkingenlog.opschoningen where geeindigd_op is not null and fout is null
      order by nummer desc limit 1)`,
  );
  const last = rows.find(({ good }) => !good);
  const lastGood = rows.find(({ good }) => good);
  return { ...(last === undefined ? {} : { last }), ...(lastGood === undefined ? {} : { lastGood }) };
}
