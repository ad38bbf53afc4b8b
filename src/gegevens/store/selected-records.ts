import type pg from 'pg';
import { type Pool, withAbort } from '../../kernel/database/pool.ts';
import type { TextsPart } from '../domain/answer-frame.ts';
import type { ChosenLevering, Levering, Selection } from '../domain/levering.ts';
import { streamTexts, type TakeText } from './stream-texts.ts';

/** A levering of which some records are given. */
export interface SelectedLevering extends ChosenLevering {
  readonly levering: Levering;
  readonly selection: Selection;
}

export interface SelectOptions {
  /** All selected leveringen of the answer: what is given of one depends on the newer ones of its group. */
  readonly all: readonly SelectedLevering[];
  /** Whether two records with the same persons must also run at the same time to be the same record; not so where records have an ID. */
  readonly byRunningTime: boolean;
}

/**
 * $1 to $5: the leveringen (import, place in it, group, rank, number of cases); $6 and $7: the period; $8: `byRunningTime`.
 *
 * `overlapping`: their records that overlap the period. `given`: those without the ones that stand in a newer delivery of their group, for
 * which the newest one need not be looked at.
 * `offset 0` keeps the inner reads as they are, walks along a key.
 */
const GIVEN = `chosen as (
    select *, rang = max(rang) over (partition by groep) as is_newest from unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::int[]) with ordinality
      as c (invoer_id, levering, groep, rang, zaken, plaats)
  ), overlapping as materialized (
    select c.plaats, c.groep, c.rang, c.is_newest, t.nummer, t.begin, t.einde, t.sleutel
    from chosen c
    cross join lateral (
      select nummer, begin, einde, sleutel from gegevens.looptijden l
      where l.invoer_id = c.invoer_id and l.levering = c.levering
        and coalesce(l.begin <= $7::date, true) and coalesce(l.einde >= $6::date, true)
      offset 0) t
  ), given as materialized (
    select plaats, nummer from overlapping where is_newest
    union all
    select o.plaats, o.nummer
    from overlapping o
    where not o.is_newest and not exists (
      select from overlapping n
      where n.groep = o.groep and n.sleutel = o.sleutel and n.rang > o.rang
        and (not $8::boolean or (coalesce(n.begin <= o.einde, true) and coalesce(o.begin <= n.einde, true))))
  )`;

/** How many records of each levering are given. @throws the signal's reason when it fires; the statement ends then */
export async function countSelected(pool: Pool, options: SelectOptions, signal: AbortSignal): Promise<number[]> {
  const { all } = options;
  if (all.length === 0) return [];
  const { rows } = await withAbort(pool, signal, (client) =>
    plannedForMany(client, () =>
      client.query<{ plaats: number; records: number }>(
        `with ${GIVEN} select plaats, count(*)::int as records from given group by plaats`,
        givenValues(options),
      ),
    ),
  );
  const counts = new Map(rows.map(({ plaats, records }) => [plaats, records]));
  return all.map((_, index) => counts.get(index + 1) ?? 0);
}

/**
 * Hands over the given texts of neighbouring lists in one go, list by list.
 *
 * A case goes with the first of its signals that is given; one that names no signal of its levering goes with the first record. A case is
 * not given when a newer delivery of the group has a case with one of its signals.
 */
export async function streamSelected(
  client: pg.ClientBase,
  lists: readonly TextsPart[],
  take: TakeText,
  { all: ofAnswer, byRunningTime }: SelectOptions,
): Promise<void> {
  const groups = new Set(lists.map(({ slice }) => slice.selection?.group));
  const all = ofAnswer.filter(({ selection }) => groups.has(selection.group));
  const places = new Map(all.map(({ levering }, index) => [levering, index + 1]));
  const text = `with ${GIVEN}, slices as (
      select * from unnest($9::int[], $10::int[], $11::int[], $12::int[], $13::int[])
        as s (plaats, soort, van, tot, deel)
    ), numbered as (
      select plaats, nummer, row_number() over (partition by plaats order by nummer) - 1 as volgnummer from given
    ), on_page as materialized (
      select s.plaats, s.soort, s.deel, n.nummer
      from slices s
      join numbered n on n.plaats = s.plaats and n.volgnummer >= s.van and n.volgnummer < s.tot
    ), named as materialized (
      select o.plaats, o.groep, o.rang, o.sleutel, o.nummer, z.zaak
      from (select * from chosen where zaken > 0) c
      cross join lateral (
        select zaak, signaal from gegevens.zaak_signalen z
        where z.invoer_id = c.invoer_id and z.levering = c.levering
        offset 0) z
      join overlapping o on o.plaats = c.plaats and o.nummer = z.signaal
    ), zaken as (
      select m.plaats, m.zaak, min(m.nummer) as nummer
      from named m
      join given g on g.plaats = m.plaats and g.nummer = m.nummer
      where (m.plaats, m.zaak) not in (
        select o.plaats, o.zaak from named o
        join named n on n.groep = o.groep and n.sleutel = o.sleutel and n.rang > o.rang)
      group by m.plaats, m.zaak
    ), wanted as (
      select plaats, deel, 0 as soort, nummer from on_page where soort = 0
      union all
      select p.plaats, p.deel, 1, z.zaak from on_page p
      join zaken z on z.plaats = p.plaats and z.nummer = p.nummer
      where p.soort = 1
      union all
      select s.plaats, s.deel, 1, z.zaak
      from slices s
      join chosen c on c.plaats = s.plaats
      cross join lateral (
        select n as zaak from generate_series(0, c.zaken - 1) n
        where not exists (
          select from gegevens.zaak_signalen z
          where z.invoer_id = c.invoer_id and z.levering = c.levering and z.zaak = n)
        offset 0) z
      where s.soort = 1 and s.van = 0
    )
    select t.tekst, w.deel
    from (
      select c.invoer_id, c.levering, w.deel, w.soort, w.nummer
      from wanted w
      join chosen c on c.plaats = w.plaats
      order by w.deel, w.nummer
      offset 0) w
    cross join lateral (
      select tekst from gegevens.records r
      where r.invoer_id = w.invoer_id and r.levering = w.levering and r.soort = w.soort and r.nummer = w.nummer
      offset 0) t
    order by w.deel, w.nummer`;
  const values = [
    ...givenValues({ all, byRunningTime }),
    lists.map(({ slice }) => places.get(slice.levering)),
    lists.map(({ list }) => (list === 'records' ? 0 : 1)),
    lists.map(({ slice }) => slice.from),
    lists.map(({ slice }) => slice.to),
    lists.map((_, index) => index),
  ];
  await plannedForMany(client, () => streamTexts(client, take, text, values));
}

/**
 * Runs a statement that compares records with records. One by one with all others that takes hours for those of a city, and the planner
 * may choose just that for rows that were loaded a moment ago and that it has not counted yet.
 */
async function plannedForMany<T>(client: pg.ClientBase, run: () => Promise<T>): Promise<T> {
  await client.query('begin read only');
  try {
    await client.query('set local enable_nestloop = off');
    const result = await run();
    await client.query('commit');
    return result;
  } catch (error) {
    // The connection is used again by others; one that is closed needs no end of its transaction.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

function givenValues({ all, byRunningTime }: SelectOptions): unknown[] {
  const [first] = all;
  return [
    all.map(({ levering }) => levering.invoerId),
    all.map(({ levering }) => levering.nummer),
    all.map(({ selection }) => selection.group),
    all.map(({ selection }) => selection.rank),
    all.map(({ levering }) => levering.zaken),
    first?.selection.period.start,
    first?.selection.period.end,
    byRunningTime,
  ];
}
