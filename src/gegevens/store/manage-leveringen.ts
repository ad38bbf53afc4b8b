import type pg from 'pg';
import { refuseClockAhead } from '../../database/checks.ts';
import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import type { Variant } from '../../lib/exchange-model/mapping.ts';
import type { Levering } from '../model/selection.ts';
import { LEVERING } from './read-leveringen.ts';

export interface ListedLevering
  extends Pick<Levering, 'id' | 'periodeStart' | 'periodeEinde' | 'aangeleverdOp' | 'records' | 'zaken' | 'bytes'> {
  readonly variant: Variant;
  readonly organisatie: string;
  readonly kvkNummer: string | null;
  readonly gemeentecode: string | null;
  /** Key of the municipality that it is for, without `GM`. */
  readonly gemeente: string | null;
  readonly bestand: string;
  readonly modelVersie: string;
  readonly ingevoerdOp: Date;
  readonly vingerafdruk: string;
  /** When and why its delivery ended; `null`: it is current. */
  readonly vervallenOp: Date | null;
  readonly reden: 'vervangen' | 'verwijderd' | null;
}

/** The leveringen, newest period first. @param filter `all`: earlier versions too */
export async function listLeveringen(
  db: Db,
  {
    all = false,
    id,
    gemeente,
  }: { readonly all?: boolean; readonly id?: number; readonly gemeente?: string | undefined },
): Promise<ListedLevering[]> {
  const { rows } = await db.query<ListedLevering & Record<string, unknown>>(
    `select l.id, l.variant, coalesce(l.name, l.organisation_key) as organisatie, l.kvk_nummer as "kvkNummer",
       l.gemeentecode, l.municipality_key as gemeente, l.period_start as "periodeStart", l.period_end as "periodeEinde",
       l.submitted_at as "aangeleverdOp", l.records, l.zaken, l.bytes, i.file_name as bestand, l.model_version as "modelVersie",
       i.imported_at as "ingevoerdOp", l.fingerprint as vingerafdruk, l.withdrawn_at as "vervallenOp", l.reason as reden
     from gegevens.leveringen l
     join gegevens.imports i on i.id = l.import_id
     where ($1::boolean or l.withdrawn_at is null) and ($2::bigint is null or l.id = $2::bigint)
       and ($3::text is null or l.municipality_key = $3::text)
     order by l.variant, l.period_end desc, l.name_key collate "C" nulls last, l.municipality_key, l.id desc`,
    [all, id ?? null, gemeente ?? null],
  );
  return rows;
}

export async function readHead(db: Db, id: number): Promise<unknown> {
  const { rows } = await db.query<{ envelope: string }>(
    'select envelope from gegevens.leveringen where id = $1::bigint',
    [id],
  );
  return JSON.parse(rows[0]?.envelope ?? 'null');
}

interface PruneOptions {
  readonly now: Date;
  /** Only those that have not been delivered for this long. */
  readonly minAgeMs: number;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly progress: (version: PrunedLevering) => void;
}

interface PrunedLevering extends Pick<Levering, 'id' | 'invoerId' | 'nummer' | 'records' | 'bytes'> {
  readonly organisatie: string;
}

/**
 * Deletes earlier versions that no requester can be paging through any more, and expired paging states.
 * @throws {Error} before anything else, when the clock of this process is ahead of the database's; the signal's reason
 */
export async function pruneLeveringen(pool: Pool, options: PruneOptions): Promise<PrunedLevering[]> {
  const { now, minAgeMs, dryRun, signal, progress } = options;
  await refuseClockAhead(pool, now);
  const { rows } = await pool.query<PrunedLevering & Record<string, unknown>>(
    `select l.id, l.import_id as "invoerId", l.number as nummer, coalesce(l.name, l.organisation_key) as organisatie, l.records, l.bytes
     from gegevens.leveringen l
     where l.withdrawn_at < $1::timestamptz
       and not exists (
         select from gegevens.pinned_states s where s.expires_at > $2::timestamptz and l.id = any(s.leveringen))
     order by l.id`,
    [new Date(now.getTime() - minAgeMs), now],
  );
  for (const version of rows) {
    signal.throwIfAborted();
    if (!dryRun) await transaction(pool, (client) => pruneLevering(client, version));
    progress(version);
  }
  if (!dryRun) await pool.query('delete from gegevens.pinned_states where expires_at <= $1::timestamptz', [now]);
  return rows;
}

async function pruneLevering(client: pg.PoolClient, { id, invoerId, nummer }: PrunedLevering): Promise<void> {
  // Deleting a quarter of a large city takes longer than the time limit of statements.
  const db = await allowLongStatements(client, 0);
  const deleted = await db.query('delete from gegevens.leveringen where id = $1::bigint and withdrawn_at is not null', [
    id,
  ]);
  if (deleted.rowCount === 0) return;
  for (const table of ['records', 'record_periods', 'case_records', 'case_signals']) {
    const text = `delete from gegevens.${table} where import_id = $1::bigint and levering = $2::int`;
    await db.query(text, [invoerId, nummer]);
  }
  await db.query(
    `delete from gegevens.imports i where i.id = $1::bigint
       and not exists (select from gegevens.leveringen l where l.import_id = i.id)`,
    [invoerId],
  );
  // The name of a file may name a person.
  await db.query(
    `update gegevens.forced_imports f set file_name = null
     where f.import_id = $1::bigint and not exists (select from gegevens.imports i where i.id = f.import_id)`,
    [invoerId],
  );
}

/** Stops the delivery at once, also to requesters that are paging; records stay until they are pruned. @returns those not removed before */
export async function removeLeveringen(db: Db, ids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `with removed as (
       update gegevens.leveringen set withdrawn_at = clock_timestamp(), reason = 'verwijderd'
       where id = any($1::bigint[]) and reason is distinct from 'verwijderd'
       returning id
     ), unpinned as (
       delete from gegevens.pinned_states where leveringen && array(select id from removed)
     )
     select id from removed order by id`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Leveringen by number, in that order, even if replaced or removed since; pruned ones are left out. */
export async function findLeveringenById(
  db: Db,
  ids: readonly number[],
): Promise<(Levering & { readonly modelVersie: string })[]> {
  const { rows } = await db.query<Levering & { modelVersie: string } & Record<string, unknown>>(
    `select ${LEVERING}, l.model_version as "modelVersie" from unnest($1::bigint[]) with ordinality as k (id, position)
     join gegevens.leveringen l on l.id = k.id
     order by k.position`,
    [ids],
  );
  return rows;
}
