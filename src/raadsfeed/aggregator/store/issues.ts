/** Issues of a source for its operator, and the resources whose last record was refused. */
import type { Db } from '../../../database/transaction.ts';
import { columns } from '../../store/state.ts';
import type { DateWindow, SourceIssue, WindowReading } from '../supplier/source-adapter.ts';

const MAX_TEXT = 1000;
const MAX_ISSUES = 1000;

/** A form that no recording confirms. */
export const UNCONFIRMED = 'unconfirmed-form';
/** Deletes that wait for an operator; the next comparison decides whether they still do. */
export const WITHHELD = 'mass-delete-withheld';

/** Counts known issues; the oldest are dropped to make room. @param window of a supplier */
export async function addIssues(
  db: Db,
  sourceId: number,
  issues: readonly SourceIssue[],
  at: Date,
  window?: DateWindow,
): Promise<void> {
  if (issues.length === 0) return;
  const rows = columns(storable(issues), 'what', 'where', 'detail', 'times', 'blocking');
  await db.query(
    `insert into aggregator.issues as m
            (source_id, window_from, window_to, kind, place, detail, times, blocking, first_seen_at, last_seen_at)
     select $1::integer, $2::date, $3::date, kind, place, detail, times, blocking, $4::timestamptz, $4::timestamptz
       from unnest($5::text[], $6::text[], $7::text[], $8::bigint[], $9::boolean[]) as n (kind, place, detail, times, blocking)
         on conflict (source_id, kind, place, detail, window_from, window_to) do update
        set times = m.times + excluded.times, last_seen_at = excluded.last_seen_at, blocking = excluded.blocking`,
    [sourceId, window?.from, window?.to, at.toISOString(), ...rows],
  );
  await db.query(
    `delete from aggregator.issues
      where id in (select id from aggregator.issues where source_id = $1::integer order by last_seen_at desc, id offset $2::integer)`,
    [sourceId, MAX_ISSUES],
  );
}

/** Texts that the database can hold; issues that become the same are one: a statement cannot write a row twice. */
function storable(issues: readonly SourceIssue[]): readonly SourceIssue[] {
  const text = (value: string): string => value.replaceAll('\0', '').slice(0, MAX_TEXT).toWellFormed();
  const found = new Map<string, SourceIssue>();
  for (const issue of issues) {
    const [what, where, detail] = [text(issue.what), text(issue.where), text(issue.detail)];
    const key = JSON.stringify([what, where, detail]);
    found.set(key, { ...issue, what, where, detail, times: issue.times + (found.get(key)?.times ?? 0) });
  }
  return [...found.values()];
}

/**
 * Deletes issues of a feed that are over: a failure, refused records once each resource has an accepted one, or withheld deletes.
 * @param before issues found at this time or later are kept
 */
export async function resolveIssues(
  db: Db,
  sourceId: number,
  which: 'blocking' | 'record-refused' | typeof WITHHELD,
  before?: Date,
): Promise<void> {
  await db.query(
    `delete from aggregator.issues
      where source_id = $1::integer and window_from is null and last_seen_at < coalesce($4::timestamptz, 'infinity')
        and case when $2::text = 'blocking' then blocking and kind <> $3::text else kind = $2::text end`,
    [sourceId, which, WITHHELD, before?.toISOString()],
  );
}

export async function readIssues(db: Db, sourceId: number) {
  const { rows } = await db.query<
    SourceIssue & { readonly window: DateWindow | null; readonly since: Date; readonly lastSeen: Date }
  >(
    `select kind as what, place as where, detail, times, blocking, first_seen_at as since, last_seen_at as "lastSeen",
            case when window_from is not null then json_build_object('from', window_from, 'to', window_to) end as window
       from aggregator.issues
      where source_id = $1::integer
      order by last_seen_at desc, kind, place`,
    [sourceId],
  );
  return rows.map(({ since, lastSeen, ...issue }) => ({
    ...issue,
    since: since.toISOString(),
    lastSeen: lastSeen.toISOString(),
  }));
}

/**
 * Stores the issues of a reading; a full reading deletes earlier ones of its window. An unconfirmed form is the same in all windows, so it is stored
 * once, until two full rounds no longer find it.
 */
export async function saveWindowIssues(
  db: Db,
  sourceId: number,
  { window, depth, issues }: Pick<WindowReading, 'window' | 'depth' | 'issues'>,
  at: Date,
): Promise<void> {
  const isUnconfirmed = ({ what }: SourceIssue): boolean => what === UNCONFIRMED;
  const ofWindow = issues.filter((issue) => !isUnconfirmed(issue));
  await addIssues(db, sourceId, ofWindow, at, window);
  await addIssues(db, sourceId, issues.filter(isUnconfirmed), at);
  if (depth === 'quick') return;
  await db.query(
    `delete from aggregator.issues
      where source_id = $1::integer
        and case when window_from is null then kind = $5::text and last_seen_at < $4::timestamptz - interval '15 days'
                 else window_from >= $2::date and window_to <= $3::date and last_seen_at < $4::timestamptz end`,
    [sourceId, window.from, window.to, at.toISOString(), UNCONFIRMED],
  );
}

/** Beyond it one entry represents the others, until the next snapshot. */
const MAX_REFUSED = 10_000;
const OTHERS = '';

/** @param refusals by `organisatiecode/resourceType/bronidentificatie`; empty when a record does not say */
export async function saveRefusals(db: Db, sourceId: number, refusals: ReadonlyMap<string, boolean>): Promise<void> {
  const [refused, accepted] = [true, false].map((is) => [...refusals.keys()].filter((key) => refusals.get(key) === is));
  await db.query('delete from aggregator.refused where source_id = $1::integer and resource_key = any ($2::text[])', [
    sourceId,
    accepted,
  ]);
  await db.query(
    `with full_up as (select count(*) >= $3::integer as is_full from aggregator.refused where source_id = $1::integer)
     insert into aggregator.refused (source_id, resource_key)
     select distinct $1::integer, case when full_up.is_full then $4::text else n.resource_key end
       from unnest($2::text[]) as n (resource_key), full_up
         on conflict do nothing`,
    [sourceId, refused, MAX_REFUSED, OTHERS],
  );
}

export async function deleteRefusals(db: Db, sourceId: number): Promise<void> {
  await db.query('delete from aggregator.refused where source_id = $1::integer', [sourceId]);
}

export async function hasRefusals(db: Db, sourceId: number): Promise<boolean> {
  const text = 'select exists (select from aggregator.refused where source_id = $1::integer) as found';
  return (await db.query<{ found: boolean }>(text, [sourceId])).rows[0]?.found ?? false;
}
