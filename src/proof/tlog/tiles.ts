/** The tree and its entries as files (C2SP tlog-tiles): their names and contents. */
import { HASH_BYTES, nodeHash, type ReadHashes, type StoredHash } from './merkle.ts';

const TILE_HEIGHT = 8;
export const TILE_WIDTH = 2 ** TILE_HEIGHT;

/** A tile of hashes (level 0 holds leaf hashes) or a bundle of entries, full or partial (`width` below 256). */
export interface Tile {
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

/** `tile/0/x001/x234/067`, `tile/entries/000.p/12`: the address below the log's prefix. */
export function tilePath({ level, index, width }: Tile): string {
  const groups = [String(index % 1000).padStart(3, '0')];
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`);
  }
  return `tile/${level}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const TILE_PATH =
  /^tile\/(?<level>entries|[0-9]|[1-5][0-9]|6[0-3])\/(?<index>(?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/(?<width>[1-9][0-9]{0,2}))?$/;

/** The tile with this address, or `undefined` for an address outside tlog-tiles. */
export function parseTilePath(path: string): Tile | undefined {
  const { level, index, width } = TILE_PATH.exec(path)?.groups ?? {};
  if (level === undefined || index === undefined) return undefined;
  const tile: Tile = {
    level: level === 'entries' ? level : Number(level),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  // One address for one tile: no leading `x000`, no partial tile of full width, no index beyond exact numbers.
  return Number.isSafeInteger(tile.index) && tilePath(tile) === path ? tile : undefined;
}

export interface GrowingTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array[];
}

/** Adds a completed hash to its tile; tiles hold only each eighth level. @param tiles by level and index */
export function addToTiles(
  tiles: Map<string, GrowingTile>,
  { level, index, hash }: StoredHash & { readonly hash: Uint8Array },
): void {
  if (level % TILE_HEIGHT !== 0) return;
  const place = { level: level / TILE_HEIGHT, index: Math.floor(index / TILE_WIDTH) };
  const key = `${place.level}/${place.index}`;
  const tile = tiles.get(key) ?? { ...place, hashes: [] };
  tile.hashes.push(hash);
  tiles.set(key, tile);
}

export function hasTile(size: number, { level, index, width }: Tile): boolean {
  return index * TILE_WIDTH + width <= hashesAt(level === 'entries' ? 0 : level, size);
}

function hashesAt(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

function widest(level: number, index: number, size: number): Tile {
  return { level, index, width: Math.min(TILE_WIDTH, hashesAt(level, size) - index * TILE_WIDTH) };
}

/** Reads tiles of hashes, in the order requested; rejects when one is missing. */
export type ReadTiles = (tiles: readonly Tile[]) => Promise<readonly Uint8Array[]>;

/** Reads hashes of a tree of `size` leaves from its tiles, each requested once per call. */
export function readHashesFromTiles(size: number, readTiles: ReadTiles): ReadHashes {
  return async (wanted) => {
    const places = wanted.map(({ level, index }) => {
      const count = 2 ** (level % TILE_HEIGHT);
      const tile = widest(Math.floor(level / TILE_HEIGHT), Math.floor((index * count) / TILE_WIDTH), size);
      return { path: tilePath(tile), tile, first: (index * count) % TILE_WIDTH, count };
    });
    const needed = new Map(places.map(({ path, tile }) => [path, tile]));
    const read = await readTiles([...needed.values()]);
    const tiles = new Map([...needed.keys()].map((path, place) => [path, read[place]]));
    return places.map(({ path, first, count }) => {
      const bytes = tiles.get(path)?.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES);
      if (bytes?.length !== count * HASH_BYTES) throw new Error(`${path} is missing or too short`);
      return subtreeHash(bytes);
    });
  };
}

/** @param hashes their number is a power of two */
function subtreeHash(hashes: Uint8Array): Uint8Array {
  if (hashes.length === HASH_BYTES) return hashes;
  return nodeHash(subtreeHash(hashes.subarray(0, hashes.length / 2)), subtreeHash(hashes.subarray(hashes.length / 2)));
}

/** Each preceded by its length, big-endian in two bytes (tlog-tiles, Log entries). @throws {RangeError} when one is too long */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.some(({ length }) => length > 0xffff)) throw new RangeError('an entry is too long for a bundle');
  return Buffer.concat(entries.flatMap((entry) => [Uint8Array.of(entry.length >> 8, entry.length), entry]));
}
