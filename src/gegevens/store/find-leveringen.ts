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
  const { rows } = await db.query<Deliverer & { recent: string[] }>({
    name: 'gegevens-find-deliverers',
    text: `select organisation_key as "organisatieSleutel", municipality_key as "gemeenteSleutel", max(naam) as naam,
        max(array[periode_einde, periode_start])::text[] as recent
      from gegevens.leveringen where ${MATCHES_FILTER}
      group by organisation_key, municipality_key
      order by max(name_key) collate "C" nulls last, organisation_key collate "C", municipality_key`,
    values: filterValues(filter),
  });
  // The periods are texts, which sort as dates.
  const sorted = rows.map(({ recent }) => recent).toSorted();
  const [end, start] = sorted.at(-1) ?? [];
  return { deliverers: rows, recent: start === undefined || end === undefined ? undefined : { start, end } };
}

/** The requested current leveringen that overlap a period, in the order of delivery. */
export async function findLeveringen(db: Db, filter: Filter, { start, end }: Period): Promise<Levering[]> {
  const { rows } = await db.query<Levering & Record<string, unknown>>({
    name: 'gegevens-find-leveringen',
    text: `select ${LEVERING} from gegevens.leveringen l
      where ${MATCHES_FILTER} and periode_start <= $7::date and periode_einde >= $6::date
      order by ${ORDER}`,
    values: [...filterValues(filter), start, end],
  });
  return rows;
}

/** The newest levering of each requested organisation and municipality, of any period: an answer without records names these. */
export async function findOrganisations(db: Db, filter: Filter): Promise<Levering[]> {
  const { rows } = await db.query<Levering & Record<string, unknown>>({
    name: 'gegevens-find-organisations',
    text: `select ${LEVERING} from (
        select distinct on (organisation_key, municipality_key) * from gegevens.leveringen
        where ${MATCHES_FILTER}
        order by organisation_key, municipality_key, periode_einde desc, id desc
      ) l
      order by ${ORDER}`,
    values: filterValues(filter),
  });
  return rows;
}

/** Leveringen by their numbers, in that order, whatever became of them; those that were pruned are left out. */
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
  const { rows } = await db.query<
    Levering & { verwacht: number; start: string; einde: string } & Record<string, unknown>
  >({
    name: 'gegevens-find-paging-state',
    text: `select ${LEVERING}, cardinality(s.leveringen) as verwacht, s.periode_start as start, s.periode_einde as einde
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
  return { leveringen: rows, period: { start: first.start, end: first.einde } };
}

/** A levering, for the alias `l`. */
const LEVERING = `l.id, l.import_id as "invoerId", l.nummer, l.organisation_key as "organisatieSleutel", l.naam,
  l.municipality_key as "gemeenteSleutel", l.periode_start as "periodeStart", l.periode_einde as "periodeEinde",
  l.aangeleverd_op as "aangeleverdOp", l.envelope as head, l.records, l.zaken, l.bytes`;
