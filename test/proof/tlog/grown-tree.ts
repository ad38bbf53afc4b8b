/** A tree in memory, grown leaf by leaf, with its tiles. Leaf i is the entry "entry i". */
import { Frontier, leafHash, type ReadHashes } from '../../../src/proof/tlog/merkle.ts';
import { type ReadTiles, TILE_WIDTH, type Tile, tilePath } from '../../../src/proof/tlog/tiles.ts';

export function entry(index: number): Uint8Array {
  return Buffer.from(`entry ${index}`);
}

export interface GrownTree {
  readonly read: ReadHashes;
  readonly readTiles: ReadTiles;
  /** Root after each leaf; index 0 is the empty tree's. */
  readonly roots: readonly Uint8Array[];
}

export async function growTree(size: number, entryAt: (index: number) => Uint8Array = entry): Promise<GrownTree> {
  const hashes = new Map<string, Uint8Array>();
  const read: ReadHashes = async (wanted) =>
    wanted.map(({ level, index }) => {
      const found = hashes.get(`${level}/${index}`);
      if (found === undefined) throw new Error(`no hash ${level}/${index}`);
      return found;
    });
  const frontier = await Frontier.load(0, read);
  const roots = [frontier.root()];
  for (let index = 0; index < size; index += 1) {
    for (const done of frontier.append(leafHash(entryAt(index)))) hashes.set(`${done.level}/${done.index}`, done.hash);
    roots.push(frontier.root());
  }
  const readTiles: ReadTiles = async (tiles) =>
    tiles.map((tile) => {
      const at = (place: number) => hashes.get(`${Number(tile.level) * 8}/${tile.index * TILE_WIDTH + place}`);
      const parts = Array.from({ length: tile.width }, (_, place) => at(place)).filter((part) => part !== undefined);
      if (parts.length < tile.width) throw new Error(`no ${tilePath(tile)}`);
      return Buffer.concat(parts);
    });
  return { read, readTiles, roots };
}

/** The entries of a bundle, as a reader splits it. */
export function decodeBundle(bundle: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(bundle);
  const entries: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = from + 2 + bytes.readUInt16BE(from);
    if (end > bytes.length) throw new RangeError('the bundle breaks off in an entry');
    entries.push(bytes.subarray(from + 2, end));
    from = end;
  }
  return entries;
}

/** The hash tiles of a tree, level by level; the last of each level may be partial. */
export function* tilesOf(size: number): Generator<Tile> {
  for (let level = 0, hashes = size; hashes > 0; level += 1, hashes = Math.floor(hashes / TILE_WIDTH)) {
    for (let index = 0; index * TILE_WIDTH < hashes; index += 1)
      yield { level, index, width: Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH) };
  }
}
