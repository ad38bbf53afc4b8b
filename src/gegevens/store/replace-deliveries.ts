import { type Db, lock } from '../../database/transaction.ts';
import type { ReadDelivery, ReadLevering } from '../import/delivery-reader.ts';
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
    `select id, organisation_key as "organisatieSleutel", naam, name_key as "naamSleutel", kvk_nummer as "kvkNummer",
       municipality_key as "gemeenteSleutel", periode_start as "periodeStart", periode_einde as "periodeEinde", records, zaken
     from gegevens.leveringen
     where variant = $1::text and model_version = $2::text and vervallen_op is null
       and (organisation_key = any($3::text[]) or name_key = any($4::text[]))
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
       select groep, $1::bigint as import_id, nummer, true as nieuw from unnest($2::int[], $3::int[]) as n (groep, nummer)
       union all
       select o.groep, l.import_id, l.nummer, false
         from unnest($4::int[], $5::bigint[]) as o (groep, id) join gegevens.leveringen l on l.id = o.id),
     herkend as (
       select d.groep, d.nieuw, 'records' as soort, t.sleutel
         from deel d join gegevens.record_periods t on t.import_id = d.import_id and t.levering = d.nummer
       union all
       select d.groep, d.nieuw, 'zaken', t.sleutel
         from deel d join gegevens.case_records b on b.import_id = d.import_id and b.levering = d.nummer
         left join gegevens.record_periods t on t.import_id = b.import_id and t.levering = b.levering and t.nummer = b.bij),
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
       (variant, import_id, nummer, organisation_key, naam, name_key, kvk_nummer, gemeentecode, municipality_key,
        periode_start, periode_einde, aangeleverd_op, envelope, records, zaken, bytes, vingerafdruk, model_version, has_periods)
     select $1::text, $2::bigint, l.nummer, l.sleutel, l.naam, l.name_key, l.kvk_nummer, l.gemeentecode, l.municipality_key,
        $3::date, $4::date, $5::timestamptz, l.envelope, l.records, l.zaken, l.bytes, l.vingerafdruk, $18::text, true
     from unnest($6::int[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::int[],
        $15::int[], $16::bigint[], $17::text[])
       as l (nummer, sleutel, naam, name_key, kvk_nummer, gemeentecode, municipality_key, envelope, records, zaken, bytes,
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

/** A current levering whose period overlaps that of an import, of one of its organisations or of one with the same name. */
export interface EarlierLevering {
  readonly id: number;
  readonly organisatieSleutel: string;
  readonly naam: string | null;
  readonly naamSleutel: string | null;
  readonly kvkNummer: string | null;
  readonly gemeenteSleutel: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly records: number;
  readonly zaken: number;
}

/** Why a replacement needs `--replace`. */
export type ReplaceReason =
  /** More than a tenth of the records would go, whatever comes in their place. */
  | 'fewer-records'
  /** More than a tenth of the cases would go. */
  | 'fewer-cases'
  /** The organisation with this KvK number had another name. */
  | 'other-name'
  /** The organisation delivers for the same days with a municipality and without one. */
  | 'municipality'
  /** An organisation of this name delivers for the same days with a KvK number and without one. */
  | 'kvk-number';

/** A current levering that conflicts with the import: the same records would be delivered twice. */
export interface Conflict {
  readonly id: number;
  readonly kvkNummer: string | null;
  readonly gemeente: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly records: number;
}

/** What becomes of the records, or cases, of a replacement. Those that cannot be recognised are interchangeable. */
export interface Change {
  readonly before: number;
  readonly after: number;
  readonly stay: number;
  readonly go: number;
  readonly come: number;
}

/** What an import replaces of one organisation, for one municipality and period. */
export interface Replacement {
  readonly organisatie: string;
  readonly kvkNummer: string | null;
  /** `null`: the levering names none. */
  readonly gemeente: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly records: Change;
  readonly zaken: Change;
  /** Its name until now, where that differs. */
  readonly nameBefore: string | null;
  readonly reasons: readonly ReplaceReason[];
  /** The replaced leveringen with another municipality, KvK number or period. */
  readonly conflicts: readonly Conflict[];
  /** Numbers of the leveringen that become earlier versions. */
  readonly replaces: readonly number[];
}

/** What an import would replace, before its records were compared. */
export interface Replaceable extends Omit<Replacement, 'records' | 'zaken'> {
  /** Places of the leveringen in the import. */
  readonly by: readonly number[];
}

/**
 * Compares an import with the current leveringen, by organisation and municipality: what it replaces and what conflicts.
 * @param earlier only those whose period overlaps that of the import
 */
export function comparedWith(earlier: readonly EarlierLevering[], delivery: ReadDelivery): Replaceable[] {
  const { periodeStart, periodeEinde } = delivery;
  const groups = Map.groupBy(delivery.leveringen, ({ organisatie: { sleutel, gemeenteSleutel } }) =>
    JSON.stringify([sleutel, gemeenteSleutel ?? null]),
  );
  const groupOf = ({ organisatieSleutel, gemeenteSleutel, ...each }: EarlierLevering): string | undefined => {
    const key = JSON.stringify([organisatieSleutel, gemeenteSleutel]);
    const isOfPeriod = each.periodeStart === periodeStart && each.periodeEinde === periodeEinde;
    return isOfPeriod && groups.has(key) ? key : undefined;
  };
  // What the import replaces anyway conflicts with nothing, as its own leveringen do not among each other. Nor does a levering without
  // records, whose municipality is not known: an organisation may have none there.
  const others = earlier.filter((each) => hasRecords(each) && groupOf(each) === undefined);
  return [...groups].flatMap(([key, leveringen]) => {
    const [first] = leveringen;
    if (first === undefined) return [];
    const { sleutel, naam, naamSleutel, kvkNummer, gemeenteSleutel } = first.organisatie;
    const me: Deliverer = {
      organisatieSleutel: sleutel,
      naamSleutel: naamSleutel ?? null,
      kvkNummer: kvkNummer ?? null,
      gemeenteSleutel: gemeenteSleutel ?? null,
    };
    const same = earlier.filter((each) => groupOf(each) === key);
    const conflicting = leveringen.some(hasRecords)
      ? others.filter((each) => conflictBetween(me, each) !== undefined)
      : [];
    const conflicts = new Set(conflicting.map((each) => conflictBetween(me, each)));
    const replaced = [...same, ...conflicting];
    if (replaced.length === 0) return [];
    const renamed = replaced.find((each) => each.naamSleutel !== (naamSleutel ?? null));
    const reasons: ReplaceReason[] = [
      ...(renamed === undefined ? [] : (['other-name'] as const)),
      ...(['municipality', 'kvk-number'] as const).filter((reason) => conflicts.has(reason)),
    ];
    return {
      organisatie: naam ?? sleutel,
      kvkNummer: kvkNummer ?? null,
      gemeente: gemeenteSleutel ?? null,
      periodeStart,
      periodeEinde,
      nameBefore: renamed === undefined ? null : renamed.naam,
      reasons,
      conflicts: conflicting.map((each) => ({
        id: each.id,
        kvkNummer: each.kvkNummer,
        gemeente: each.gemeenteSleutel,
        periodeStart: each.periodeStart,
        periodeEinde: each.periodeEinde,
        records: each.records,
      })),
      replaces: replaced.map(({ id }) => id),
      by: leveringen.map(({ nummer }) => nummer),
    };
  });
}

/** A replacement with what becomes of its records and cases. */
export function withChanges({ by: _by, ...replaceable }: Replaceable, records: Change, zaken: Change): Replacement {
  const reasons: ReplaceReason[] = [
    ...(records.go * 10 > records.before ? (['fewer-records'] as const) : []),
    ...(zaken.go * 10 > zaken.before ? (['fewer-cases'] as const) : []),
    ...replaceable.reasons,
  ];
  return { ...replaceable, records, zaken, reasons };
}

type Deliverer = Pick<EarlierLevering, 'organisatieSleutel' | 'naamSleutel' | 'kvkNummer' | 'gemeenteSleutel'>;

/**
 * Why two leveringen for the same days conflict: a request is answered by organisation and municipality, so the same records would be
 * delivered under each. Two municipalities that are both known do not conflict: their records differ.
 */
function conflictBetween(a: Deliverer, b: Deliverer): 'municipality' | 'kvk-number' | undefined {
  const oneHasNoMunicipality = (a.gemeenteSleutel === null) !== (b.gemeenteSleutel === null);
  if (a.organisatieSleutel === b.organisatieSleutel) return oneHasNoMunicipality ? 'municipality' : undefined;
  const oneHasNoNumber = (a.kvkNummer === null) !== (b.kvkNummer === null);
  if (!oneHasNoNumber || a.naamSleutel === null || a.naamSleutel !== b.naamSleutel) return undefined;
  return oneHasNoMunicipality || a.gemeenteSleutel === b.gemeenteSleutel ? 'kvk-number' : undefined;
}

function hasRecords({ records, zaken }: Pick<EarlierLevering | ReadLevering, 'records' | 'zaken'>): boolean {
  return records + zaken > 0;
}
