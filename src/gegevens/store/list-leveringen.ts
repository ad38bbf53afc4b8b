import type { Db } from '../../kernel/database/transaction.ts';
import type { Variant } from '../domain/model/mapping.ts';

/** A levering as operators see it. */
export interface ListedLevering {
  readonly id: number;
  readonly variant: Variant;
  readonly organisatie: string;
  readonly kvkNummer: string | null;
  readonly gemeentecode: string | null;
  /** The municipality that it is delivered for, as `import` tells leveringen apart: without `GM`. */
  readonly gemeente: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly aangeleverdOp: Date;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
  readonly bestand: string;
  readonly modelVersie: string;
  readonly ingevoerdOp: Date;
  readonly vingerafdruk: string;
  /** When it stopped being delivered, and why; `null`: it is current. */
  readonly vervallenOp: Date | null;
  readonly reden: 'vervangen' | 'verwijderd' | null;
}

export interface ListOptions {
  readonly variant?: Variant | undefined;
  /** Earlier versions too. */
  readonly all?: boolean | undefined;
  readonly id?: number | undefined;
  /** Key of a municipality. */
  readonly gemeente?: string | undefined;
}

/** The leveringen there are, newest period first. */
export async function listLeveringen(
  db: Db,
  { variant, all = false, id, gemeente }: ListOptions,
): Promise<ListedLevering[]> {
  const { rows } = await db.query<ListedLevering & Record<string, unknown>>(
    `select l.id, l.variant, coalesce(l.naam, l.organisatie_sleutel) as organisatie, l.kvk_nummer as "kvkNummer",
       l.gemeentecode, l.gemeente_sleutel as gemeente, l.periode_start as "periodeStart", l.periode_einde as "periodeEinde",
       l.aangeleverd_op as "aangeleverdOp", l.records, l.zaken, l.bytes, i.bestand, l.model_versie as "modelVersie",
       i.ingevoerd_op as "ingevoerdOp", l.vingerafdruk, l.vervallen_op as "vervallenOp", l.reden
     from gegevens.leveringen l
     join gegevens.invoeren i on i.id = l.invoer_id
     where ($1::text is null or l.variant = $1::text) and ($2::boolean or l.vervallen_op is null)
       and ($3::bigint is null or l.id = $3::bigint) and ($4::text is null or l.gemeente_sleutel = $4::text)
     order by l.variant, l.periode_einde desc, l.naam_sleutel collate "C" nulls last, l.gemeente_sleutel, l.id desc`,
    [variant ?? null, all, id ?? null, gemeente ?? null],
  );
  return rows;
}

/** The part of a levering around its records, as JSON. */
export async function readKop(db: Db, id: number): Promise<unknown> {
  const { rows } = await db.query<{ kop: string }>('select kop from gegevens.leveringen where id = $1::bigint', [id]);
  const kop: unknown = JSON.parse(rows[0]?.kop ?? 'null');
  return kop;
}
