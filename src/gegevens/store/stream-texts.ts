import pg from 'pg';
import { eventLoopBudget } from '../../kernel/scheduling.ts';
import type { TextsPart } from '../domain/answer-frame.ts';

declare module 'pg' {
  interface ClientBase {
    readonly connection: Connection;
  }
}

// `offset 0` keeps the inner parts of these statements as they are, walks along a key: joined freely, a table that was loaded a moment
// ago, and of which the planner knows nothing yet, might be read whole, or once for each of its rows.

/** Takes a stored text as it comes from the server. @param place of its list among those asked for */
export type TakeText = (text: string, place: number) => void;

/** Hands over the texts of one list, in their order, however many there are. */
export function streamList(client: pg.ClientBase, { slice, list }: TextsPart, take: TakeText): Promise<void> {
  const { levering, from, to } = slice;
  const key = [levering.invoerId, levering.nummer];
  const range = `select tekst from gegevens.records
      where invoer_id = $1::bigint and levering = $2::int and soort = $3::smallint and nummer >= $4::int and nummer < $5::int
      order by nummer`;
  if (list === 'records') return streamTexts(client, take, range, [...key, 0, from, to]);
  // With all of its records go all of its cases: no need to look up which.
  if (from === 0 && to === levering.records) return streamTexts(client, take, range, [...key, 1, 0, levering.zaken]);
  const text = `select r.tekst
    from (
      select zaak from gegevens.zaken_bij
      where invoer_id = $1::bigint and levering = $2::int and bij >= $3::int and bij < $4::int
      order by zaak
    ) z
    cross join lateral (
      select tekst from gegevens.records
      where invoer_id = $1::bigint and levering = $2::int and soort = 1 and nummer = z.zaak
      offset 0) r
    order by z.zaak`;
  return streamTexts(client, take, text, [...key, from, endOfZaken(from, to)]);
}

/**
 * Hands over the texts of many short lists in one go, list by list: an answer may hold hundreds of organisations, and a question for
 * each would take longer than all of their records.
 */
export function streamLists(client: pg.ClientBase, lists: readonly TextsPart[], take: TakeText): Promise<void> {
  const text = `with gevraagd as (
      select * from unnest($1::smallint[], $2::bigint[], $3::int[], $4::int[], $5::int[]) with ordinality
        as g (soort, invoer_id, levering, van, tot, plaats)
    )
    select tekst, plaats::int - 1 from (
      select t.tekst, g.plaats, t.nummer
      from gevraagd g
      cross join lateral (
        select r.tekst, r.nummer from gegevens.records r
        where r.invoer_id = g.invoer_id and r.levering = g.levering and r.soort = 0
          and r.nummer >= g.van and r.nummer < g.tot
        offset 0) t
      where g.soort = 0
      union all
      select t.tekst, g.plaats, t.nummer
      from gevraagd g
      cross join lateral (
        select z.zaak from gegevens.zaken_bij z
        where z.invoer_id = g.invoer_id and z.levering = g.levering and z.bij >= g.van and z.bij < g.tot
        offset 0) z
      cross join lateral (
        select r.tekst, r.nummer from gegevens.records r
        where r.invoer_id = g.invoer_id and r.levering = g.levering and r.soort = 1 and r.nummer = z.zaak
        offset 0) t
      where g.soort = 1
    ) gevonden
    order by plaats, nummer`;
  return streamTexts(client, take, text, [
    lists.map(({ list }) => (list === 'records' ? 0 : 1)),
    lists.map(({ slice }) => slice.levering.invoerId),
    lists.map(({ slice }) => slice.levering.nummer),
    lists.map(({ slice }) => slice.from),
    lists.map(({ slice, list }) => (list === 'records' ? slice.to : endOfZaken(slice.from, slice.to))),
  ]);
}

/** A levering without records has its cases with the place where the first record would be. */
function endOfZaken(from: number, to: number): number {
  return Math.max(to, from + 1);
}

/**
 * Rows are taken one by one as their bytes come in, so that no list of them is ever in memory. The statement has no name: a query of
 * this form keeps it also behind a transaction pooler, where the next use may meet another server process.
 */
export function streamTexts(client: pg.ClientBase, take: TakeText, text: string, values: unknown[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null | undefined): void => (error == null ? resolve() : reject(error));
    client.query(new TextsQuery(client.connection, take, { text, values }, done));
  });
}

/**
 * Takes each row as the driver read it: making a row of it and telling all who listen costs more than what is done with a short text.
 *
 * What lies ready on the connection, megabytes when the database is faster than we are, is not all taken in one turn of the event loop.
 */
class TextsQuery extends pg.Query {
  readonly #connection: pg.Connection;
  readonly #take: TakeText;

  /** @param done by callback, not by events: the driver sets one itself for its own deadline, and then tells an error to nobody else */
  constructor(
    connection: pg.Connection,
    take: TakeText,
    config: pg.QueryConfig<unknown[]>,
    done: (error: Error | null | undefined) => void,
  ) {
    super(config, done);
    this.#connection = connection;
    this.#take = take;
  }

  /** Called by the driver for each row. @param message.fields the values in the form of text */
  handleDataRow({ fields: [text, place] }: { fields: (string | null)[] }): void {
    this.#take(text ?? '', Number(place ?? 0));
    const { stream } = this.#connection;
    if (stream.isPaused() || !eventLoopBudget.exhausted()) return;
    stream.pause();
    eventLoopBudget.defer(() => stream.resume());
  }
}
