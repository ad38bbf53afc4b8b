import type { Db } from '../../../kernel/database/transaction.ts';
import { type Lease, LeaseLostError, type Source } from '../source.ts';

/** How far a source was read. */
export type Position = Pick<
  Source,
  | 'fase'
  | 'vergelijken'
  | 'standCursor'
  | 'standFeedCursor'
  | 'cursor'
  | 'etag'
  | 'laatsteNummer'
  | 'paginagrootte'
  | 'historieLezen'
  | 'historieCursor'
  | 'historieSluitAan'
  | 'historieGemist'
  | 'voortgang'
  | 'vooruit'
  | 'hashKlopt'
>;

export interface Counts {
  readonly read: number;
  readonly published: number;
  readonly refused: number;
}

const NOTHING: Counts = { read: 0, published: 0, refused: 0 };

/**
 * Keeps how far a source was read; first thing in the transaction that publishes what was read, since it also makes sure that nobody
 * else can be publishing it.
 * @throws {LeaseLostError} when the source is somebody else's now: the transaction must not go on
 */
export async function saveProgress(
  db: Db,
  { source, number }: Lease,
  position: Position,
  more: { readonly head?: number | undefined; readonly counts?: Counts } = {},
): Promise<void> {
  const { read, published, refused } = more.counts ?? NOTHING;
  const { rowCount } = await db.query({
    name: 'aggregator-progress',
    text: `update aggregator.bron
              set fase = $3::text, vergelijken = $4::boolean, stand_cursor = $5::text, stand_feed_cursor = $6::text, cursor = $7::text,
                  etag = $8::text, laatste_nummer = $9::bigint, paginagrootte = $10::integer, head = coalesce($11::bigint, head),
                  gelezen = gelezen + $12::bigint, gepubliceerd = gepubliceerd + $13::bigint, geweigerd = geweigerd + $14::bigint,
                  historie_lezen = $15::boolean, historie_cursor = $16::text, historie_sluit_aan = $17::boolean,
                  historie_gemist = $18::boolean, voortgang = $19::jsonb, hash_klopt = $20::boolean, vooruit = $21::jsonb
            where id = $1::integer and huur_nummer = $2::bigint`,
    values: [
      source.id,
      number,
      position.fase,
      position.vergelijken,
      position.standCursor,
      position.standFeedCursor,
      position.cursor,
      position.etag,
      position.laatsteNummer,
      position.paginagrootte,
      more.head ?? null,
      read,
      published,
      refused,
      position.historieLezen,
      position.historieCursor,
      position.historieSluitAan,
      position.historieGemist,
      position.voortgang === null ? null : JSON.stringify(position.voortgang),
      position.hashKlopt,
      position.vooruit === null ? null : JSON.stringify(position.vooruit),
    ],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}

/** @throws {LeaseLostError} */
export async function countPublished(db: Db, { source, number }: Lease, published: number): Promise<void> {
  const { rowCount } = await db.query({
    name: 'aggregator-count-published',
    text: `update aggregator.bron set gepubliceerd = gepubliceerd + $3::bigint where id = $1::integer and huur_nummer = $2::bigint`,
    values: [source.id, number, published],
  });
  if (rowCount !== 1) throw new LeaseLostError();
}
