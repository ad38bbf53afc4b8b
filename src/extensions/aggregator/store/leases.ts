/**
 * Which process reads which source. Times are those of the database, so that the clocks of instances need not agree. A lease is a
 * number on the source: taking it raises the number, and publishing checks it (`saveProgress`).
 */
import type { Db } from '../../../database/transaction.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';

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
              where soort = $4::text and toestand = 'actief' and volgende <= now() and (huur_tot is null or huur_tot < now())
              order by volgende
              limit $2::integer
                for update skip locked
           )
           update aggregator.bron
              set huur_nummer = huur_nummer + 1, huurder = $1::text, huur_tot = now() + make_interval(secs => $3::integer)
            where id in (select id from klaar)
        returning ${SOURCE_COLUMNS}, huur_nummer as number`,
    values: [holder, limit, leaseSeconds, soort],
  });
  return rows.map((row) => toLease(row, holder));
}

/** Takes one source, also from another holder, whose next write then fails. */
export async function takeLease(db: Db, id: number, holder: string, leaseSeconds: number): Promise<Lease | undefined> {
  const { rows } = await db.query<Row>(
    `update aggregator.bron
        set huur_nummer = huur_nummer + 1, huurder = $2::text, huur_tot = now() + make_interval(secs => $3::integer)
      where id = $1::integer
  returning ${SOURCE_COLUMNS}, huur_nummer as number`,
    [id, holder, leaseSeconds],
  );
  return rows[0] && toLease(rows[0], holder);
}

/** Extends the leases of a holder. */
export async function renewLeases(db: Db, holder: string, leaseSeconds: number): Promise<void> {
  await db.query({
    name: 'aggregator-renew',
    text: `update aggregator.bron set huur_tot = now() + make_interval(secs => $2::integer)
            where huurder = $1::text and huur_tot is not null`,
    values: [holder, leaseSeconds],
  });
}

/** Reads a leased source again. @throws {LeaseLostError} */
export async function rereadLease(db: Db, { source, number, holder }: Lease): Promise<Lease> {
  const { rows } = await db.query<Row>({
    name: 'aggregator-reread',
    text: `select ${SOURCE_COLUMNS}, huur_nummer as number from aggregator.bron where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number],
  });
  const [row] = rows;
  if (row === undefined) throw new LeaseLostError();
  return toLease(row, holder);
}

/** Releases a source that was read without failure. `inMs`: when it is due again. */
export async function releaseSource(db: Db, lease: Lease, { inMs }: { inMs: number }): Promise<void> {
  await db.query({
    name: 'aggregator-release',
    text: `update aggregator.bron
              set huurder = null, huur_tot = null, volgende = now() + make_interval(secs => $3::double precision / 1000),
                  mislukt = 0, fout = null, fout_soort = null, fout_sinds = null
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [lease.source.id, lease.number, inMs],
  });
}

/** Releases a source after a failure. */
export async function releaseFailed(
  db: Db,
  lease: Lease,
  { inMs, kind, message, pageSize }: { inMs: number; kind: string; message: string; pageSize: number },
): Promise<void> {
  await db.query({
    name: 'aggregator-release-failed',
    text: `update aggregator.bron
              set huurder = null, huur_tot = null, volgende = now() + make_interval(secs => $3::double precision / 1000),
                  mislukt = mislukt + 1,
                  fout = $5::text, fout_soort = $4::text, fout_sinds = coalesce(fout_sinds, now()), paginagrootte = $6::integer
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [lease.source.id, lease.number, inMs, kind, message, pageSize],
  });
}

/** The columns of a source, by the names of `Source`. */
export const SOURCE_COLUMNS = `id, adres, soort, organisatiecodes, naam, portaal, vanaf::text as vanaf, feed_url as "feedUrl",
  snapshot_url as "snapshotUrl", rol, document_etag as "documentEtag", document_op as "documentReadAt", fase as phase,
  vergelijken as "isComparing", stand_cursor as "snapshotCursor", stand_feed_cursor as "snapshotFeedCursor", cursor, etag,
  laatste_nummer as "lastNumber", paginagrootte as "pageSize", mag_massaal as "allowMassDelete",
  hervergelijken as "compareAgainAt", stand_begonnen as "snapshotStartedAt", historie_lezen as "mustReadHistory",
  historie_cursor as "historyCursor", historie_na as "historyAfter", historie_sluit_aan as "historyJoins",
  historie_gemist as "historyMissed", voortgang as progress, vooruit as "lookAhead", genoemd as named,
  hash_klopt as "hashMatches", niets_te_lezen as "hasNothingToRead", mislukt as failures, fout_soort as "failureKind"`;
