import { type Db, lock } from '../../database/transaction.ts';
import type { ReadDelivery, ReadLevering } from '../import/delivery-reader.ts';
import {
  type Change,
  comparedWith,
  type EarlierLevering,
  type Replaceable,
  type Replacement,
  withChanges,
} from '../import/replacement.ts';
import type { Variant } from '../model/mapping.ts';

interface ReplaceOptions {
  readonly variant: Variant;
  /** Version of the model: leveringen of other models are not replaced. */
  readonly model: string;
  readonly invoerId: number;
  readonly delivery: ReadDelivery;
  /** Replace even what otherwise raises `ReplacementRefused`. */
  readonly force: boolean;
}

/** The import would replace more than its user may have meant; nothing was stored. */
export class ReplacementRefused extends Error {
  readonly replacements: readonly Replacement[];
  constructor(replacements: readonly Replacement[]) {
    super('the import replaces more than it may without --replace');
    this.name = 'ReplacementRefused';
    this.replacements = replacements;
  }
}

/**
 * Makes an import current. Earlier leveringen of the same organisation, municipality and period, and those that conflict with it, become
 * earlier versions. Runs in the transaction of the caller.
 * @throws {ReplacementRefused} when it must be forced and is not
 */
export async function replaceDeliveries(db: Db, options: ReplaceOptions): Promise<readonly Replacement[]> {
  const { variant, model, delivery, force } = options;
  // Concurrent imports of one organisation run one after the other: the later replaces all of the earlier.
  await lock(db, `gegevens.leveringen ${variant}`);
  const { leveringen, periodeStart, periodeEinde } = delivery;
  const { rows: earlier } = await db.query<EarlierLevering & Record<string, unknown>>(
    `select id, organisatie_sleutel as "organisatieSleutel", naam, naam_sleutel as "naamSleutel", kvk_nummer as "kvkNummer",
       gemeente_sleutel as "gemeenteSleutel", periode_start as "periodeStart", periode_einde as "periodeEinde", records, zaken
     from gegevens.leveringen
     where variant = $1::text and model_versie = $2::text and vervallen_op is null
       and (organisatie_sleutel = any($3::text[]) or naam_sleutel = any($4::text[]))
       and periode_start <= $6::date and periode_einde >= $5::date`,
    [
      ...[variant, model, leveringen.map(({ organisatie }) => organisatie.sleutel)],
      ...[leveringen.flatMap(({ organisatie }) => organisatie.naamSleutel ?? []), periodeStart, periodeEinde],
    ],
  );
  const replacements = await compareRecords(db, options.invoerId, comparedWith(earlier, delivery));
  if (!force && replacements.some(({ reasons }) => reasons.length > 0)) throw new ReplacementRefused(replacements);
  await db.query(
    `update gegevens.leveringen set vervallen_op = clock_timestamp(), reden = 'vervangen' where id = any($1::bigint[])`,
    [[...new Set(replacements.flatMap(({ replaces }) => replaces))]],
  );
  await insertLeveringen(db, options, leveringen);
  return replacements.filter(({ replaces }) => replaces.length > 0);
}

const NOTHING: Change = { before: 0, after: 0, stay: 0, go: 0, come: 0 };

/** Counts by identity what stays, goes and comes: of records by what they are recognised by, of cases by the first record that they name. */
async function compareRecords(db: Db, invoerId: number, found: readonly Replaceable[]): Promise<Replacement[]> {
  if (found.length === 0) return [];
  const news = found.flatMap(({ by }, groep) => by.map((nummer) => ({ groep, nummer })));
  const olds = found.flatMap(({ replaces }, groep) => replaces.map((id) => ({ groep, id })));
  const { rows } = await db.query<Record<'groep' | keyof Change, number> & { soort: string }>(
    `with deel as (
       select groep, $1::bigint as invoer_id, nummer, true as nieuw from unnest($2::int[], $3::int[]) as n (groep, nummer)
       union all
       select o.groep, l.invoer_id, l.nummer, false
         from unnest($4::int[], $5::bigint[]) as o (groep, id) join gegevens.leveringen l on l.id = o.id),
     herkend as (
       select d.groep, d.nieuw, 'records' as soort, t.sleutel
         from deel d join gegevens.looptijden t on t.invoer_id = d.invoer_id and t.levering = d.nummer
       union all
       select d.groep, d.nieuw, 'zaken', t.sleutel
         from deel d join gegevens.zaken_bij b on b.invoer_id = d.invoer_id and b.levering = d.nummer
         left join gegevens.looptijden t on t.invoer_id = b.invoer_id and t.levering = b.levering and t.nummer = b.bij),
     geteld as (
       select groep, soort, count(*) filter (where not nieuw) as voor, count(*) filter (where nieuw) as na
         from herkend group by groep, soort, sleutel)
     select groep, soort, sum(voor)::int as before, sum(na)::int as after, sum(least(voor, na))::int as stay,
       sum(greatest(voor - na, 0))::int as go, sum(greatest(na - voor, 0))::int as come
     from geteld group by groep, soort`,
    [
      invoerId,
      news.map(({ groep }) => groep),
      news.map(({ nummer }) => nummer),
      olds.map(({ groep }) => groep),
      olds.map(({ id }) => id),
    ],
  );
  const changeOf = (at: number, kind: string): Change => {
    const row = rows.find(({ groep, soort }) => groep === at && soort === kind);
    if (row === undefined) return NOTHING;
    const { before, after, stay, go, come } = row;
    return { before, after, stay, go, come };
  };
  return found.map((one, at) => withChanges(one, changeOf(at, 'records'), changeOf(at, 'zaken')));
}

async function insertLeveringen(db: Db, options: ReplaceOptions, leveringen: readonly ReadLevering[]): Promise<void> {
  const { variant, model, invoerId, delivery } = options;
  await db.query(
    `insert into gegevens.leveringen
       (variant, invoer_id, nummer, organisatie_sleutel, naam, naam_sleutel, kvk_nummer, gemeentecode, gemeente_sleutel,
        periode_start, periode_einde, aangeleverd_op, kop, records, zaken, bytes, vingerafdruk, model_versie, looptijden)
     select $1::text, $2::bigint, l.nummer, l.sleutel, l.naam, l.naam_sleutel, l.kvk_nummer, l.gemeentecode, l.gemeente_sleutel,
        $3::date, $4::date, $5::timestamptz, l.kop, l.records, l.zaken, l.bytes, l.vingerafdruk, $18::text, true
     from unnest($6::int[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::int[],
        $15::int[], $16::bigint[], $17::text[])
       as l (nummer, sleutel, naam, naam_sleutel, kvk_nummer, gemeentecode, gemeente_sleutel, kop, records, zaken, bytes,
        vingerafdruk)`,
    [
      variant,
      invoerId,
      delivery.periodeStart,
      delivery.periodeEinde,
      delivery.aangeleverdOp,
      leveringen.map(({ nummer }) => nummer),
      leveringen.map(({ organisatie }) => organisatie.sleutel),
      leveringen.map(({ organisatie }) => organisatie.naam ?? null),
      leveringen.map(({ organisatie }) => organisatie.naamSleutel ?? null),
      leveringen.map(({ organisatie }) => organisatie.kvkNummer ?? null),
      leveringen.map(({ organisatie }) => organisatie.gemeentecode ?? null),
      leveringen.map(({ organisatie }) => organisatie.gemeenteSleutel ?? null),
      leveringen.map(({ head }) => JSON.stringify(head)),
      leveringen.map(({ records }) => records),
      leveringen.map(({ zaken }) => zaken),
      leveringen.map(({ bytes }) => bytes),
      leveringen.map(({ vingerafdruk }) => vingerafdruk),
      model,
    ],
  );
}
