/** The windows of a supplier's source, and when each is read. */
import type { Db } from '../../../database/transaction.ts';
import { columns, readStateHashes } from '../../store/state.ts';
import { type Lease, LeaseLostError } from '../source.ts';
import { type Coverage, measureCoverage } from '../supplier/coverage.ts';
import {
  type DateWindow,
  type KnownItem,
  type MeetingsRead,
  partKey,
  type WindowReading,
} from '../supplier/source-adapter.ts';
import { isRegisters, periodOf, REGISTERS } from '../supplier/windows.ts';

export interface DueWindow extends DateWindow {
  readonly depth: 'quick' | 'full';
  readonly completeAt?: Date | null;
}

export async function readMeetingsRead(db: Db, sourceId: number): Promise<MeetingsRead> {
  const { rows } = await db.query<MeetingsRead>(
    `select coalesce(bool_or(has_confidential), false) as "hasConfidential",
            coalesce(bool_or(complete is not true), true) as "isUnread"
       from aggregator.windows where source_id = $1::integer and first_day <> $2::date`,
    [sourceId, REGISTERS.from],
  );
  return rows[0] ?? { hasConfidential: false, isUnread: true };
}

export async function ensureWindows(db: Db, sourceId: number, windows: readonly DateWindow[]): Promise<void> {
  await db.query(
    `with ended as (
       delete from aggregator.windows where source_id = $1::integer and first_day <> all ($2::date[])
     )
     insert into aggregator.windows (source_id, first_day, last_day)
     select $1::integer, first_day, last_day from unnest($2::date[], $3::date[]) as n (first_day, last_day)
      -- A conflict alone would lock, so write, every row.
      where not exists (select from aggregator.windows w where w.source_id = $1::integer and w.first_day = n.first_day and w.last_day = n.last_day)
         on conflict (source_id, first_day) do update set last_day = excluded.last_day`,
    [sourceId, ...columns(windows, 'from', 'to')],
  );
}

/** First windows never read, newest first; then current ones (by their first days) due for a quick reading; then the full round. */
export async function nextWindow(db: Db, sourceId: number, currentFrom: readonly string[]) {
  const { rows } = await db.query<DueWindow>(
    `select first_day::text as from, last_day::text as to,
            case when read_at is null or next_full_at <= now() then 'full' else 'quick' end as depth,
            complete_at as "completeAt"
       from aggregator.windows
      where source_id = $1::integer
        and (next_full_at <= now() or (first_day = any ($2::date[]) and next_quick_at <= now()))
      order by read_at is null desc, case when read_at is null then first_day end desc,
               (first_day = any ($2::date[]) and next_quick_at <= now()) desc, next_full_at
      limit 1`,
    [sourceId, currentFrom],
  );
  return rows[0];
}

interface WindowResult extends DueWindow {
  readonly complete: boolean;
  readonly hasConfidential?: boolean;
  readonly withheld: number;
  readonly quickAgainMs: number;
  readonly fullAgainMs: number;
}

export async function saveWindow(db: Db, sourceId: number, result: WindowResult, at: Date): Promise<void> {
  const { from, depth, complete, hasConfidential = false, withheld, quickAgainMs, fullAgainMs } = result;
  // An incomplete one sooner than the next full round.
  const againMs = complete ? fullAgainMs : Math.min(fullAgainMs, quickAgainMs);
  await db.query(
    `update aggregator.windows
        set read_at = $3::timestamptz, complete = $4::boolean, withheld = $5::integer, has_confidential = $9::boolean,
            complete_at = case when $4::boolean then $3::timestamptz else complete_at end,
            next_quick_at = now() + make_interval(secs => $6::double precision / 1000),
            next_full_at = case when $7::boolean then now() + make_interval(secs => $8::double precision / 1000)
                                     else next_full_at end
      where source_id = $1::integer and first_day = $2::date`,
    [sourceId, from, at, complete, withheld, quickAgainMs, depth === 'full', againMs, hasConfidential],
  );
}

/** When the current windows were last read, provided that every window was complete; else `undefined`. */
export async function completeSince(db: Db, sourceId: number, currentFrom: readonly string[]) {
  const { rows } = await db.query<{ since: Date | null; complete: boolean | null }>(
    `select min(read_at) filter (where first_day = any ($2::date[])) as since,
            bool_and(coalesce(complete, false) and withheld = 0) as complete
       from aggregator.windows where source_id = $1::integer`,
    [sourceId, currentFrom],
  );
  const [row] = rows;
  return row?.complete === true && row.since !== null ? row.since : undefined;
}

/** Resources deleted in the current full round; a new one begins after `roundMs`. */
export async function readRound(db: Db, { source, number }: Lease, roundMs: number): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>(
    `update aggregator.sources
        set round_deleted = case when round_started_at < now() - make_interval(secs => $3::double precision / 1000) then 0 else round_deleted end,
            round_started_at = case when round_started_at < now() - make_interval(secs => $3::double precision / 1000) then now() else round_started_at end
      where id = $1::integer and lease_number = $2::bigint
  returning round_deleted as deleted`,
    [source.id, number, roundMs],
  );
  const [row] = rows;
  if (row === undefined) throw new LeaseLostError();
  return row.deleted;
}

/** Replaces the measurement of the whole months in a window, as far as the source's period goes; for registers, of all months. */
export async function saveCoverage(
  db: Db,
  sourceId: number,
  { months }: Coverage,
  { window, period = periodOf() }: { readonly window: DateWindow; readonly period?: DateWindow },
): Promise<void> {
  const registers = isRegisters(window);
  const whole = months.filter(({ month }) => registers || isWhole(month, window, period));
  await db.query(
    `delete from aggregator.coverage
      where source_id = $1::integer and registers = $4::boolean
        and ($4::boolean or greatest(to_date(month, 'YYYY-MM'), $5::date) >= $2::date
            and least((to_date(month, 'YYYY-MM') + interval '1 month' - interval '1 day')::date, $6::date) <= $3::date)`,
    [sourceId, window.from, window.to, registers, period.from, period.to],
  );
  await db.query(
    `insert into aggregator.coverage (source_id, month, shown, held, registers)
     select $1::integer, month, shown, held, $5::boolean
       from unnest($2::text[], $3::integer[], $4::integer[]) as n (month, shown, held)`,
    [sourceId, ...columns(whole, 'month', 'shown', 'held'), registers],
  );
}

function isWhole(month: string, { from, to }: DateWindow, period: DateWindow): boolean {
  const [year = 0, number = 0] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  const first = `${month}-01`;
  return (first >= from || period.from >= from) && (last <= to || period.to <= to);
}

export async function measureReading(
  db: Db,
  organisatiecode: string,
  reading: Pick<WindowReading, 'items' | 'unchanged' | 'unread'>,
  known: readonly KnownItem[],
): Promise<Coverage> {
  const parts = [...reading.items, ...known].flatMap((item) => item.parts);
  const shown = new Map(parts.map((part) => [partKey(part), part]));
  const resources = [...shown.values()].map(({ resourceType, bronidentificatie }) => ({
    resourceType,
    resource: { organisatiecode, bronidentificatie },
  }));
  const held = await readStateHashes(db, resources);
  return measureCoverage(reading, known, (key) => held.has(`${organisatiecode}/${key}`));
}
