/** Reads leveringen to answer a request: which there are, the state that a requester pages through, and the stored texts. */
import pg from 'pg';
import { type Pool, withAbort } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { KIND, type Variant } from '../../lib/exchange-model/mapping.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import type {
  ChosenLevering,
  Deliverer,
  Filter,
  IndexedPart,
  Levering,
  Period,
  TextsPart,
} from '../model/selection.ts';

/** Organisation, then period, then the order of the file; the same on every call. */
const ORDER = `l.name_key collate "C" nulls last, l.organisation_key collate "C", l.period_start, l.period_end,
  l.import_id, l.number`;

const MATCHES_FILTER = `variant = $1::text and model_version = $2::text and withdrawn_at is null
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

export async function findDeliverers(db: Db, filter: Filter): Promise<RequestedDeliverers> {
  const { rows } = await db.query<Deliverer & { recent: string[] }>({
    name: 'gegevens-find-deliverers',
    text: `select organisation_key as "organisatieSleutel", municipality_key as "gemeenteSleutel", max(name) as naam,
        max(array[period_end, period_start])::text[] as recent
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

export async function findLeveringen(db: Db, filter: Filter, { start, end }: Period): Promise<Levering[]> {
  const { rows } = await db.query<Levering & Record<string, unknown>>({
    name: 'gegevens-find-leveringen',
    text: `select ${LEVERING} from gegevens.leveringen l
      where ${MATCHES_FILTER} and period_start <= $7::date and period_end >= $6::date
      order by ${ORDER}`,
    values: [...filterValues(filter), start, end],
  });
  return rows;
}

/** The newest levering of each requested organisation and municipality, of any period, for an answer without records. */
export async function findOrganisations(db: Db, filter: Filter): Promise<Levering[]> {
  const { rows } = await db.query<Levering & Record<string, unknown>>({
    name: 'gegevens-find-organisations',
    text: `select ${LEVERING} from (
        select distinct on (organisation_key, municipality_key) * from gegevens.leveringen
        where ${MATCHES_FILTER}
        order by organisation_key, municipality_key, period_end desc, id desc
      ) l
      order by ${ORDER}`,
    values: filterValues(filter),
  });
  return rows;
}

interface PagingKey {
  readonly variant: Variant;
  readonly afnemer: string;
  readonly filter: string;
}

export interface PagingState {
  readonly leveringen: readonly Levering[];
  readonly period: Period;
}

/** Saves the paging state of a requester in place of an earlier one, and removes some expired ones. */
export async function savePagingState(
  db: Db,
  { variant, afnemer, filter, leveringen, period, at, minutes }: SavedPagingState,
): Promise<void> {
  const expiresAt = new Date(at.getTime() + minutes * 60_000);
  await db.query({
    name: 'gegevens-save-paging-state',
    text: `with expired as (
        delete from gegevens.pinned_states where ctid = any(array(
          select ctid from gegevens.pinned_states where expires_at <= $5::timestamptz limit 100 for update skip locked))
      )
      insert into gegevens.pinned_states (variant, afnemer, filter, leveringen, created_at, expires_at, period_start, period_end)
      values ($1::text, $2::text, $3::text, $4::bigint[], $5::timestamptz, $6::timestamptz, $7::date, $8::date)
      on conflict (variant, afnemer, filter) do update
      set leveringen = excluded.leveringen, created_at = excluded.created_at, expires_at = excluded.expires_at,
        period_start = excluded.period_start, period_end = excluded.period_end`,
    values: [variant, afnemer, filter, leveringen.map(({ id }) => id), at, expiresAt, period.start, period.end],
  });
}

interface SavedPagingState extends PagingKey, PagingState {
  readonly at: Date;
  readonly minutes: number;
}

/** The state saved for a requester, in the saved order; `undefined` if it is missing, expired or no longer complete. */
export async function findPagingState(
  db: Db,
  { variant, afnemer, filter }: PagingKey,
  at: Date,
): Promise<PagingState | undefined> {
  const { rows } = await db.query<
    Levering & { expected: number; start: string; end: string } & Record<string, unknown>
  >({
    name: 'gegevens-find-paging-state',
    text: `select ${LEVERING}, cardinality(s.leveringen) as expected, s.period_start as start, s.period_end as "end"
      from gegevens.pinned_states s
      cross join lateral unnest(s.leveringen) with ordinality as k (id, position)
      join gegevens.leveringen l on l.id = k.id and l.reason is distinct from 'verwijderd'
      where s.variant = $1::text and s.afnemer = $2::text and s.filter = $3::text and s.expires_at > $4::timestamptz
      order by k.position`,
    values: [variant, afnemer, filter, at],
  });
  const [first] = rows;
  // Part of it was removed or pruned: the current state is better than one with gaps.
  if (first === undefined || first.expected !== rows.length) return undefined;
  return { leveringen: rows, period: { start: first.start, end: first.end } };
}

export const LEVERING = `l.id, l.import_id as "invoerId", l.number as nummer, l.organisation_key as "organisatieSleutel", l.name as naam,
  l.municipality_key as "gemeenteSleutel", l.period_start as "periodeStart", l.period_end as "periodeEinde",
  l.submitted_at as "aangeleverdOp", l.envelope as head, l.records, l.zaken, l.bytes`;

// Texts: whole lists, or the records that overlap a period, each record once. `offset 0` keeps the planner from merging the subqueries: it has no
// statistics of a newly loaded table, and might scan it once for each row instead of using a key.

/** Streams the texts of one list, in order. Cases of a whole levering are read along their key, those of a part by the records they go with. */
export function streamList(
  client: pg.ClientBase,
  { slice: { levering, from, to }, list }: TextsPart,
  take: (text: string) => void,
): Promise<void> {
  const takeRow: TakeRow = ([text]) => take(text ?? '');
  const { invoerId, nummer, records, zaken } = levering;
  if (list === 'records' || (from === 0 && to === records)) {
    const text = `select text from gegevens.records
      where import_id = $1::bigint and levering = $2::int and kind = $3::smallint and number >= $4::int and number < $5::int
      order by number`;
    const range = list === 'records' ? [from, to] : [0, zaken];
    return streamTexts(client, takeRow, text, [invoerId, nummer, KIND[list], ...range]);
  }
  const text = `select r.text from (
      select zaak from gegevens.case_records
      where import_id = $1::bigint and levering = $2::int and record >= $3::int and record < $4::int
      order by zaak
      offset 0) z
    cross join lateral (
      select text from gegevens.records
      where import_id = $1::bigint and levering = $2::int and kind = ${KIND.zaken} and number = z.zaak
      offset 0) r
    order by z.zaak`;
  // The cases of a levering without records go with record 0.
  return streamTexts(client, takeRow, text, [invoerId, nummer, from, Math.max(to, from + 1)]);
}

export interface SelectOptions {
  /** All leveringen of the answer, because which records of one are delivered depends on the newer ones of its group. */
  readonly chosen: readonly ChosenLevering[];
  readonly period: Period;
  /** Whether two records with the same persons must also run at the same time to be the same record; false where records have an ID. */
  readonly byRunningTime: boolean;
}

/**
 * $1 to $5: the leveringen (import, index in it, group, rank, number of cases); $6 and $7: the period; $8: `byRunningTime`; for `streamSelected` also $9
 * to $13: the slices (levering as its place in $1, list, first record, record after the last, place in the answer).
 */
const DELIVERED = `chosen as (
    -- The leveringen; slot: the place of one in the parameters, from 1.
    select *, rank = max(rank) over (partition by grp) as is_newest from unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::int[]) with ordinality
      as c (import_id, levering, grp, rank, zaken, slot)
  ), overlapping as materialized (
    select c.slot, c.grp, c.rank, c.is_newest, t.number, t.start_date, t.end_date, t.identity_hash
    from chosen c
    cross join lateral (
      select number, start_date, end_date, identity_hash from gegevens.record_periods l
      where l.import_id = c.import_id and l.levering = c.levering
        and coalesce(l.start_date <= $7::date, true) and coalesce(l.end_date >= $6::date, true)
      offset 0) t
  ), delivered as materialized (
    -- Those that do not occur in a newer delivery of their group; the newest needs no comparison.
    select slot, number from overlapping where is_newest
    union all
    select o.slot, o.number
    from overlapping o
    where not o.is_newest and not exists (
      select from overlapping n
      where n.grp = o.grp and n.identity_hash = o.identity_hash and n.rank > o.rank
        and (not $8::boolean or (coalesce(n.start_date <= o.end_date, true) and coalesce(o.start_date <= n.end_date, true))))
  )`;

/** By number: the delivered records of each levering that is delivered in part. @throws the signal's reason, with the statement cancelled */
export async function countSelected(
  pool: Pool,
  options: SelectOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const partial = options.chosen.filter(({ group }) => group !== undefined);
  if (partial.length === 0) return new Map();
  const { rows } = await withAbort(pool, signal, (client) =>
    withoutNestedLoops(client, () =>
      client.query<{ slot: number; records: number }>(
        `with ${DELIVERED} select slot, count(*)::int as records from delivered group by slot`,
        selectionValues(partial, options),
      ),
    ),
  );
  const counts = new Map(rows.map(({ slot, records }) => [slot, records]));
  return new Map(partial.map(({ levering }, index) => [levering.id, counts.get(index + 1) ?? 0]));
}

/**
 * Streams the delivered texts of neighbouring lists by one statement, list by list. A case is delivered with the first of its signals that is
 * delivered, or with the first record when its levering has none of them; it is left out when a newer delivery of the group has a case with one of
 * its signals.
 */
export async function streamSelected(
  client: pg.ClientBase,
  lists: readonly IndexedPart[],
  take: (text: string, index: number) => void,
  options: SelectOptions,
): Promise<void> {
  const groups = new Set(lists.map(({ part }) => part.slice.group));
  const ofGroups = options.chosen.filter(({ group }) => groups.has(group));
  const slots = new Map(ofGroups.map(({ levering }, index) => [levering, index + 1]));
  const text = `with ${DELIVERED}, slices as (
      select * from unnest($9::int[], $10::int[], $11::int[], $12::int[], $13::int[])
        as s (slot, kind, from_nr, to_nr, part)
    ), numbered as (
      -- The delivered records of each levering, counted from 0.
      select slot, number, row_number() over (partition by slot order by number) - 1 as nr from delivered
    ), on_page as materialized (
      select s.slot, s.kind, s.part, n.number
      from slices s
      join numbered n on n.slot = s.slot and n.nr >= s.from_nr and n.nr < s.to_nr
    ), named as materialized (
      -- The overlapping signals that cases name.
      select o.slot, o.grp, o.rank, o.identity_hash, o.number, z.zaak
      from (select * from chosen where zaken > 0) c
      cross join lateral (
        select zaak, signaal from gegevens.case_signals z
        where z.import_id = c.import_id and z.levering = c.levering
        offset 0) z
      join overlapping o on o.slot = c.slot and o.number = z.signaal
    ), zaken as (
      -- The delivered cases, each with the signal that it is delivered with.
      select m.slot, m.zaak, min(m.number) as number
      from named m
      join delivered g on g.slot = m.slot and g.number = m.number
      where (m.slot, m.zaak) not in (
        select o.slot, o.zaak from named o
        join named n on n.grp = o.grp and n.identity_hash = o.identity_hash and n.rank > o.rank)
      group by m.slot, m.zaak
    ), wanted as (
      -- The records, the cases that go with one of them, and at record 0 the cases that name no signal of the levering.
      select slot, part, ${KIND.records} as kind, number from on_page where kind = ${KIND.records}
      union all
      select p.slot, p.part, ${KIND.zaken}, z.zaak from on_page p
      join zaken z on z.slot = p.slot and z.number = p.number
      where p.kind = ${KIND.zaken}
      union all
      select s.slot, s.part, ${KIND.zaken}, z.zaak
      from slices s
      join chosen c on c.slot = s.slot
      cross join lateral (
        select n as zaak from generate_series(0, c.zaken - 1) n
        where not exists (
          select from gegevens.case_signals z
          where z.import_id = c.import_id and z.levering = c.levering and z.zaak = n)
        offset 0) z
      where s.kind = ${KIND.zaken} and s.from_nr = 0
    )
    select t.text, w.part
    from (
      select c.import_id, c.levering, w.part, w.kind, w.number
      from wanted w
      join chosen c on c.slot = w.slot
      order by w.part, w.number
      offset 0) w
    cross join lateral (
      select text from gegevens.records r
      where r.import_id = w.import_id and r.levering = w.levering and r.kind = w.kind and r.number = w.number
      offset 0) t
    order by w.part, w.number`;
  const values = [
    ...selectionValues(ofGroups, options),
    lists.map(({ part }) => slots.get(part.slice.levering)),
    lists.map(({ part }) => KIND[part.list]),
    lists.map(({ part }) => part.slice.from),
    lists.map(({ part }) => part.slice.to),
    lists.map(({ index }) => index),
  ];
  const takeRow: TakeRow = ([stored, index]) => take(stored ?? '', Number(index));
  await withoutNestedLoops(client, () => streamTexts(client, takeRow, text, values));
}

/** Nested loops take hours for the records of a city, and the planner may choose them for newly loaded rows, which its statistics lack. */
async function withoutNestedLoops<T>(client: pg.ClientBase, run: () => Promise<T>): Promise<T> {
  await client.query('begin read only');
  try {
    await client.query('set local enable_nestloop = off');
    const result = await run();
    await client.query('commit');
    return result;
  } catch (error) {
    // The connection is reused; on a closed one the rollback fails, and is not needed.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

function selectionValues(
  partial: readonly ChosenLevering[],
  { period, byRunningTime }: Pick<SelectOptions, 'period' | 'byRunningTime'>,
): unknown[] {
  return [
    partial.map(({ levering }) => levering.invoerId),
    partial.map(({ levering }) => levering.nummer),
    partial.map(({ group }) => group),
    // A later import is newer; parts of one share its rank.
    partial.map(({ levering }) => levering.invoerId),
    partial.map(({ levering }) => levering.zaken),
    period.start,
    period.end,
    byRunningTime,
  ];
}

type TakeRow = (fields: readonly (string | null)[]) => void;

/** Without a list of rows in memory. The statement has no name: behind a transaction pooler the next use may reach another server process. */
function streamTexts(client: pg.ClientBase, take: TakeRow, text: string, values: unknown[]): Promise<void> {
  return new Promise((resolve, reject) => {
    // A callback, not events: for its own time limit the driver sets one itself, and then emits no error.
    const done = (error: Error | null | undefined): void => (error == null ? resolve() : reject(error));
    client.query(new TextsQuery(client.connection, take, { text, values }, done));
  });
}

/** Straight from the driver: a row object costs more than a short text. Megabytes may be ready; reading pauses when this turn's budget is used up. */
class TextsQuery extends pg.Query {
  readonly #connection: pg.Connection;
  readonly #take: TakeRow;

  constructor(
    connection: pg.Connection,
    take: TakeRow,
    config: pg.QueryConfig<unknown[]>,
    done: (error: Error | null | undefined) => void,
  ) {
    super(config, done);
    this.#connection = connection;
    this.#take = take;
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#take(fields);
    const { stream } = this.#connection;
    if (stream.isPaused() || !eventLoopBudget.exhausted()) return;
    stream.pause();
    setImmediate(() => stream.resume());
  }
}
