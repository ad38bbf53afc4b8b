import { refuseClockAhead } from '../../database/checks.ts';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import type { Clock } from '../../lib/time.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import { lockChanges, preferIndexes } from './changes.ts';
import { listMonths, type Month } from './months.ts';
import { proofNumbersOf } from './proof.ts';

export interface PruneOptions {
  /** As the retention role. */
  readonly pool: Pool;
  readonly clock: Clock;
  /** ISO 8601 durations. */
  readonly rules: {
    readonly minRetention: string;
    /** From the registration of a change that brought its removal forward. */
    readonly retentionGrace: string;
    /** From its `tijdstip`, when neither the action nor its activity has a term; absent: it is kept. */
    readonly maxRetention: string | undefined;
  };
  /** Only counts, and leaves no record. */
  readonly dryRun: boolean;
  readonly proof?: ProofWriter | undefined;
  readonly signal: AbortSignal;
  readonly progress?: (removed: number, month: string) => void;
}

export interface Pruned {
  /** Actions; with a dry run: that would be. */
  readonly removed: number;
  /** By month of registration, as `202601`. */
  readonly byMonth: Readonly<Record<string, number>>;
  readonly droppedMonths: readonly string[];
  readonly withoutTerm: number;
}

const SCAN = 20_000;
const REMOVE = 500;
const MAX_FAULT_LENGTH = 1000;

interface Work extends PruneOptions {
  readonly now: Date;
  readonly run: number | undefined;
  withoutTerm: number;
}

/**
 * Removes, in batches, the actions for which the latest of these has passed: `tijdstip` plus term, first registration plus the minimum,
 * and the last change that made its removal earlier plus the grace. Each run leaves a record that is never removed.
 * @throws {Error} before anything else when the clock is ahead, without a record; the signal's reason when it fires, or the failure: what was
 *   removed until then stays removed, and is in the record
 */
export async function prune(options: PruneOptions): Promise<Pruned> {
  const { pool, clock, dryRun } = options;
  const now = clock.now();
  await refuseClockAhead(pool, now);
  const work: Work = { ...options, now, run: dryRun ? undefined : await beginRun(pool, now), withoutTerm: 0 };
  try {
    const pruned = await pruneMonths(work);
    await endRun(work, null);
    return pruned;
  } catch (error) {
    // The first error is the one to report; a record that cannot be ended has no end.
    await endRun(work, error instanceof Error ? error.message : String(error)).catch(() => undefined);
    throw error;
  }
}

async function beginRun(db: Db, at: Date): Promise<number | undefined> {
  const { rows } = await db.query<{ number: number }>(
    'insert into verwerkingenlog.prune_runs (started_at, login) values ($1::timestamptz, session_user) returning number',
    [at],
  );
  return rows[0]?.number;
}

async function endRun({ pool, clock, run, withoutTerm }: Work, fault: string | null): Promise<void> {
  await pool.query(
    `update verwerkingenlog.prune_runs set ended_at = $2::timestamptz, without_term = $3::bigint, fault = left($4::text, $5::integer)
     where number = $1::bigint`,
    [run ?? null, clock.now(), fault === null ? withoutTerm : null, fault, MAX_FAULT_LENGTH],
  );
}

async function pruneMonths(work: Work): Promise<Pruned> {
  let removed = 0;
  const byMonth: Record<string, number> = {};
  const droppedMonths: string[] = [];
  for (const month of await listMonths(work.pool)) {
    for await (const ids of pastActions(work, month)) {
      const count = await (work.run === undefined
        ? removable(work.pool, work, ids).then(({ length }) => length)
        : removeActions(work, work.run, month, ids));
      if (count === 0) continue;
      removed += count;
      byMonth[month.name] = (byMonth[month.name] ?? 0) + count;
      work.progress?.(removed, month.name);
    }
    if (work.run !== undefined && (await dropEmpty(work, month))) droppedMonths.push(month.name);
  }
  return { removed, byMonth, droppedMonths, withoutTerm: work.withoutTerm };
}

/** By the primary key, so that nothing is read twice: actions past their term and the minimum. The grace period is judged only for those. */
async function* pastActions(work: Work, month: Month): AsyncGenerator<string[]> {
  const { pool, now, rules, signal } = work;
  for (let from = month.from; ; ) {
    signal.throwIfAborted();
    const { rows } = await pool.query<{ last: string | null; past: string[]; withoutTerm: number }>(
      `with seen as materialized (
         select actie_id from verwerkingenlog.versies
         where actie_id > $1::uuid and actie_id < $2::uuid order by actie_id limit $3::integer
       ), last_seen as materialized (
         select actie_id from seen order by actie_id desc limit 1
       ), latest as (
         -- All versions of the last action, also those that the limit cut off.
         select distinct on (actie_id) actie_id, tijdstip, bewaartermijn, verwerkingsactiviteit_id,
           min(tijdstip_registratie) over (partition by actie_id) as registered
         from verwerkingenlog.versies
         where actie_id > $1::uuid and actie_id < $2::uuid and actie_id <= (select actie_id from last_seen) order by actie_id, versie desc
       ), terms as materialized (
         select distinct on (verwerkingsactiviteit_id) verwerkingsactiviteit_id, bewaartermijn
         from verwerkingenlog.activiteit_termijnen where valid_from <= $4::timestamptz
         order by verwerkingsactiviteit_id, valid_from desc, number desc
       ), judged as (
         select l.actie_id, verwerkingenlog.kept_until(l.tijdstip, l.bewaartermijn, a.bewaartermijn, $5::text) as expiry,
           verwerkingenlog.expires_at(l.registered, $6::text) as minimum
         from latest l left join terms a using (verwerkingsactiviteit_id)
       )
       select (select actie_id from last_seen) as last,
         coalesce(array_agg(actie_id) filter (where expiry <= $4::timestamptz and minimum <= $4::timestamptz), '{}') as past,
         count(*) filter (where expiry = 'infinity') as "withoutTerm"
       from judged`,
      [from, month.to, SCAN, now, rules.maxRetention ?? null, rules.minRetention],
    );
    const { last, past, withoutTerm } = rows[0] ?? { last: null, past: [], withoutTerm: 0 };
    work.withoutTerm += withoutTerm;
    for (let i = 0; i < past.length; i += REMOVE) yield past.slice(i, i + REMOVE);
    if (last === null) return;
    from = last;
  }
}

/** Inlined in the statement, because Citus runs no function over a distributed table. */
const termOf = (activity: string, at: string): string => `(
         select p.bewaartermijn from verwerkingenlog.activiteit_termijnen p
         where p.verwerkingsactiviteit_id = ${activity} and p.valid_from <= ${at} order by p.valid_from desc, p.number desc limit 1)`;

async function removable(
  db: Db,
  { now, rules }: Work,
  ids: readonly string[],
): Promise<{ id: string; registered: Date }[]> {
  const { rows } = await db.query<{ id: string; registered: Date }>(
    `with v as materialized (
       select actie_id, versie, tijdstip_registratie as since, tijdstip, bewaartermijn, verwerkingsactiviteit_id as activity,
         lag(tijdstip) over w as was_tijdstip, lag(bewaartermijn) over w as was_term,
         lag(verwerkingsactiviteit_id) over w as was_activity, lead(tijdstip_registratie) over w as until
       from verwerkingenlog.versies where actie_id = any($1::uuid[]) window w as (partition by actie_id order by versie)
     ), t as materialized (
       select verwerkingsactiviteit_id as activity, valid_from as since, bewaartermijn,
         lag(bewaartermijn) over (partition by verwerkingsactiviteit_id order by valid_from, number) as was
       from verwerkingenlog.activiteit_termijnen
       where verwerkingsactiviteit_id in (select activity from v where bewaartermijn is null)
     ), shortened as (
       -- A version that ends sooner than the one before it, by the register of that moment.
       select actie_id, since from v
       where versie > 1 and verwerkingenlog.kept_until(tijdstip, bewaartermijn, ${termOf('activity', 'since')}, $3::text)
         < verwerkingenlog.kept_until(was_tijdstip, was_term, ${termOf('was_activity', 'since')}, $3::text)
       union all
       -- A term of the register that became shorter while a version went by it; in one moment, both count.
       select v.actie_id, t.since from v join t using (activity)
       where v.bewaartermijn is null and v.since <= t.since and (v.until is null or v.until >= t.since)
         and verwerkingenlog.kept_until(v.tijdstip, null, t.bewaartermijn, $3::text)
           < verwerkingenlog.kept_until(v.tijdstip, null, t.was, $3::text)
     ), latest as (
       select distinct on (actie_id) actie_id, tijdstip, bewaartermijn, activity, min(since) over (partition by actie_id) as registered
       from v order by actie_id, versie desc
     )
     select l.actie_id as id, l.registered as registered
     from latest l
     where verwerkingenlog.kept_until(l.tijdstip, l.bewaartermijn, ${termOf('l.activity', '$2::timestamptz')}, $3::text)
         <= $2::timestamptz
       and verwerkingenlog.expires_at(l.registered, $4::text) <= $2::timestamptz
       and not exists (
         select 1 from shortened b where b.actie_id = l.actie_id and verwerkingenlog.expires_at(b.since, $5::text) > $2::timestamptz)`,
    [ids, now, rules.maxRetention ?? null, rules.minRetention, rules.retentionGrace],
  );
  return rows;
}

/** Judges again under the locks of changes, so that a term that was just prolonged counts. */
async function removeActions(work: Work, run: number, month: Month, ids: readonly string[]): Promise<number> {
  work.signal.throwIfAborted();
  return transaction(work.pool, async (db) => {
    await preferIndexes(db);
    const { rows } = await db.query<{ verwerkingId: string }>(
      `select distinct verwerking_id as "verwerkingId" from verwerkingenlog.versies
       where actie_id = any($1::uuid[]) and verwerking_id is not null`,
      [ids],
    );
    await lockChanges(
      db,
      ids,
      rows.map(({ verwerkingId }) => verwerkingId),
    );
    const past = await removable(db, work, ids);
    if (past.length === 0) return 0;
    const gone = past.map(({ id }) => id);
    await db.query(
      `delete from verwerkingenlog.locations p using (
         select distinct v.actie_id, v.tijdstip, (o.object ->> 'sleutel')::uuid as person_hash
         from verwerkingenlog.versies v, json_array_elements(v.objecten) as o(object) where v.actie_id = any($1::uuid[])
       ) as s where p.person_hash = s.person_hash and p.tijdstip = s.tijdstip and p.actie_id = s.actie_id`,
      [gone],
    );
    await db.query('delete from verwerkingenlog.ldv_keys where actie_id = any($1::uuid[])', [gone]);
    await work.proof?.remove(db, {
      kind: 'bewaartermijn',
      at: work.now,
      by: `opschoning ${run}`,
      numbers: await proofNumbersOf(db, gone),
    });
    await db.query('delete from verwerkingenlog.versies where actie_id = any($1::uuid[])', [gone]);
    // In the transaction of the removal: the record accounts for all of it.
    await db.query(
      `update verwerkingenlog.prune_runs set removed = removed + $2::integer,
         by_month = by_month || jsonb_build_object($3::text, coalesce((by_month ->> $3::text)::bigint, 0) + $2::integer),
         oldest = least(oldest, (select min(t) from unnest($4::timestamptz[]) as t)),
         newest = greatest(newest, (select max(t) from unnest($4::timestamptz[]) as t))
       where number = $1::bigint`,
      [run, gone.length, month.name, past.map(({ registered }) => registered)],
    );
    return gone.length;
  });
}

async function dropEmpty({ pool, now, run }: Work, { name }: Month): Promise<boolean> {
  const { rowCount } = await transaction(pool, (db) =>
    db.query(
      `update verwerkingenlog.prune_runs set removed_months = removed_months || $2::text
       where number = $1::bigint and verwerkingenlog.drop_empty_month($2::text, $3::timestamptz)`,
      [run, name, now],
    ),
  );
  return rowCount === 1;
}

interface RetentionRun {
  readonly begunAt: Date;
  readonly removed: number;
  /** Actions without any term, which are kept; known at the end. */
  readonly withoutTerm: number | null;
  readonly fault: string | null;
}

/** The last run may still be running, or was killed. */
export async function readRuns(
  db: Db,
): Promise<{ last?: RetentionRun | undefined; lastSuccess?: RetentionRun | undefined }> {
  const columns = `started_at as "begunAt", removed, without_term as "withoutTerm", fault`;
  const { rows } = await db.query<RetentionRun & { succeeded: boolean }>(
    `(select false as succeeded, ${columns} from verwerkingenlog.prune_runs order by number desc limit 1)
     union all
     (select true, ${columns} from verwerkingenlog.prune_runs where ended_at is not null and fault is null
      order by number desc limit 1)`,
  );
  return { last: rows.find(({ succeeded }) => !succeeded), lastSuccess: rows.find(({ succeeded }) => succeeded) };
}
