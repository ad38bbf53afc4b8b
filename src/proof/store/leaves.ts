/** The leaves of a tree as tables: tiles of hashes, and bundles of entries with the numbers of their records. */
import type { Db } from '../../database/transaction.ts';
import { mapWithinBudget } from '../../lib/scheduling.ts';
import type { NumberedEntry, ProofLogName } from '../proof-log.ts';
import { type Frontier, HASH_BYTES, leafHash } from '../tlog/merkle.ts';
import { addToTiles, type GrowingTile, type ReadTiles, TILE_WIDTH, tilePath } from '../tlog/tiles.ts';
import { headerLeaves, readOrigins, type StoredLog } from './logs.ts';

export const ENTRY_BYTES = 33;

type Origin = Pick<StoredLog, 'log' | 'number'>;

/** Reads tiles from the database; a partial tile is the beginning of the stored one. */
export function tileReader(db: Db, { log, number }: Origin): ReadTiles {
  return async (tiles) => {
    const { rows } = await db.query<{ hashes: Buffer | null }>({
      name: 'proof-tiles',
      text: `select substring(t.hashes from 1 for w.breedte * ${HASH_BYTES}) as hashes
             from unnest($3::smallint[], $4::bigint[], $5::integer[]) with ordinality as w(level, tile, breedte, plaats)
             left join proof.tiles t on t.log = $1::text and t.origin_number = $2::integer and t.level = w.level and t.tile = w.tile
             order by w.plaats`,
      values: [
        log,
        number,
        tiles.map(({ level }) => (level === 'entries' ? 0 : level)),
        tiles.map(({ index }) => index),
        tiles.map(({ width }) => width),
      ],
    });
    return rows.map(({ hashes }, i) => {
      const tile = tiles[i];
      if (hashes === null || tile === undefined || hashes.length !== tile.width * HASH_BYTES)
        throw new MissingTileError(`${tile === undefined ? 'a tile' : tilePath(tile)} is not in the database`);
      return hashes;
    });
  };
}

export class MissingTileError extends Error {
  override readonly name = 'MissingTileError';
}

export async function readBundles(db: Db, { log, number }: Origin, from: number, limit: number) {
  const { rows } = await db.query<{ index: number; entries: Buffer; numbers: readonly (number | string)[] }>({
    name: 'proof-bundles',
    text: `select tile as index, entries, numbers from proof.bundles
           where log = $1::text and origin_number = $2::integer and tile >= $3::bigint order by tile limit $4::integer`,
    values: [log, number, from, limit],
  });
  return rows.map(({ numbers, ...bundle }) => ({ ...bundle, numbers: numbers.map(Number) }));
}

export interface Place {
  readonly origin: number;
  readonly index: number;
}

/** The positions of entries by record number, and the future ones of the feed; unsequenced ones are absent. */
export async function findLeaves(db: Db, log: ProofLogName, numbers: readonly number[]): Promise<Map<number, Place>> {
  if (log === 'raadsfeed') {
    const origins = await readOrigins(db, log);
    const places = numbers.flatMap((number): (readonly [number, Place])[] => {
      const of = origins.findLast(({ firstNumber }) => firstNumber <= number);
      return of ? [[number, { origin: of.number, index: number - of.firstNumber + headerLeaves(of) }]] : [];
    });
    return new Map(places);
  }
  const { rows } = await db.query<{ number: number; origin: number; index: number }>({
    name: 'proof-find-leaves',
    text: `select w.nr as number, b.origin_number as origin, b.tile * ${TILE_WIDTH} + array_position(b.numbers, w.nr) - 1 as index
           from unnest($2::bigint[]) as w(nr)
           cross join lateral (
             select origin_number, tile, numbers from proof.bundles
             where number_range @> w.nr and log = $1::text and numbers @> array[w.nr] offset 0
           ) as b`,
    values: [log, numbers],
  });
  return new Map(rows.map(({ number, ...place }) => [number, place]));
}

/** Appends leaves to a tree: tiles and bundles. The caller holds the lock of the log and stores the new size and root. */
export async function appendLeaves(
  db: Db,
  { log, number }: Origin,
  frontier: Frontier,
  leaves: readonly NumberedEntry[],
): Promise<void> {
  const before = frontier.size;
  const tiles = new Map<string, GrowingTile>();
  await mapWithinBudget(leaves, ({ entry }) => {
    for (const complete of frontier.append(leafHash(entry))) addToTiles(tiles, complete);
  });
  const grown = [...tiles.values()];
  await db.query({
    name: 'proof-append-tiles',
    text: `insert into proof.tiles (log, origin_number, level, tile, hashes)
           select $1::text, $2::integer, t.* from unnest($3::smallint[], $4::bigint[], $5::bytea[]) as t
           on conflict (log, origin_number, level, tile) do update set hashes = tiles.hashes || excluded.hashes`,
    values: [
      log,
      number,
      grown.map(({ level }) => level),
      grown.map(({ index }) => index),
      grown.map(({ hashes }) => Buffer.concat(hashes)),
    ],
  });
  const bundles = Map.groupBy(leaves.entries(), ([i]) => Math.floor((before + i) / TILE_WIDTH));
  const rows = [...bundles].map(([index, own]) => {
    const numbers = own.map(([, leaf]) => leaf.number);
    const real = numbers.filter((nr) => nr > 0);
    return {
      index,
      entries: Buffer.concat(own.map(([, { entry }]) => entry)),
      numbers: numbers.join(','),
      range: real.length === 0 ? 'empty' : `[${Math.min(...real)},${Math.max(...real)}]`,
    };
  });
  await db.query({
    name: 'proof-append-bundles',
    text: `insert into proof.bundles (log, origin_number, tile, entries, numbers, number_range)
           select $1::text, $2::integer, b.tile, b.entries, string_to_array(b.numbers, ',')::bigint[], b.number_range::int8range
           from unnest($3::bigint[], $4::bytea[], $5::text[], $6::text[]) as b(tile, entries, numbers, number_range)
           on conflict (log, origin_number, tile) do update set entries = bundles.entries || excluded.entries,
             numbers = bundles.numbers || excluded.numbers, number_range = range_merge(bundles.number_range, excluded.number_range)`,
    values: [
      log,
      number,
      rows.map(({ index }) => index),
      rows.map(({ entries }) => entries),
      rows.map(({ numbers }) => numbers),
      rows.map(({ range }) => range),
    ],
  });
}
