/** The tiles of a tree, compared with what its entries make. */
import type { Db } from '../../database/transaction.ts';
import { TILE_WIDTH, tilesOf } from '../../lib/tlog/tiles.ts';
import { MissingTileError, tileReader } from './store/leaves.ts';
import type { StoredLog } from './store/logs.ts';

/** One thing in the database that is not as it was published. */
export interface ProofFault {
  /** The record as operators know it, or the leaf or tile where nothing else is left. */
  readonly name: string;
  readonly fault: string;
}

export interface TileCheckOptions {
  readonly db: Db;
  readonly found: (fault: ProofFault) => void;
}

/** Compares stored tiles with hashes that were computed anew. */
export class TileCheck {
  readonly #options: TileCheckOptions;
  readonly #stored: StoredLog;
  #tiles = new Map<string, { level: number; index: number; hashes: Uint8Array[] }>();

  constructor(options: TileCheckOptions, stored: StoredLog) {
    this.#options = options;
    this.#stored = stored;
  }

  add({ level, index, hash }: { readonly level: number; readonly index: number; readonly hash: Uint8Array }): void {
    if (level % 8 !== 0) return;
    const tile = { level: level / 8, index: Math.floor(index / TILE_WIDTH) };
    const key = `${tile.level}/${tile.index}`;
    const known = this.#tiles.get(key) ?? { ...tile, hashes: [] };
    known.hashes.push(hash);
    this.#tiles.set(key, known);
  }

  /** @param all also those that are not full: at the end */
  async compare(all: boolean): Promise<void> {
    for (const [key, { level, index, hashes }] of this.#tiles) {
      if (!all && hashes.length < TILE_WIDTH) continue;
      this.#tiles.delete(key);
      const stored = await readTile(this.#options.db, this.#stored, { level, index, width: hashes.length });
      if (stored === undefined || !stored.equals(Buffer.concat(hashes)))
        this.#options.found({
          name: `tile ${level}/${index} of ${this.#stored.origin}`,
          fault: stored === undefined ? 'is missing' : 'is not what its entries make',
        });
    }
  }
}

async function readTile(
  db: Db,
  stored: StoredLog,
  tile: { level: number; index: number; width: number },
): Promise<Buffer | undefined> {
  try {
    const [bytes] = await tileReader(db, stored)([tile]);
    return bytes === undefined ? undefined : Buffer.from(bytes);
  } catch (error) {
    if (error instanceof MissingTileError) return undefined;
    throw error;
  }
}

/** Tiles and bundles that the size does not have: a tree whose size was moved back. */
export async function nameExtraTiles({ db, found }: TileCheckOptions, stored: StoredLog): Promise<void> {
  const { log, number, size } = stored;
  const widths = new Map<number, number>();
  for (const { level, index, width } of tilesOf(size))
    if (typeof level === 'number') widths.set(level, index * TILE_WIDTH + width);
  const { rows } = await db.query<{ level: number; hashes: number }>(
    `select niveau as level, max(tegel * ${TILE_WIDTH} + octet_length(hashes) / 32) as hashes from proof.tegels
     where log = $1::text and nummer = $2::integer group by niveau`,
    [log, number],
  );
  for (const { level, hashes } of rows) {
    if (hashes > (widths.get(level) ?? 0))
      found({ name: `tiles of level ${level} of ${stored.origin}`, fault: 'hold more than the size of the tree' });
  }
}

/** A bit for each leaf. */
export class Bits {
  readonly #bytes: Uint8Array;

  constructor(size: number) {
    this.#bytes = new Uint8Array(Math.ceil(size / 8));
  }

  has(place: number): boolean {
    return ((this.#bytes[Math.floor(place / 8)] ?? 0) & (1 << (place % 8))) !== 0;
  }

  set(place: number): void {
    const byte = Math.floor(place / 8);
    this.#bytes[byte] = (this.#bytes[byte] ?? 0) | (1 << (place % 8));
  }
}
