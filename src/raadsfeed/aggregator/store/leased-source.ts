/**
 * Which process reads which source, and how far it has come. Times are those of the database, so that the clocks of instances need not
 * agree. A lease is a number on the source: taking it raises the number, and every change of a holder checks it.
 */
import type { Db } from '../../../database/transaction.ts';
import { type Lease, LeaseLostError, type Source, type SupplierScheme } from '../source.ts';
import { forgetSeen } from './comparison.ts';
import { deleteRefusals } from './issues.ts';

/** Columns that the holder of a lease changes, with their types, by the members of `Source`. */
const CHANGEABLE = {
  phase: ['fase', 'text'],
  isComparing: ['vergelijken', 'boolean'],
  snapshotCursor: ['snapshot_cursor', 'text'],
  snapshotFeedCursor: ['snapshot_feed_cursor', 'text'],
  cursor: ['cursor', 'text'],
  etag: ['etag', 'text'],
  lastNumber: ['last_number', 'bigint'],
  pageSize: ['paginagrootte', 'integer'],
  historyCursor: ['history_cursor', 'text'],
  historyJoins: ['history_connects', 'boolean'],
  historyMissed: ['history_missed', 'boolean'],
  progress: ['voortgang', 'jsonb'],
  hashMatches: ['hash_matches', 'boolean'],
  feedUrl: ['feed_url', 'text'],
  snapshotUrl: ['snapshot_url', 'text'],
  rol: ['rol', 'text'],
  named: ['genoemd', 'text[]'],
  documentEtag: ['document_etag', 'text'],
  documentReadAt: ['document_at', 'timestamptz'],
} as const satisfies { readonly [K in keyof Source]?: readonly [column: string, type: string] };

/** What is known of the feed of a source beside its position. */
const NOTED = {
  head: ['head', 'bigint'],
  caughtUpAt: ['bijgewerkt', 'timestamptz'],
} as const;

const COLUMNS = new Map<string, readonly [column: string, type: string]>(Object.entries({ ...CHANGEABLE, ...NOTED }));

/** Counters of a source. */
const COUNTERS = {
  read: 'gelezen',
  published: 'gepubliceerd',
  refused: 'geweigerd',
  deletedInRound: 'round_deleted',
} as const;

/** The members that change; the others stay as they are. */
export type SourceChanges = Partial<Pick<Source, keyof typeof CHANGEABLE>> & {
  /** The head of its feed; unchanged when unknown. */
  readonly head?: number | undefined;
  /** When it was read to its end; it never goes back. */
  readonly caughtUpAt?: Date;
};

export type Counts = { readonly [K in keyof typeof COUNTERS]?: number };

/** The columns of a source, by the names of `Source`. */
export const SOURCE_COLUMNS = `id, adres, soort, organisatiecodes, naam, portaal, vanaf::text as vanaf, tot::text as tot, options, allow_mass_delete as "allowMassDelete",
  compare_again_at as "compareAgainAt", snapshot_started_at as "snapshotStartedAt", history_after as "historyAfter", mislukt as failures, error_kind as "failureKind",
  ${Object.entries(CHANGEABLE)
    .map(([member, [column]]) => `${column} as "${member}"`)
    .join(', ')}`;

/**
 * Changes a source. Last in the transaction that publishes what was read, so that nothing is published without the lease.
 * @throws {LeaseLostError} when another worker has the source now: the transaction must roll back
 */
export async function updateSource(
  db: Db,
  { source, number }: Lease,
  changes: SourceChanges,
  counts: Counts = {},
): Promise<void> {
  const values: unknown[] = [source.id, number];
  const parameter = (value: unknown, type: string): string => {
    values.push(type === 'jsonb' && value !== null ? JSON.stringify(value) : value);
    return `$${values.length}::${type}`;
  };
  const sets = ['lease_number = lease_number'];
  for (const [member, value] of Object.entries(changes)) {
    const [column, type] = COLUMNS.get(member) ?? [];
    if (column === undefined || type === undefined || value === undefined) continue;
    const given = parameter(value, type);
    sets.push(`${column} = ${member === 'caughtUpAt' ? `greatest(${column}, ${given})` : given}`);
  }
  for (const [name, column] of Object.entries(COUNTERS)) {
    const more = Object.entries(counts).find(([counter]) => counter === name)?.[1] ?? 0;
    if (more !== 0) sets.push(`${column} = ${column} + ${parameter(more, 'bigint')}`);
  }
  const { rowCount } = await db.query(
    `update aggregator.bron set ${sets.join(', ')}
      where id = $1::integer and lease_number = $2::bigint`,
    values,
  );
  if (rowCount !== 1) throw new LeaseLostError();
}

type Row = Source & { readonly number: number };

function toLease({ number, ...source }: Row, holder: string): Lease {
  return { source, number, holder };
}

/** Feeds, or the sources of one supplier. */
export type SourceKind = 'feed' | SupplierScheme;

/** Takes sources of one kind that are due and have no lease. */
export async function claimDueSources(
  db: Db,
  holder: string,
  { kind, limit, leaseSeconds }: { kind: SourceKind; limit: number; leaseSeconds: number },
): Promise<Lease[]> {
  const { rows } = await db.query<Row>({
    name: 'aggregator-claim',
    // Materialised: a plan that repeated the subquery for every row would take more than the limit.
    text: `with klaar as materialized (
             select id from aggregator.bron
              where case soort when 'feed' then soort else split_part(adres, ':', 1) end = $4::text and toestand = 'actief' and volgende <= now() and (lease_until is null or lease_until < now())
              order by volgende
              limit $2::integer
                for update skip locked
           )
           update aggregator.bron
              set lease_number = lease_number + 1, lease_holder = $1::text, lease_until = now() + make_interval(secs => $3::integer)
            where id in (select id from klaar)
        returning ${SOURCE_COLUMNS}, lease_number as number`,
    values: [holder, limit, leaseSeconds, kind],
  });
  return rows.map((row) => toLease(row, holder));
}

/** Takes one source, also from another holder, whose next write then fails. */
export async function takeLease(db: Db, id: number, holder: string, leaseSeconds: number): Promise<Lease | undefined> {
  const { rows } = await db.query<Row>(
    `update aggregator.bron
        set lease_number = lease_number + 1, lease_holder = $2::text, lease_until = now() + make_interval(secs => $3::integer)
      where id = $1::integer
  returning ${SOURCE_COLUMNS}, lease_number as number`,
    [id, holder, leaseSeconds],
  );
  return rows[0] && toLease(rows[0], holder);
}

/** Extends the leases of a holder. */
export async function renewLeases(db: Db, holder: string, leaseSeconds: number): Promise<void> {
  await db.query({
    name: 'aggregator-renew',
    text: `update aggregator.bron set lease_until = now() + make_interval(secs => $2::integer)
            where lease_holder = $1::text and lease_until is not null`,
    values: [holder, leaseSeconds],
  });
}

/** Reads a leased source again. @throws {LeaseLostError} */
export async function rereadLease(db: Db, { source, number, holder }: Lease): Promise<Lease> {
  const { rows } = await db.query<Row>({
    name: 'aggregator-reread',
    text: `select ${SOURCE_COLUMNS}, lease_number as number from aggregator.bron where id = $1::integer and lease_number = $2::bigint`,
    values: [source.id, number],
  });
  const [row] = rows;
  if (row === undefined) throw new LeaseLostError();
  return toLease(row, holder);
}

/** Releases a source. `inMs`: when it is due again. */
export async function releaseSource(
  db: Db,
  { source, number }: Lease,
  { inMs, failure }: { readonly inMs: number; readonly failure?: StoredFailure },
): Promise<void> {
  await db.query({
    name: 'aggregator-release',
    text: `update aggregator.bron
              set lease_holder = null, lease_until = null, volgende = now() + make_interval(secs => $3::double precision / 1000),
                  mislukt = case when $4::text is null then 0 else mislukt + 1 end, error_kind = $4::text, fout = $5::text,
                  error_since = case when $4::text is not null then coalesce(error_since, now()) end,
                  paginagrootte = coalesce($6::integer, paginagrootte)
            where id = $1::integer and lease_number = $2::bigint`,
    values: [source.id, number, inMs, failure?.kind ?? null, failure?.message ?? null, failure?.pageSize ?? null],
  });
}

/** Releases a source that was not read: what is known of its last failure stays. */
export async function postponeSource(db: Db, { source, number }: Lease, inMs: number): Promise<void> {
  await db.query({
    name: 'aggregator-postpone',
    text: `update aggregator.bron
              set lease_holder = null, lease_until = null, volgende = now() + make_interval(secs => $3::double precision / 1000)
            where id = $1::integer and lease_number = $2::bigint`,
    values: [source.id, number, inMs],
  });
}

/** A failure of a source, and the size of its pages after it. */
interface StoredFailure {
  readonly kind: string;
  readonly message: string;
  readonly pageSize: number;
}

/**
 * Starts the snapshot of a source again. Before it the history is read for redactions, from the cursor that is given up; also when our
 * data came from elsewhere: the source was removed and added again, it moved to another address, or its organisations belonged to another
 * source.
 * @param wholeHistory from the beginning: the source does not know our cursor any more, or that history was not read for all organisations
 *   that are taken from it now
 * @throws {LeaseLostError}
 */
export async function restartSnapshot(
  db: Db,
  { source, number }: Lease,
  { wholeHistory }: { readonly wholeHistory: boolean },
): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-restart-snapshot',
    text: `update aggregator.bron b
              set fase = case when eigen.iets then 'historie' else 'stand' end, vergelijken = eigen.iets,
                  snapshot_cursor = null, snapshot_feed_cursor = null, cursor = null, etag = null, last_number = null,
                  compare_again_at = null, snapshot_started_at = now(), voortgang = null, hash_matches = false,
                  history_cursor = case when not $3::boolean then coalesce(b.cursor, b.snapshot_feed_cursor, b.history_cursor) end,
                  history_after = case when b.fase = 'historie' then b.history_after else greatest(b.last_number, eigen.hoogste) end,
                  -- Nothing from a feed was published before, so no redaction can have been missed.
                  history_connects = case when not eigen.van_feed then true when $3::boolean then null
                                          when coalesce(b.cursor, b.snapshot_feed_cursor) is not null then true
                                          else b.history_connects end
             from (select -- By the index on origins, backwards: a join would read every record of the source.
                         (select herkomst_number from raadsfeed.record
                            where herkomst_feed = (select feed_url from aggregator.bron where id = $1::integer)
                              and organisatiecode = any (array(select organisatiecode from aggregator.bron_organisatie where bron_id = $1::integer))
                            order by herkomst_number desc limit 1) as hoogste,
                          exists (select from raadsfeed.record r join aggregator.bron_organisatie o using (organisatiecode)
                                   where o.bron_id = $1::integer) as iets,
                          exists (select from raadsfeed.record r join aggregator.bron_organisatie o using (organisatiecode)
                                   where o.bron_id = $1::integer and r.herkomst_feed is not null) as van_feed) as eigen
            where b.id = $1::integer and b.lease_number = $2::bigint`,
    values: [source.id, number, wholeHistory],
  });
  if (rowCount !== 1) throw new LeaseLostError();
  await forgetSeen(db, source.id);
  await deleteRefusals(db, source.id);
}
