import type { Db } from '../../database/transaction.ts';
import type { Variant } from '../model/mapping.ts';
import type { Deliverer, Filter, Levering, Period } from '../model/selection.ts';

/** Organisation, then period, then the order of the file; the same on every call. */
const ORDER = `l.name_key collate "C" nulls last, l.organisation_key collate "C", l.periode_start, l.periode_einde,
  l.import_id, l.nummer`;

/** The current leveringen of the requested organisations, in the configured model. */
const MATCHES_FILTER = `variant = $1::text and model_version = $2::text and vervallen_op is null
  and ($3::text is null or name_key = $3::text or kvk_nummer = $4::text or municipality_key = $5::text)`;

function filterValues({ variant, model, organisatie }: Filter): unknown[] {
  return [variant, model, organisatie?.naam ?? null, organisatie?.kvk ?? null, organisatie?.gemeente ?? null];
}

export interface RequestedDeliverers {
  /** By organisation and municipality; empty when there is no levering of the requested organisations. */
  readonly deliverers: readonly Deliverer[];
  /** The reporting period that ends last, and among those the one that starts last. */
  readonly recent: Period | undefined;
}

/** The requested organisations that there are leveringen of. */
export async function findDeliverers(db: Db, filter: Filter): Promise<RequestedDeliverers> {
  const { rows } = await db.query<{
    organisation_key: string;
    naam: string | null;
    municipality_key: string | null;
    recent: string[];
  }>({
    name: 'gegevens-find-deliverers',
    text: `select organisation_key, municipality_key, max(naam) as naam,
        max(array[periode_einde, periode_start])::text[] as recent
      from gegevens.leveringen where ${MATCHES_FILTER}
      group by organisation_key, municipality_key
      order by max(name_key) collate "C" nulls last, organisation_key collate "C", municipality_key`,
    values: filterValues(filter),
  });
  const [last] = rows.map(({ recent: [end = '', start = ''] }) => ({ start, end })).toSorted(byEndThenStart);
  return {
    recent: last,
    deliverers: rows.map((row) => ({
      organisatieSleutel: row.organisation_key,
      naam: row.naam ?? undefined,
      gemeenteSleutel: row.municipality_key ?? undefined,
    })),
  };
}

function byEndThenStart(a: Period, b: Period): number {
  const [left, right] = [`${a.end} ${a.start}`, `${b.end} ${b.start}`];
  return left < right ? 1 : -Number(left > right);
}

/** The requested current leveringen that overlap a period, in the order of delivery. */
export async function findLeveringen(db: Db, filter: Filter, { start, end }: Period): Promise<Levering[]> {
  const { rows } = await db.query<LeveringRow>({
    name: 'gegevens-find-leveringen',
    text: `select ${LEVERING_COLUMNS} from gegevens.leveringen l
      where ${MATCHES_FILTER} and periode_start <= $7::date and periode_einde >= $6::date
      order by ${ORDER}`,
    values: [...filterValues(filter), start, end],
  });
  return rows.map(toLevering);
}

/** The newest levering of each requested organisation and municipality, of any period: an answer without records names these. */
export async function findOrganisations(db: Db, filter: Filter): Promise<Levering[]> {
  const { rows } = await db.query<LeveringRow>({
    name: 'gegevens-find-organisations',
    text: `select ${LEVERING_COLUMNS} from (
        select distinct on (organisation_key, municipality_key) * from gegevens.leveringen
        where ${MATCHES_FILTER}
        order by organisation_key, municipality_key, periode_einde desc, id desc
      ) l
      order by ${ORDER}`,
    values: filterValues(filter),
  });
  return rows.map(toLevering);
}

/** Leveringen by their numbers, in that order, whatever became of them; those that were pruned are left out. */
export async function findLeveringenById(
  db: Db,
  ids: readonly number[],
): Promise<(Levering & { readonly modelVersie: string })[]> {
  const { rows } = await db.query<LeveringRow & { model_version: string }>(
    `select ${LEVERING_COLUMNS}, l.model_version from unnest($1::bigint[]) with ordinality as k (id, position)
     join gegevens.leveringen l on l.id = k.id
     order by k.position`,
    [ids],
  );
  return rows.map((row) => ({ ...toLevering(row), modelVersie: row.model_version }));
}

/** Whose pages belong together: one requester, one filter. */
interface PagingKey {
  readonly variant: Variant;
  readonly afnemer: string;
  readonly filter: string;
}

/** The state that the pages of a requester come from. */
export interface PagingState {
  readonly leveringen: readonly Levering[];
  readonly period: Period;
}

interface SavePagingStateOptions extends PagingKey, PagingState {
  readonly at: Date;
  readonly minutes: number;
}

/** Saves the state that the pages of a requester come from, in place of an earlier one, and removes some that have expired. */
export async function savePagingState(db: Db, options: SavePagingStateOptions): Promise<void> {
  const { variant, afnemer, filter, leveringen, period, at, minutes } = options;
  await db.query({
    name: 'gegevens-save-paging-state',
    text: `with expired as (
        delete from gegevens.pinned_states where ctid = any(array(
          select ctid from gegevens.pinned_states where expires_at <= $5::timestamptz limit 100 for update skip locked))
      )
      insert into gegevens.pinned_states (variant, afnemer, filter, leveringen, created_at, expires_at, periode_start, periode_einde)
      values ($1::text, $2::text, $3::text, $4::bigint[], $5::timestamptz, $6::timestamptz, $7::date, $8::date)
      on conflict (variant, afnemer, filter) do update
      set leveringen = excluded.leveringen, created_at = excluded.created_at, expires_at = excluded.expires_at,
        periode_start = excluded.periode_start, periode_einde = excluded.periode_einde`,
    values: [
      ...[variant, afnemer, filter, leveringen.map(({ id }) => id), at, new Date(at.getTime() + minutes * 60_000)],
      ...[period.start, period.end],
    ],
  });
}

/** The saved state of a requester, in its order; `undefined` when nothing is saved, it has expired, or part of it was removed. */
export async function findPagingState(
  db: Db,
  { variant, afnemer, filter }: PagingKey,
  at: Date,
): Promise<PagingState | undefined> {
  const { rows } = await db.query<LeveringRow & { verwacht: number; start: string; einde: string }>({
    name: 'gegevens-find-paging-state',
    text: `select ${LEVERING_COLUMNS}, cardinality(s.leveringen) as verwacht, s.periode_start as start, s.periode_einde as einde
      from gegevens.pinned_states s
      cross join lateral unnest(s.leveringen) with ordinality as k (id, position)
      join gegevens.leveringen l on l.id = k.id and l.reden is distinct from 'verwijderd'
      where s.variant = $1::text and s.afnemer = $2::text and s.filter = $3::text and s.expires_at > $4::timestamptz
        and s.periode_start is not null
      order by k.position`,
    values: [variant, afnemer, filter, at],
  });
  const [first] = rows;
  // Part of it was removed or pruned: the current state is better than one with gaps.
  if (first === undefined || first.verwacht !== rows.length) return undefined;
  return { leveringen: rows.map(toLevering), period: { start: first.start, end: first.einde } };
}

/** Columns of a levering, for the alias `l`. */
const LEVERING_COLUMNS = `l.id, l.import_id, l.nummer, l.organisation_key, l.naam, l.municipality_key, l.periode_start,
  l.periode_einde, l.aangeleverd_op, l.envelope, l.records, l.zaken, l.bytes`;

interface LeveringRow extends Record<string, unknown> {
  readonly id: number;
  readonly import_id: number;
  readonly nummer: number;
  readonly organisation_key: string;
  readonly naam: string | null;
  readonly municipality_key: string | null;
  readonly periode_start: string;
  readonly periode_einde: string;
  readonly aangeleverd_op: Date;
  readonly envelope: string;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
}

function toLevering(row: LeveringRow): Levering {
  return {
    id: row.id,
    invoerId: row.import_id,
    nummer: row.nummer,
    organisatieSleutel: row.organisation_key,
    naam: row.naam ?? undefined,
    gemeenteSleutel: row.municipality_key ?? undefined,
    periodeStart: row.periode_start,
    periodeEinde: row.periode_einde,
    aangeleverdOp: row.aangeleverd_op,
    head: row.envelope,
    records: row.records,
    zaken: row.zaken,
    bytes: row.bytes,
  };
}
