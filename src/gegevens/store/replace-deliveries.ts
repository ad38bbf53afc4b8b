import { type Db, lock } from '../../database/transaction.ts';
import type { Variant } from '../../lib/exchange-model/mapping.ts';
import type { ReadDelivery, ReadLevering } from '../import/delivery-reader.ts';
import type { Levering } from '../model/selection.ts';

interface ReplaceOptions {
  readonly variant: Variant;
  /** Version of the model: leveringen of other models are not replaced. */
  readonly model: string;
  readonly invoerId: number;
  readonly delivery: ReadDelivery;
  readonly force: boolean;
}

/** The import would replace more than intended; nothing was stored. */
export class ReplacementRefused extends Error {
  override readonly name = 'ReplacementRefused';
  readonly replacements: readonly Replacement[];
  constructor(replacements: readonly Replacement[]) {
    super('the import replaces more than it may without --replace');
    this.replacements = replacements;
  }
}

/** A current levering whose period overlaps that of an import, of one of its organisations or of one with the same name. */
interface EarlierLevering
  extends Pick<Levering, 'id' | 'organisatieSleutel' | 'naam' | 'periodeStart' | 'periodeEinde' | 'records' | 'zaken'> {
  readonly naamSleutel: string | null;
  readonly kvkNummer: string | null;
  readonly gemeente: string | null;
}

/** Why a replacement needs `--replace`. */
export type ReplaceReason =
  | 'fewer-records' // more than a tenth of the records would be removed, even if others replace them
  | 'fewer-cases' // more than a tenth of the cases would be removed
  | 'other-name' // the organisation with this KvK number had another name
  | 'municipality' // the organisation delivers for the same days with a municipality and without one
  | 'kvk-number'; // an organisation of this name delivers for the same days with a KvK number and without one

/** What happens to the records, or cases, of a replacement. Those that cannot be recognised are interchangeable. */
export type Change = Readonly<Record<'before' | 'after' | 'stay' | 'go' | 'come', number>>;

/** What an import replaces of one organisation, for one municipality and period. */
export interface Replacement extends Pick<EarlierLevering, 'kvkNummer' | 'gemeente' | 'periodeStart' | 'periodeEinde'> {
  readonly organisatie: string;
  readonly records: Change;
  readonly zaken: Change;
  readonly nameBefore: string | null;
  readonly reasons: readonly ReplaceReason[];
  /** The replaced leveringen with another municipality, KvK number or period: the same records would be delivered twice. */
  readonly conflicts: readonly Conflict[];
  /** Numbers of the leveringen that become earlier versions. */
  readonly replaces: readonly number[];
}

export type Conflict = Pick<
  EarlierLevering,
  'id' | 'kvkNummer' | 'gemeente' | 'periodeStart' | 'periodeEinde' | 'records'
>;

/**
 * Makes an import current, in the transaction of the caller. Earlier leveringen of the same organisation, municipality and period, and those that
 * conflict with it, become earlier versions.
 * @throws {ReplacementRefused} when it must be forced and is not
 */
export async function replaceDeliveries(db: Db, options: ReplaceOptions): Promise<readonly Replacement[]> {
  const { variant, model, delivery, force } = options;
  // Concurrent imports of one organisation run one after the other: the later replaces all of the earlier.
  await lock(db, `gegevens.leveringen ${variant}`);
  const { leveringen, periodeStart, periodeEinde } = delivery;
  const { rows: earlier } = await db.query<EarlierLevering & Record<string, unknown>>(
    `select id, organisation_key as "organisatieSleutel", name as naam, name_key as "naamSleutel", kvk_nummer as "kvkNummer",
       municipality_key as gemeente, period_start as "periodeStart", period_end as "periodeEinde", records, zaken
     from gegevens.leveringen
     where variant = $1::text and model_version = $2::text and withdrawn_at is null
       and (organisation_key = any($3::text[]) or name_key = any($4::text[]))
       and period_start <= $6::date and period_end >= $5::date`,
    [
      variant,
      model,
      leveringen.map(({ organisatie }) => organisatie.sleutel),
      leveringen.flatMap(({ organisatie }) => organisatie.naamSleutel ?? []),
      periodeStart,
      periodeEinde,
    ],
  );
  const replacements = await compareRecords(db, options.invoerId, findReplaced(earlier, delivery));
  if (!force && replacements.some(({ reasons }) => reasons.length > 0)) throw new ReplacementRefused(replacements);
  await db.query(
    `update gegevens.leveringen set withdrawn_at = clock_timestamp(), reason = 'vervangen' where id = any($1::bigint[])`,
    [[...new Set(replacements.flatMap(({ replaces }) => replaces))]],
  );
  await insertLeveringen(db, options);
  return replacements;
}

interface Replaced extends Omit<Replacement, 'records' | 'zaken'> {
  readonly by: readonly number[];
}

function findReplaced(earlier: readonly EarlierLevering[], delivery: ReadDelivery): Replaced[] {
  const { periodeStart, periodeEinde } = delivery;
  const keyOf = (...deliverer: readonly [sleutel: string, gemeente: string | null]) => JSON.stringify(deliverer);
  const news = Map.groupBy(delivery.leveringen, ({ organisatie: { sleutel, gemeenteSleutel = null } }) =>
    keyOf(sleutel, gemeenteSleutel),
  );
  const olds = Map.groupBy(earlier, ({ organisatieSleutel, gemeente, ...old }) => {
    const key = keyOf(organisatieSleutel, gemeente);
    const isOfPeriod = old.periodeStart === periodeStart && old.periodeEinde === periodeEinde;
    return isOfPeriod && news.has(key) ? key : undefined;
  });
  // Leveringen that the import replaces anyway conflict with nothing, and neither do its own leveringen with each other. Nor does a levering without
  // records, whose municipality is unknown: an organisation may have none there.
  const others = (olds.get(undefined) ?? []).filter(hasRecords);
  return [...news].flatMap(([key, leveringen]) => {
    const [first] = leveringen;
    if (first === undefined) return [];
    const {
      sleutel,
      naam = null,
      naamSleutel = null,
      kvkNummer = null,
      gemeenteSleutel: gemeente = null,
    } = first.organisatie;
    const me = { organisatieSleutel: sleutel, naamSleutel, kvkNummer, gemeente };
    const conflicts = leveringen.some(hasRecords) ? others.filter((each) => conflictBetween(me, each)) : [];
    const found = new Set(conflicts.map((each) => conflictBetween(me, each)));
    const replaced = [...(olds.get(key) ?? []), ...conflicts];
    if (replaced.length === 0) return [];
    const renamed = replaced.find((each) => each.naamSleutel !== naamSleutel);
    return {
      organisatie: naam ?? sleutel,
      kvkNummer,
      gemeente,
      periodeStart,
      periodeEinde,
      conflicts,
      nameBefore: renamed?.naam ?? null,
      reasons: [
        ...(renamed === undefined ? [] : (['other-name'] as const)),
        ...(['municipality', 'kvk-number'] as const).filter((reason) => found.has(reason)),
      ],
      replaces: replaced.map(({ id }) => id),
      by: leveringen.map(({ nummer }) => nummer),
    };
  });
}

/** A request is answered by organisation and municipality, so the same records would be delivered under each; not if both municipalities are known. */
function conflictBetween(
  a: Pick<EarlierLevering, 'organisatieSleutel' | 'naamSleutel' | 'kvkNummer' | 'gemeente'>,
  b: EarlierLevering,
): 'municipality' | 'kvk-number' | undefined {
  const oneHasNoMunicipality = (a.gemeente === null) !== (b.gemeente === null);
  if (a.organisatieSleutel === b.organisatieSleutel) return oneHasNoMunicipality ? 'municipality' : undefined;
  const oneHasNoNumber = (a.kvkNummer === null) !== (b.kvkNummer === null);
  if (!oneHasNoNumber || a.naamSleutel === null || a.naamSleutel !== b.naamSleutel) return undefined;
  return oneHasNoMunicipality || a.gemeente === b.gemeente ? 'kvk-number' : undefined;
}

function hasRecords({ records, zaken }: Pick<EarlierLevering | ReadLevering, 'records' | 'zaken'>): boolean {
  return records + zaken > 0;
}

const NOTHING: Change = { before: 0, after: 0, stay: 0, go: 0, come: 0 };

/** Counts kept, removed and added records and cases. Records are matched by their recognition key, cases by the first record that they name. */
async function compareRecords(db: Db, invoerId: number, found: readonly Replaced[]): Promise<Replacement[]> {
  if (found.length === 0) return [];
  const news = found.flatMap(({ by }, group) => by.map((number) => ({ group, number })));
  const olds = found.flatMap(({ replaces }, group) => replaces.map((id) => ({ group, id })));
  const { rows } = await db.query<{ group: number; kind: string; change: Change }>(
    `with parts as (
       select n."group", $1::bigint as import_id, n.number, true as is_new
         from jsonb_to_recordset($2::jsonb) as n ("group" int, number int)
       union all
       select o."group", l.import_id, l.number, false
         from jsonb_to_recordset($3::jsonb) as o ("group" int, id bigint) join gegevens.leveringen l on l.id = o.id),
     recognised as (
       select d."group", d.is_new, 'records' as kind, t.identity_hash
         from parts d join gegevens.record_periods t on t.import_id = d.import_id and t.levering = d.number
       union all
       select d."group", d.is_new, 'zaken', t.identity_hash
         from parts d join gegevens.case_records b on b.import_id = d.import_id and b.levering = d.number
         left join gegevens.record_periods t on t.import_id = b.import_id and t.levering = b.levering and t.number = b.record),
     counted as (
       select "group", kind, count(*) filter (where not is_new) as before, count(*) filter (where is_new) as after
         from recognised group by "group", kind, identity_hash)
     select "group", kind, json_build_object('before', sum(before), 'after', sum(after), 'stay', sum(least(before, after)),
       'go', sum(greatest(before - after, 0)), 'come', sum(greatest(after - before, 0))) as change
     from counted group by "group", kind`,
    [invoerId, JSON.stringify(news), JSON.stringify(olds)],
  );
  const changeOf = (at: number, wanted: string): Change =>
    rows.find(({ group, kind }) => group === at && kind === wanted)?.change ?? NOTHING;
  return found.map(({ by: _by, reasons, ...replaced }, at) => {
    const [records, zaken] = [changeOf(at, 'records'), changeOf(at, 'zaken')];
    const losses: ReplaceReason[] = [];
    if (records.go * 10 > records.before) losses.push('fewer-records');
    if (zaken.go * 10 > zaken.before) losses.push('fewer-cases');
    return { ...replaced, records, zaken, reasons: [...losses, ...reasons] };
  });
}

async function insertLeveringen(db: Db, { variant, model, invoerId, delivery }: ReplaceOptions): Promise<void> {
  const rows = delivery.leveringen.map(({ organisatie, head, ...counts }) => ({
    ...organisatie,
    ...counts,
    envelope: JSON.stringify(head),
  }));
  await db.query(
    `insert into gegevens.leveringen
       (variant, import_id, model_version, period_start, period_end, submitted_at, has_periods, number, organisation_key, name,
        name_key, kvk_nummer, gemeentecode, municipality_key, envelope, records, zaken, bytes, fingerprint)
     select $1::text, $2::bigint, $3::text, $4::date, $5::date, $6::timestamptz, true, l.*
     from jsonb_to_recordset($7::jsonb) as l (nummer int, sleutel text, naam text, "naamSleutel" text, "kvkNummer" text,
        gemeentecode text, "gemeenteSleutel" text, envelope text, records int, zaken int, bytes bigint, vingerafdruk text)`,
    [
      variant,
      invoerId,
      model,
      delivery.periodeStart,
      delivery.periodeEinde,
      delivery.aangeleverdOp,
      JSON.stringify(rows),
    ],
  );
}
