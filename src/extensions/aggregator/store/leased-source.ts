/**
 * Which process reads which source, and how far it has come. Times are those of the database, so that the clocks of instances need not
 * agree. A lease is a number on the source: taking it raises the number, and every change of a holder checks it.
 */
import { type Db, lock } from '../../../database/transaction.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';
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
  mustReadHistory: ['read_history', 'boolean'],
  historyCursor: ['history_cursor', 'text'],
  historyJoins: ['history_connects', 'boolean'],
  historyMissed: ['history_missed', 'boolean'],
  progress: ['voortgang', 'jsonb'],
  lookAhead: ['vooruit', 'jsonb'],
  hashMatches: ['hash_matches', 'boolean'],
  hasNothingToRead: ['nothing_to_read', 'boolean'],
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

/** Counters of a source. */
const COUNTERS = {
  read: 'gelezen',
  published: 'gepubliceerd',
  refused: 'geweigerd',
  deletedInRound: 'round_deleted',
} as const;

/** The members that change; the others stay as they are. */
export type SourceChanges = Partial<Pick<Source, keyof typeof CHANGEABLE>> & {
  /** Of its feed; it stays when it is not known. */
  readonly head?: number | undefined;
  /** When it was read to its end; it never goes back. */
  readonly caughtUpAt?: Date;
};

export type Counts = { readonly [K in keyof typeof COUNTERS]?: number };

/** The columns of a source, by the names of `Source`. */
export const SOURCE_COLUMNS = `id, adres, soort, organisatiecodes, naam, portaal, vanaf::text as vanaf, allow_mass_delete as "allowMassDelete",
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
  const entries = Object.entries({ ...CHANGEABLE, ...NOTED }).flatMap(([member, [column, type]]) => {
    const value: unknown = Object.entries(changes).find(([name]) => name === member)?.[1];
    if (value === undefined) return [];
    const given = parameter(value, type);
    return [`${column} = ${member === 'caughtUpAt' ? `greatest(${column}, ${given})` : given}`];
  });
  const counted = Object.entries(COUNTERS).flatMap(([name, column]) => {
    const more = Object.entries(counts).find(([counter]) => counter === name)?.[1] ?? 0;
    return more === 0 ? [] : [`${column} = ${column} + ${parameter(more, 'bigint')}`];
  });
  const sets = [...entries, ...counted];
  const { rowCount } = await db.query(
    `update aggregator.bron set ${sets.length === 0 ? 'lease_number = lease_number' : sets.join(', ')}
      where id = $1::integer and lease_number = $2::bigint`,
    values,
  );
  if (rowCount !== 1) throw new LeaseLostError();
}

type Row = Source & { readonly number: number };

function toLease({ number, ...source }: Row, holder: string): Lease {
  return { source, number, holder };
}

/** Takes sources of one kind that are due and have no lease. */
export async function claimDueSources(
  db: Db,
  holder: string,
  { soort, limit, leaseSeconds }: { soort: Source['soort']; limit: number; leaseSeconds: number },
): Promise<Lease[]> {
  const { rows } = await db.query<Row>({
    name: 'aggregator-claim',
    // Materialised: a plan that repeated the subquery for every row would take more than the limit.
    text: `with klaar as materialized (
             select id from aggregator.bron
              where soort = $4::text and toestand = 'actief' and volgende <= now() and (lease_until is null or lease_until < now())
              order by volgende
              limit $2::integer
                for update skip locked
           )
           update aggregator.bron
              set lease_number = lease_number + 1, lease_holder = $1::text, lease_until = now() + make_interval(secs => $3::integer)
            where id in (select id from klaar)
        returning ${SOURCE_COLUMNS}, lease_number as number`,
    values: [holder, limit, leaseSeconds, soort],
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

/** A failure of a source, and the size of its pages after it. */
interface StoredFailure {
  readonly kind: string;
  readonly message: string;
  readonly pageSize: number;
}

interface Restart {
  /** Resources that the new snapshot does not show are deleted. */
  readonly compare: boolean;
  /**
   * Its history is read from the beginning: the source does not know our cursor any more, or that history was not read for all
   * organisations that are taken from it now.
   */
  readonly wholeHistory: boolean;
}

/**
 * Starts the snapshot of a source again. The cursor that is given up is stored, so that the redactions after it are found in the
 * history; also when our data came from elsewhere: the source was removed and added again, it moved to another address, or its
 * organisations belonged to another source.
 * @throws {LeaseLostError}
 */
export async function restartSnapshot(db: Db, { source, number }: Lease, restart: Restart): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-restart-snapshot',
    text: `update aggregator.bron b
              set fase = 'stand',
                  vergelijken = $3::boolean or b.read_history or b.cursor is not null or eigen.hoogste is not null, snapshot_cursor = null, snapshot_feed_cursor = null, cursor = null, etag = null,
                  last_number = null, compare_again_at = null, snapshot_started_at = now(), voortgang = null, vooruit = null, hash_matches = false,
                  history_cursor = case when $4::boolean then null when b.read_history then b.history_cursor else b.cursor end,
                  history_after = case when b.read_history then b.history_after else coalesce(b.last_number, eigen.hoogste) end,
                  -- Nothing from a feed was published before, so no redaction can have been missed.
                  history_connects = case when not eigen.van_feed then true when $4::boolean then null
                                            when b.read_history then b.history_connects when b.cursor is not null then true end,
                  read_history = b.read_history or b.cursor is not null or eigen.hoogste is not null or eigen.iets
             from (select (select max(herkomst_nummer) from raadsfeed.record
                            where herkomst_feed = (select feed_url from aggregator.bron where id = $1::integer)) as hoogste,
                          exists (select from raadsfeed.record r join aggregator.bron_organisatie o using (organisatiecode)
                                   where o.bron_id = $1::integer) as iets,
                          exists (select from raadsfeed.record r join aggregator.bron_organisatie o using (organisatiecode)
                                   where o.bron_id = $1::integer and r.herkomst_feed is not null) as van_feed) as eigen
            where b.id = $1::integer and b.lease_number = $2::bigint`,
    values: [source.id, number, restart.compare, restart.wholeHistory],
  });
  if (rowCount !== 1) throw new LeaseLostError();
  await forgetSeen(db, source.id);
  await deleteRefusals(db, source.id);
}

/** Serialises the documents that name a feed: of two that name the same one, the second sees the first. */
const FEED_URL_LOCK = 'aggregator.bron.feed_url';

/**
 * The address of another source with this feed: numbers and redactions belong to one source. The lock lasts until the end of the
 * transaction, so nothing changes between this query and what is written after it.
 */
export async function findFeedHolder(db: Db, feedUrl: string, sourceId: number | null): Promise<string | undefined> {
  await lock(db, FEED_URL_LOCK);
  const { rows } = await db.query<{ adres: string }>(
    `select adres from aggregator.bron b
      where feed_url = $1::text and id is distinct from $2::integer
        -- Where two have it already, the one that was first keeps it.
        and not exists (select from aggregator.bron own where own.id = $2::integer and own.feed_url = $1::text and own.id < b.id)
      order by id limit 1`,
    [feedUrl, sourceId],
  );
  return rows[0]?.adres;
}
