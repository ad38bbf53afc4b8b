/** The register: addresses of feeds, and nothing of their content. */
import type { Db } from '../../database/transaction.ts';
import type { ServiceDocument } from '../../lib/feed/service-document.ts';

/** The first `limit` feeds after an address, by address, as `/register` shows them. */
export async function listFeeds(db: Db, after: string, limit: number, organisatiecode: string | undefined) {
  // Two statements: one plan for both could not use the index of codes.
  const ofOne = organisatiecode !== undefined;
  const { rows } = await db.query<{ readonly serviceUrl: string }>({
    name: `register-list${ofOne ? '-organisation' : ''}`,
    text: `select service_url as "serviceUrl", feed_url as "feedUrl", snapshot_url as "snapshotUrl", stream_url as "streamUrl", rol,
                  organisaties, reachable as bereikbaar, last_seen_at as "laatstGezien"
             from aggregator.register
            where service_url > $1::text and feed_url is not null${ofOne ? ' and organisatiecodes @> array[$3::text]' : ''}
            order by service_url
            limit $2::integer`,
    values: ofOne ? [after, limit, organisatiecode] : [after, limit],
  });
  return rows;
}

/** Inserts or updates a feed that was found; it is due again in a day. */
export async function saveFeed(
  db: Db,
  given: string,
  { serviceUrl, document }: { readonly serviceUrl: string; readonly document: ServiceDocument },
): Promise<void> {
  const { feedUrl, snapshotUrl, streamUrl, rol } = document;
  const organisaties = document.organisaties.map(({ organisatiecode, naam }) => ({ organisatiecode, naam }));
  await db.query(
    `insert into aggregator.register (service_url, given, feed_url, snapshot_url, stream_url, rol, organisaties, organisatiecodes,
                                      last_seen_at, reachable, failure_message, next_at)
     values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::jsonb, $8::text[], now(), true, null,
             now() + interval '1 day')
         on conflict (service_url) do update
        set feed_url = excluded.feed_url, snapshot_url = excluded.snapshot_url, stream_url = excluded.stream_url, rol = excluded.rol,
            organisaties = excluded.organisaties, organisatiecodes = excluded.organisatiecodes, last_seen_at = excluded.last_seen_at,
            reachable = true, failure_message = null, next_at = excluded.next_at`,
    [
      ...[serviceUrl, given, feedUrl, snapshotUrl, streamUrl, rol, JSON.stringify(organisaties)],
      organisaties.map(({ organisatiecode }) => organisatiecode),
    ],
  );
}

/** Its data stays, and it is due again in an hour. */
export async function noteUnreachable(db: Db, serviceUrl: string, why: string): Promise<void> {
  await db.query(
    `update aggregator.register set reachable = false, failure_message = $2::text, next_at = now() + interval '1 hour'
      where service_url = $1::text`,
    [serviceUrl, why.slice(0, 500)],
  );
}

export interface RegisterEntry {
  readonly serviceUrl: string;
  readonly opgegeven: string;
  readonly codes: readonly string[];
  readonly laatstGezien: Date | null;
  readonly bereikbaar: boolean;
  readonly fout: string | null;
}

const ENTRY = `service_url as "serviceUrl", given as opgegeven, organisatiecodes as codes, last_seen_at as "laatstGezien",
  reachable as bereikbaar, failure_message as fout`;

export async function readEntries(db: Db): Promise<RegisterEntry[]> {
  const { rows } = await db.query<RegisterEntry>(`select ${ENTRY} from aggregator.register order by service_url`);
  return rows;
}

/** Claims one feed whose daily refresh is due, so that no other instance does it too; for five minutes, in case this process dies. */
export async function takeDue(db: Db): Promise<RegisterEntry | undefined> {
  const { rows } = await db.query<RegisterEntry>({
    name: 'register-take-due',
    text: `update aggregator.register set next_at = now() + interval '5 minutes'
            where service_url = (select service_url from aggregator.register where next_at <= now()
                                  order by next_at limit 1 for update skip locked)
        returning ${ENTRY}`,
  });
  return rows[0];
}

/** @returns whether it existed; by the address of its service document, or as it was given */
export async function removeFeed(db: Db, text: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from aggregator.register where service_url = $1::text or given = $1::text',
    [text],
  );
  return (rowCount ?? 0) > 0;
}
