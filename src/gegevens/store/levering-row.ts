import type { Levering } from '../domain/levering.ts';

/** Columns of a levering, for the alias `l`. */
export const LEVERING_COLUMNS = `l.id, l.invoer_id, l.nummer, l.organisatie_sleutel, l.naam, l.gemeente_sleutel, l.periode_start,
  l.periode_einde, l.aangeleverd_op, l.kop, l.records, l.zaken, l.bytes`;

export interface LeveringRow extends Record<string, unknown> {
  readonly id: number;
  readonly invoer_id: number;
  readonly nummer: number;
  readonly organisatie_sleutel: string;
  readonly naam: string | null;
  readonly gemeente_sleutel: string | null;
  readonly periode_start: string;
  readonly periode_einde: string;
  readonly aangeleverd_op: Date;
  readonly kop: string;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
}

export function toLevering(row: LeveringRow): Levering {
  return {
    id: row.id,
    invoerId: row.invoer_id,
    nummer: row.nummer,
    organisatieSleutel: row.organisatie_sleutel,
    naam: row.naam ?? undefined,
    gemeenteSleutel: row.gemeente_sleutel ?? undefined,
    periodeStart: row.periode_start,
    periodeEinde: row.periode_einde,
    aangeleverdOp: row.aangeleverd_op,
    kop: row.kop,
    records: row.records,
    zaken: row.zaken,
    bytes: row.bytes,
  };
}
