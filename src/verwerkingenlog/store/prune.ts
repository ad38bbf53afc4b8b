import type { Db } from '../../kernel/database/db.ts';
import type { Pool } from '../../kernel/database/pool.ts';
import { transaction } from '../../kernel/database/transaction.ts';
import { lockChanges } from './lock-changes.ts';
import { listMonths, type Month } from './months.ts';
import { preferIndexes } from './prefer-indexes.ts';

export interface PruneOptions {
  /** As the retention role. */
  readonly pool: Pool;
  readonly now: Date;
  /** Only counts. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly progress?: (removed: number, month: string) => void;
}

export interface Pruned {
  /** Actions that were removed with all their versions; with a dry run: that would be. */
  readonly removed: number;
  /** By month of registration, as `202601`. */
  readonly byMonth: Readonly<Record<string, number>>;
  /** Months that were empty, over, and dropped whole. */
  readonly droppedMonths: readonly string[];
}

/** Actions that are looked at in one statement, and removed in one transaction. */
const SCAN = 20_000;
const REMOVE = 500;

/**
 * Removes the actions whose retention term has passed since their moment, as their newest version has it, in batches.
 * @throws the signal's reason when it fires; batches that were removed stay removed
 */
export async function prune(options: PruneOptions): Promise<Pruned> {
  const { pool, now, dryRun } = options;
  let removed = 0;
  const byMonth: Record<string, number> = {};
  const droppedMonths: string[] = [];
  for (const month of await listMonths(pool)) {
    for await (const ids of pastActions(pool, month, now, options.signal)) {
      const count = dryRun ? ids.length : await removeActions(pool, ids, now, options.signal);
      removed += count;
      byMonth[month.name] = (byMonth[month.name] ?? 0) + count;
      options.progress?.(removed, month.name);
    }
    if (!dryRun && (await dropEmpty(pool, month, now))) droppedMonths.push(month.name);
  }
  return { removed, byMonth, droppedMonths };
}

/** Walks a month in the order of its primary key, so that no part of it is looked at twice. */
async function* pastActions(db: Db, month: Month, now: Date, signal: AbortSignal): AsyncGenerator<string[]> {
  for (let from = month.from; ; ) {
    signal.throwIfAborted();
    const { rows } = await db.query<{ last: string | null; past: string[] }>(
      `with bekeken as materialized (
         select actie_id from verwerkingenlog.versies
         where actie_id > $1::uuid and actie_id < $2::uuid order by actie_id limit $3::integer
       ), einde as materialized (
         select actie_id from bekeken order by actie_id desc limit 1
       ), laatste as (
         -- All versions of the last action, also those that the limit cut off.
         select distinct on (actie_id) actie_id, vervalt_op from verwerkingenlog.versies
         where actie_id > $1::uuid and actie_id < $2::uuid and actie_id <= (select actie_id from einde) order by actie_id, versie desc
       )
       select (select actie_id from einde) as last,
         coalesce(array_agg(actie_id) filter (where vervalt_op <= $4::timestamptz), '{}') as past from laatste`,
      [from, month.to, SCAN, now],
    );
    const { last, past } = rows[0] ?? { last: null, past: [] };
    for (let i = 0; i < past.length; i += REMOVE) yield past.slice(i, i + REMOVE);
    if (last === null) return;
    from = last;
  }
}

/** Looks once more under the locks of who changes: a term that was just prolonged counts. */
async function removeActions(pool: Pool, ids: readonly string[], now: Date, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  return transaction(pool, async (db) => {
    await preferIndexes(db);
    const { rows } = await db.query<{ verwerkingId: string }>(
      `select distinct verwerking_id as "verwerkingId" from verwerkingenlog.versies
       where actie_id = any($1::uuid[]) and verwerking_id is not null`,
      [ids],
    );
    await lockChanges(db, { acties: ids, verwerkingen: rows.map(({ verwerkingId }) => verwerkingId) });
    const { rows: past } = await db.query<{ id: string }>(
      `select actie_id as id from (
         select distinct on (actie_id) actie_id, vervalt_op from verwerkingenlog.versies
         where actie_id = any($1::uuid[]) order by actie_id, versie desc
       ) as laatste where vervalt_op <= $2::timestamptz`,
      [ids, now],
    );
    const gone = past.map(({ id }) => id);
    await db.query(
      `delete from verwerkingenlog.vindplaatsen p using (
         select distinct v.actie_id, v.tijdstip, (o.object ->> 'sleutel')::uuid as sleutel
         from verwerkingenlog.versies v, json_array_elements(v.objecten) as o(object) where v.actie_id = any($1::uuid[])
       ) as s where p.sleutel = s.sleutel and p.tijdstip = s.tijdstip and p.actie_id = s.actie_id`,
      [gone],
    );
    await db.query('delete from verwerkingenlog.versies where actie_id = any($1::uuid[])', [gone]);
    return gone.length;
  });
}

async function dropEmpty(db: Db, { name }: Month, now: Date): Promise<boolean> {
  const { rows } = await db.query<{ dropped: boolean }>(
    'select verwerkingenlog.verwijder_lege_maand($1::text, $2::timestamptz) as dropped',
    [name, now],
  );
  return rows[0]?.dropped ?? false;
}
