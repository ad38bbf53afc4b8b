/**
 * Which process reads which source, and its position. Times are the database's, so clocks of instances need not agree. A lease is a number on the
 * source: each holder raises it, and every change checks it.
 */
import type { Db } from '../../../database/transaction.ts';
import { type Lease, LeaseLostError, type Source, type SupplierScheme } from '../source.ts';
import { forgetSeen } from './comparison.ts';
import { deleteRefusals } from './issues.ts';

const CHANGEABLE = [
  ...(['phase', 'isComparing', 'snapshotCursor', 'snapshotFeedCursor', 'cursor', 'etag', 'lastNumber'] as const),
  ...(['pageSize', 'historyCursor', 'historyJoins', 'historyMissed', 'progress', 'hashMatches'] as const),
  ...(['feedUrl', 'snapshotUrl', 'rol', 'named', 'documentEtag', 'documentReadAt'] as const),
] satisfies readonly (keyof Source)[];

const COLUMNS = new Map([...CHANGEABLE, 'head', 'caughtUpAt'].map((member) => [member, columnOf(member)]));

/** The column of a member: `lastNumber` is `last_number`. */
function columnOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const COUNTERS = {
  read: 'records_read',
  published: 'records_published',
  refused: 'records_refused',
  deletedInRound: 'round_deleted',
} as const;

export type SourceChanges = Partial<Pick<Source, (typeof CHANGEABLE)[number]>> & {
  readonly head?: number | undefined;
  /** Never goes back. */
  readonly caughtUpAt?: Date;
};

export type Counts = { readonly [K in keyof typeof COUNTERS]?: number };

export const SOURCE_COLUMNS = `id, address as adres, kind as soort, organisatiecodes, name as naam, portal as portaal, first_day::text as vanaf,
  last_day::text as tot, options, ${[
    ...CHANGEABLE,
    ...['allowMassDelete', 'compareAgainAt', 'snapshotStartedAt', 'historyAfter', 'failures', 'failureKind'],
  ]
    .map((member) => `${columnOf(member)} as "${member}"`)
    .join(', ')}`;

/** Last in a publishing transaction, so that nothing is published without the lease. @throws {LeaseLostError} the transaction must roll back */
export async function updateSource(
  db: Db,
  { source, number, holder }: Lease,
  changes: SourceChanges,
  counts: Counts = {},
): Promise<Lease> {
  const values: unknown[] = [source.id, number];
  const sets = ['lease_number = lease_number'];
  for (const [member, value] of Object.entries(changes)) {
    const column = COLUMNS.get(member);
    if (column === undefined || value === undefined) continue;
    const parameter = `$${values.push(value)}`;
    sets.push(`${column} = ${member === 'caughtUpAt' ? `greatest(${column}, ${parameter})` : parameter}`);
  }
  for (const [counter, column] of Object.entries(COUNTERS)) {
    const more = Object.entries(counts).find(([name]) => name === counter)?.[1] ?? 0;
    if (more !== 0) sets.push(`${column} = ${column} + $${values.push(more)}`);
  }
  const { rows } = await db.query<Row>(
    `update aggregator.sources set ${sets.join(', ')} where id = $1::integer and lease_number = $2::bigint
  returning ${LEASE_COLUMNS}`,
    values,
  );
  return requireLease(rows, holder);
}

type Row = Source & { readonly number: number };
const LEASE_COLUMNS = `${SOURCE_COLUMNS}, lease_number as number`;

function toLease({ number, ...source }: Row, holder: string): Lease {
  return { source, number, holder };
}

function requireLease([row]: readonly Row[], holder: string): Lease {
  if (row === undefined) throw new LeaseLostError();
  return toLease(row, holder);
}

export type SourceKind = 'feed' | SupplierScheme;

export async function claimDueSources(
  db: Db,
  holder: string,
  { kind, limit, leaseSeconds }: { kind: SourceKind; limit: number; leaseSeconds: number },
): Promise<Lease[]> {
  const { rows } = await db.query<Row>({
    name: 'aggregator-claim',
    // Materialised: a plan that repeated the subquery for every row would exceed the limit.
    text: `with due as materialized (
             select id from aggregator.sources
              where case kind when 'feed' then kind else split_part(address, ':', 1) end = $4::text
                and not paused and next_at <= now() and (lease_until is null or lease_until < now())
              order by next_at
              limit $2::integer
                for update skip locked
           )
           update aggregator.sources
              set lease_number = lease_number + 1, lease_holder = $1::text, lease_until = now() + make_interval(secs => $3::integer)
            where id in (select id from due)
        returning ${LEASE_COLUMNS}`,
    values: [holder, limit, leaseSeconds, kind],
  });
  return rows.map((row) => toLease(row, holder));
}

/** Claims one source, also from another holder, whose next write then fails. */
export async function takeLease(db: Db, id: number, holder: string, leaseSeconds: number): Promise<Lease | undefined> {
  const { rows } = await db.query<Row>(
    `update aggregator.sources
        set lease_number = lease_number + 1, lease_holder = $2::text, lease_until = now() + make_interval(secs => $3::integer)
      where id = $1::integer
  returning ${LEASE_COLUMNS}`,
    [id, holder, leaseSeconds],
  );
  return rows[0] && toLease(rows[0], holder);
}

export async function renewLeases(db: Db, holder: string, leaseSeconds: number): Promise<void> {
  await db.query({
    name: 'aggregator-renew',
    text: `update aggregator.sources set lease_until = now() + make_interval(secs => $2::integer)
            where lease_holder = $1::text and lease_until is not null`,
    values: [holder, leaseSeconds],
  });
}

export async function rereadLease(db: Db, { source, number, holder }: Lease): Promise<Lease> {
  const { rows } = await db.query<Row>({
    name: 'aggregator-reread',
    text: `select ${LEASE_COLUMNS} from aggregator.sources where id = $1::integer and lease_number = $2::bigint`,
    values: [source.id, number],
  });
  return requireLease(rows, holder);
}

/** @param inMs when it is due again @param failure `kept`: the source was not read, so its last one stays */
export async function releaseSource(
  db: Db,
  { source, number }: Lease,
  { inMs, failure }: { readonly inMs: number; readonly failure?: StoredFailure | 'kept' },
): Promise<void> {
  const isKept = failure === 'kept';
  const { kind = null, message = null, pageSize = null } = isKept ? {} : (failure ?? {});
  await db.query(
    `update aggregator.sources
        set lease_holder = null, lease_until = null, next_at = now() + make_interval(secs => $3::double precision / 1000),
            failures = case when $7::boolean then failures when $4::text is null then 0 else failures + 1 end,
            failure_kind = case when $7::boolean then failure_kind else $4::text end,
            failure_message = case when $7::boolean then failure_message else $5::text end,
            failing_since = case when $7::boolean then failing_since when $4::text is not null then coalesce(failing_since, now()) end,
            page_size = coalesce($6::integer, page_size)
      where id = $1::integer and lease_number = $2::bigint`,
    [source.id, number, inMs, kind, message, pageSize, isKept],
  );
}

interface StoredFailure {
  readonly kind: string;
  readonly message: string;
  readonly pageSize: number;
}

/**
 * Starts a new snapshot. The history is read first, for redactions after the lost cursor; also when our data came from elsewhere: a
 * source that was removed and added again, moved, or got organisations of another source.
 * @param wholeHistory from the beginning: the source does not know our cursor, or that history was not read for all its present organisations
 * @throws {LeaseLostError}
 */
export async function restartSnapshot(
  db: Db,
  { source, number, holder }: Lease,
  { wholeHistory }: { readonly wholeHistory: boolean },
): Promise<Lease> {
  const { rows } = await db.query<Row>(
    `update aggregator.sources b
        set phase = case when own.has_records then 'history' else 'snapshot' end, is_comparing = own.has_records,
            snapshot_cursor = null, snapshot_feed_cursor = null, cursor = null, etag = null, last_number = null,
            compare_again_at = null, snapshot_started_at = now(), progress = null, hash_matches = false,
            history_cursor = case when not $3::boolean then coalesce(b.cursor, b.snapshot_feed_cursor, b.history_cursor) end,
            history_after = case when b.phase = 'history' then b.history_after else greatest(b.last_number, own.highest) end,
            -- Nothing from a feed was published before, so no redaction can have been missed.
            history_joins = case when not own.from_feed then true when $3::boolean then null
                                    when coalesce(b.cursor, b.snapshot_feed_cursor) is not null then true
                                    else b.history_joins end
       from (select -- By the index on origins, backwards: a join would read every record of the source.
                   (select herkomst_number from raadsfeed.records
                      where herkomst_feed = (select feed_url from aggregator.sources where id = $1::integer)
                        and organisatiecode = any (array(select organisatiecode from aggregator.source_organisations where source_id = $1::integer))
                      order by herkomst_number desc limit 1) as highest,
                    exists (select from raadsfeed.records r join aggregator.source_organisations o using (organisatiecode)
                             where o.source_id = $1::integer) as has_records,
                    exists (select from raadsfeed.records r join aggregator.source_organisations o using (organisatiecode)
                             where o.source_id = $1::integer and r.herkomst_feed is not null) as from_feed) as own
      where b.id = $1::integer and b.lease_number = $2::bigint
  returning ${LEASE_COLUMNS}`,
    [source.id, number, wholeHistory],
  );
  await forgetSeen(db, source.id);
  await deleteRefusals(db, source.id);
  return requireLease(rows, holder);
}
