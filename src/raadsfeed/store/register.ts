/** The register: where feeds are, and nothing of their content. */

import type { components } from '../../contracts/raadsfeed.ts';
import type { Db } from '../../database/transaction.ts';
import type { ServiceDocument } from '../../lib/feed-client/client.ts';

/** A feed that a register knows: only where it is, nothing of its content. */
export type RegisterFeed = components['schemas']['RegisterFeed'];

/** Where a feed is, and what it says of itself. */
export interface DiscoveredFeed {
  readonly serviceUrl: string;
  readonly document: ServiceDocument;
}

interface Row {
  readonly serviceUrl: string;
  readonly feedUrl: string;
  readonly snapshotUrl: string;
  readonly streamUrl: string | null;
  readonly rol: RegisterFeed['rol'];
  readonly organisaties: RegisterFeed['organisaties'];
  readonly laatstGezien: Date | null;
  readonly bereikbaar: boolean;
}

/** The first `limit` feeds after an address, by address. */
export async function listFeeds(
  db: Db,
  after: string,
  limit: number,
  organisatiecode: string | undefined,
): Promise<RegisterFeed[]> {
  // Two statements: one plan for both could not use the index of codes.
  const ofOne = organisatiecode !== undefined;
  const { rows } = await db.query<Row>({
    name: `register-list${ofOne ? '-organisation' : ''}`,
    text: `select service_url as "serviceUrl", feed_url as "feedUrl", snapshot_url as "snapshotUrl", stream_url as "streamUrl", rol,
                  organisaties, last_seen_at as "laatstGezien", bereikbaar
             from aggregator.register
            where service_url > $1::text and feed_url is not null${ofOne ? ' and codes @> array[$3::text]' : ''}
            order by service_url
            limit $2::integer`,
    values: ofOne ? [after, limit, organisatiecode] : [after, limit],
  });
  return rows.map(({ laatstGezien, ...feed }) => ({ ...feed, laatstGezien: laatstGezien?.toISOString() ?? null }));
}

/** Inserts a feed that was found, or updates it. */
export async function saveFeed(
  db: Db,
  given: string,
  { serviceUrl, document }: DiscoveredFeed,
  again: number,
): Promise<void> {
  await db.query(
    `insert into aggregator.register (service_url, opgegeven, feed_url, snapshot_url, stream_url, rol, organisaties, codes,
                                      last_seen_at, bereikbaar, fout, volgende)
     values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::jsonb, $8::text[], now(), true, null,
             now() + make_interval(secs => $9::integer))
         on conflict (service_url) do update
        set feed_url = excluded.feed_url, snapshot_url = excluded.snapshot_url, stream_url = excluded.stream_url, rol = excluded.rol,
            organisaties = excluded.organisaties, codes = excluded.codes, last_seen_at = excluded.last_seen_at, bereikbaar = true,
            fout = null, volgende = excluded.volgende`,
    [
      serviceUrl,
      given,
      document.feedUrl,
      document.snapshotUrl,
      document.streamUrl,
      document.rol,
      JSON.stringify(document.organisaties.map(({ organisatiecode, naam }) => ({ organisatiecode, naam }))),
      document.organisaties.map(({ organisatiecode }) => organisatiecode),
      again,
    ],
  );
}

/** The service document, at another address, of the feed at this one. */
export async function findEntryOfFeed(db: Db, feedUrl: string, serviceUrl: string): Promise<string | undefined> {
  const { rows } = await db.query<{ serviceUrl: string }>(
    `select service_url as "serviceUrl" from aggregator.register
      where feed_url = $1::text and service_url <> $2::text order by service_url limit 1`,
    [feedUrl, serviceUrl],
  );
  return rows[0]?.serviceUrl;
}

/** Records that a feed did not answer; what is known of it stays. */
export async function noteUnreachable(db: Db, serviceUrl: string, why: string, again: number): Promise<void> {
  await db.query(
    `update aggregator.register set bereikbaar = false, fout = $2::text, volgende = now() + make_interval(secs => $3::integer)
      where service_url = $1::text`,
    [serviceUrl, why.slice(0, 500), again],
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

const ENTRY = `service_url as "serviceUrl", opgegeven, codes, last_seen_at as "laatstGezien", bereikbaar, fout`;

/** Everything that the register knows, for its operator. */
export async function readEntries(db: Db): Promise<RegisterEntry[]> {
  const { rows } = await db.query<RegisterEntry>(`select ${ENTRY} from aggregator.register order by service_url`);
  return rows;
}

/**
 * Claims one feed whose daily refresh is due, so that no other instance does it too.
 * @param retrySeconds after which it is due again when this process dies over it
 */
export async function takeDue(db: Db, retrySeconds: number): Promise<RegisterEntry | undefined> {
  const { rows } = await db.query<RegisterEntry>({
    name: 'register-take-due',
    text: `update aggregator.register set volgende = now() + make_interval(secs => $1::integer)
            where service_url = (select service_url from aggregator.register where volgende <= now()
                                  order by volgende limit 1 for update skip locked)
        returning ${ENTRY}`,
    values: [retrySeconds],
  });
  return rows[0];
}

/** @returns whether it was there; by the address of its service document, or as it was given */
export async function removeFeed(db: Db, text: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from aggregator.register where service_url = $1::text or opgegeven = $1::text',
    [text],
  );
  return (rowCount ?? 0) > 0;
}
