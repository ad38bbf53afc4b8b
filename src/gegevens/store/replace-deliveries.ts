import type { Db } from '../../kernel/database/db.ts';
import type { ReadDelivery } from '../domain/import/read-delivery.ts';
import type { Variant } from '../domain/model/mapping.ts';

/** First half of the key of the advisory lock under which deliveries of a variant are replaced; the second names the variant. */
const REPLACE_LOCK = 0x67656765;

export interface ReplaceOptions {
  readonly variant: Variant;
  readonly invoerId: number;
  readonly delivery: ReadDelivery;
}

/**
 * Makes an import current: what the same organisations delivered for the same period before becomes an earlier version. The
 * transaction is the caller's; it becomes visible as one.
 * @returns how many leveringen were replaced
 */
export async function replaceDeliveries(db: Db, { variant, invoerId, delivery }: ReplaceOptions): Promise<number> {
  // Two imports of one organisation at once: the one that commits later replaces the other, and never half of it.
  await db.query('select pg_advisory_xact_lock($1::int, $2::int)', [REPLACE_LOCK, variant === 'shv' ? 1 : 2]);
  const { leveringen, periodeStart, periodeEinde, aangeleverdOp } = delivery;
  const replaced = await db.query(
    `update gegevens.leveringen
     set vervallen_op = clock_timestamp(), reden = 'vervangen'
     where variant = $1::text and vervallen_op is null
       and organisatie_sleutel = any($2::text[]) and periode_start = $3::date and periode_einde = $4::date`,
    [variant, leveringen.map(({ organisatie }) => organisatie.sleutel), periodeStart, periodeEinde],
  );
  await db.query(
    `insert into gegevens.leveringen
       (variant, invoer_id, nummer, organisatie_sleutel, naam, naam_sleutel, kvk_nummer, gemeentecode, gemeente_sleutel,
        periode_start, periode_einde, aangeleverd_op, kop, records, zaken, bytes, vingerafdruk)
     select $1::text, $2::bigint, l.nummer, l.sleutel, l.naam, l.naam_sleutel, l.kvk_nummer, l.gemeentecode, l.gemeente_sleutel,
        $3::date, $4::date, $5::timestamptz, l.kop, l.records, l.zaken, l.bytes, l.vingerafdruk
     from unnest($6::int[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::int[],
        $15::int[], $16::bigint[], $17::text[])
       as l (nummer, sleutel, naam, naam_sleutel, kvk_nummer, gemeentecode, gemeente_sleutel, kop, records, zaken, bytes,
        vingerafdruk)`,
    [
      variant,
      invoerId,
      periodeStart,
      periodeEinde,
      aangeleverdOp,
      leveringen.map(({ nummer }) => nummer),
      leveringen.map(({ organisatie }) => organisatie.sleutel),
      leveringen.map(({ organisatie }) => organisatie.naam ?? null),
      leveringen.map(({ organisatie }) => organisatie.naamSleutel ?? null),
      leveringen.map(({ organisatie }) => organisatie.kvkNummer ?? null),
      leveringen.map(({ organisatie }) => organisatie.gemeentecode ?? null),
      leveringen.map(({ organisatie }) => organisatie.gemeenteSleutel ?? null),
      leveringen.map(({ kop }) => JSON.stringify(kop)),
      leveringen.map(({ records }) => records),
      leveringen.map(({ zaken }) => zaken),
      leveringen.map(({ bytes }) => bytes),
      leveringen.map(({ vingerafdruk }) => vingerafdruk),
    ],
  );
  return replaced.rowCount ?? 0;
}
