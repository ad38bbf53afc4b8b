import type { Db } from '../../database/transaction.ts';
import type { Variant } from '../../lib/exchange-model/mapping.ts';

/** A check finding that blocks a delivery, without personal data. */
export interface BlockingFinding {
  readonly rule: number | 'model';
  readonly count: number;
  /** JSON Pointers; at most a hundred. */
  readonly places: readonly string[];
}

export interface ForcedImport {
  readonly invoerId: number;
  readonly variant: Variant;
  /** `null`: the import was pruned. */
  readonly bestand: string | null;
  readonly ingevoerdOp: Date;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly leveringen: readonly number[];
  readonly bevindingen: readonly BlockingFinding[];
}

/** Records the finding in the transaction of the import, once its leveringen exist. */
export async function writeForcedImport(
  db: Db,
  invoerId: number,
  bevindingen: readonly BlockingFinding[],
): Promise<void> {
  await db.query(
    `insert into gegevens.forced_imports (import_id, variant, file_name, period_start, period_end, leveringen, findings)
     select i.id, i.variant, i.file_name, min(l.period_start), max(l.period_end), array_agg(l.id order by l.id), $2::jsonb
     from gegevens.imports i join gegevens.leveringen l on l.import_id = i.id
     where i.id = $1::bigint group by i.id`,
    [invoerId, JSON.stringify(bevindingen)],
  );
}

/** Newest first. @param leveringen only those with one of these */
export async function readForcedImports(
  db: Db,
  { limit, leveringen }: { readonly limit: number; readonly leveringen?: readonly number[] | undefined },
): Promise<ForcedImport[]> {
  const { rows } = await db.query<ForcedImport & Record<string, unknown>>(
    `select import_id as "invoerId", variant, file_name as bestand, imported_at as "ingevoerdOp", period_start as "periodeStart",
       period_end as "periodeEinde", leveringen, findings as bevindingen
     from gegevens.forced_imports
     where $1::bigint[] is null or leveringen && $1::bigint[]
     order by import_id desc limit $2::int`,
    [leveringen ?? null, limit],
  );
  return rows;
}
