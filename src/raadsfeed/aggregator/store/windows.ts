/** The windows of a supplier's source: which days are read as a whole, and when. */
import type { Db } from '../../../kernel/database/transaction.ts';
import type { DateWindow } from '../source-adapter.ts';

export interface DueWindow extends DateWindow {
  readonly depth: 'quick' | 'full';
}

/** Makes windows that are not there yet; the last one may have grown. */
export async function ensureWindows(db: Db, sourceId: number, windows: readonly DateWindow[]): Promise<void> {
  await db.query({
    name: 'aggregator-ensure-windows',
    text: `insert into aggregator.venster as v (bron_id, van, tot)
           select $1::integer, van, tot from unnest($2::date[], $3::date[]) as n (van, tot)
               on conflict (bron_id, van) do update set tot = excluded.tot where v.tot <> excluded.tot`,
    values: [sourceId, windows.map(({ from }) => from), windows.map(({ to }) => to)],
  });
}

/**
 * The window that is read next: those never read from the newest back, then current ones that are due for a quick look, then the slow
 * round. @param currentFrom first days of the windows that are current
 */
export async function nextWindow(
  db: Db,
  sourceId: number,
  currentFrom: readonly string[],
): Promise<DueWindow | undefined> {
  const { rows } = await db.query<DueWindow>({
    name: 'aggregator-next-window',
    text: `select van::text as from, tot::text as to,
                  case when gelezen is null or volgende_volledig <= now() then 'full' else 'quick' end as depth
             from aggregator.venster
            where bron_id = $1::integer
              and (volgende_volledig <= now() or (van = any ($2::date[]) and volgende_snel <= now()))
            order by gelezen is null desc, case when gelezen is null then van end desc,
                     (van = any ($2::date[]) and volgende_snel <= now()) desc, volgende_volledig
            limit 1`,
    values: [sourceId, currentFrom],
  });
  return rows[0];
}

/** Milliseconds until a window is due. */
export async function untilNextWindow(db: Db, sourceId: number, currentFrom: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ ms: number | null }>({
    name: 'aggregator-until-window',
    text: `select extract(epoch from min(case when van = any ($2::date[]) then least(volgende_snel, volgende_volledig)
                                              else volgende_volledig end) - now())::double precision * 1000 as ms
             from aggregator.venster where bron_id = $1::integer`,
    values: [sourceId, currentFrom],
  });
  return Math.max(0, rows[0]?.ms ?? 0);
}

export interface WindowResult extends DueWindow {
  readonly complete: boolean;
  readonly withheld: number;
  readonly quickAgainMs: number;
  readonly fullAgainMs: number;
}

/** Keeps how a window was read. */
export async function saveWindow(db: Db, sourceId: number, result: WindowResult, at: Date): Promise<void> {
  await db.query({
    name: 'aggregator-save-window',
    text: `update aggregator.venster
              set gelezen = $3::timestamptz, volledig = $4::boolean, achtergehouden = $5::integer,
                  volledig_gelezen = case when $4::boolean then $3::timestamptz else volledig_gelezen end,
                  volgende_snel = now() + make_interval(secs => $6::double precision / 1000),
                  volgende_volledig = case when $7::boolean then now() + make_interval(secs => $8::double precision / 1000)
                                           else volgende_volledig end
            where bron_id = $1::integer and van = $2::date`,
    values: [
      sourceId,
      result.from,
      at.toISOString(),
      result.complete,
      result.withheld,
      result.quickAgainMs,
      result.depth === 'full',
      // What was not complete is not left for a whole round.
      result.complete ? result.fullAgainMs : Math.min(result.fullAgainMs, result.quickAgainMs),
    ],
  });
}

/**
 * Until when all of a supplier's source is up to date: when the current windows were last read, provided that every window was
 * complete at its last reading. `undefined` while one is not.
 */
export async function completeSince(
  db: Db,
  sourceId: number,
  currentFrom: readonly string[],
): Promise<Date | undefined> {
  const { rows } = await db.query<{ since: Date | null; complete: boolean | null }>({
    name: 'aggregator-complete-since',
    text: `select min(gelezen) filter (where van = any ($2::date[])) as since,
                  bool_and(coalesce(volledig, false) and achtergehouden = 0) as complete
             from aggregator.venster where bron_id = $1::integer`,
    values: [sourceId, currentFrom],
  });
  const [row] = rows;
  return row?.complete === true && row.since !== null ? row.since : undefined;
}
