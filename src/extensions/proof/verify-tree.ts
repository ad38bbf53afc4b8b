/** A tree of the database compared with itself: its tiles and root with what its entries make, and its checkpoints with both. */
import type { Db } from '../../database/transaction.ts';
import { Frontier, leafHash, rootHash } from '../../lib/tlog/merkle.ts';
import { checkpointIn, FormatError, openNote, parseVerifierKey } from '../../lib/tlog/note.ts';
import { addToTiles, type GrowingTile, readHashesFromTiles, TILE_WIDTH } from '../../lib/tlog/tiles.ts';
import { bindingEntry, PRUNED_ENTRY, paddingEntries } from './sequence.ts';
import { ENTRY_BYTES, MissingTileError, readBundles, tileReader } from './store/leaves.ts';
import type { StoredLog } from './store/logs.ts';

const BUNDLES_PER_READ = 64;

/** One thing in the database that is not as it was published. */
export interface ProofFault {
  /** The record as operators know it, or the leaf or tile where nothing else is left. */
  readonly name: string;
  readonly fault: string;
}

export interface VerifyTreeOptions {
  readonly db: Db;
  readonly proofKey: Uint8Array;
  /** The last published note of an origin, from outside the database. */
  readonly published: (origin: string) => string | undefined;
  readonly found: (fault: ProofFault) => void;
  readonly signal: AbortSignal;
}

/** A tree with what is known of each leaf. */
export class VerifiedTree {
  readonly stored: StoredLog;
  /** A bit for each leaf that is explained: by a record, a removal, padding or a number that was pruned before the log began. */
  readonly #known: Uint8Array;
  /** Bundles that were read last: records come nearly in the order of their leaves. */
  readonly #bundles = new Map<number, Buffer | undefined>();

  constructor(stored: StoredLog) {
    this.stored = stored;
    this.#known = new Uint8Array(Math.ceil(stored.size / 8));
  }

  isKnown(leaf: number): boolean {
    return ((this.#known[Math.floor(leaf / 8)] ?? 0) & (1 << (leaf % 8))) !== 0;
  }

  setKnown(leaf: number): void {
    const byte = Math.floor(leaf / 8);
    this.#known[byte] = (this.#known[byte] ?? 0) | (1 << (leaf % 8));
  }

  async entryAt(db: Db, leaf: number): Promise<Buffer | undefined> {
    const index = Math.floor(leaf / TILE_WIDTH);
    if (!this.#bundles.has(index)) {
      if (this.#bundles.size >= BUNDLES_PER_READ) this.#bundles.clear();
      const [read] = await readBundles(db, this.stored, index, 1);
      this.#bundles.set(index, read?.index === index ? read.entries : undefined);
    }
    const place = leaf % TILE_WIDTH;
    return this.#bundles.get(index)?.subarray(place * ENTRY_BYTES, (place + 1) * ENTRY_BYTES);
  }
}

/** Compares bundles, tiles, root and checkpoints of one origin. @param before the origin before it */
export async function verifyTree(
  options: VerifyTreeOptions,
  stored: StoredLog,
  before: StoredLog | undefined,
  isLast: boolean,
): Promise<VerifiedTree> {
  const { db, proofKey, found, signal } = options;
  const { origin, size } = stored;
  const tree = new VerifiedTree(stored);
  const paddingAt = paddingEntries(proofKey, origin);
  /** Whether a leaf needs no record: the binding to an earlier origin, padding, or a number that was pruned before the log began. */
  const isExplained = (entry: Buffer, leaf: number): boolean => {
    if (before !== undefined && leaf === 0) return entry.equals(bindingEntry(before.checkpoint ?? ''));
    if (stored.log === 'raadsfeed') return leaf < stored.takenOverTo && entry.equals(PRUNED_ENTRY);
    return entry.equals(paddingAt(leaf));
  };
  // Built anew from the entries: whatever tile differs is named.
  const frontier = await Frontier.load(0, async () => []);
  const tiles = new Map<string, GrowingTile>();
  const last = Math.ceil(size / TILE_WIDTH);
  for (let index = 0; index < last; index += BUNDLES_PER_READ) {
    signal.throwIfAborted();
    const read = new Map((await readBundles(db, stored, index, BUNDLES_PER_READ)).map((one) => [one.index, one]));
    for (let i = index; i < Math.min(last, index + BUNDLES_PER_READ); i += 1) {
      const bundle = read.get(i);
      const wanted = Math.min(TILE_WIDTH, size - i * TILE_WIDTH);
      if (bundle === undefined || bundle.entries.length !== wanted * ENTRY_BYTES || bundle.numbers.length !== wanted)
        found({ name: `bundle ${i} of ${origin}`, fault: 'is missing or has another length' });
      for (let place = 0; place < wanted; place += 1) {
        const leaf = i * TILE_WIDTH + place;
        const entry = bundle?.entries.subarray(place * ENTRY_BYTES, (place + 1) * ENTRY_BYTES) ?? Buffer.alloc(0);
        if (isExplained(entry, leaf)) tree.setKnown(leaf);
        for (const complete of frontier.append(leafHash(entry))) addToTiles(tiles, complete);
      }
    }
    await compareTiles(options, stored, tiles, ({ hashes }) => hashes.length === TILE_WIDTH);
  }
  await compareTiles(options, stored, tiles, () => true);
  const name = `tree ${origin}`;
  if (Buffer.compare(frontier.root(), stored.root) !== 0)
    found({ name, fault: 'its entries do not have the root that is stored' });
  const outside = options.published(origin);
  await verifyCheckpoint(options, stored, frontier, 'in the database', stored.checkpoint ?? undefined);
  await verifyCheckpoint(options, stored, frontier, 'outside the database', outside);
  if (outside === undefined && size > 0 && isLast)
    found({ name, fault: 'there is no checkpoint of it outside the database to compare with' });
  return tree;
}

/** Compares the wanted tiles with the stored ones, and forgets them. */
async function compareTiles(
  { db, found }: VerifyTreeOptions,
  stored: StoredLog,
  tiles: Map<string, GrowingTile>,
  isWanted: (tile: GrowingTile) => boolean,
): Promise<void> {
  for (const [key, tile] of tiles) {
    if (!isWanted(tile)) continue;
    tiles.delete(key);
    const { level, index, hashes } = tile;
    const name = `tile ${level}/${index} of ${stored.origin}`;
    try {
      const [bytes] = await tileReader(db, stored)([{ level, index, width: hashes.length }]);
      if (bytes === undefined || Buffer.compare(bytes, Buffer.concat(hashes)) !== 0)
        found({ name, fault: 'is not what its entries make' });
    } catch (error) {
      if (!(error instanceof MissingTileError)) throw error;
      found({ name, fault: 'is missing' });
    }
  }
}

/** Compares a signed note with the tree: its signature, its size and its root. */
async function verifyCheckpoint(
  { db, found }: VerifyTreeOptions,
  stored: StoredLog,
  frontier: Frontier,
  where: string,
  note: string | undefined,
): Promise<void> {
  if (note === undefined) return;
  const name = `checkpoint ${where} of ${stored.origin}`;
  try {
    openNote(note, [parseVerifierKey(stored.verifierKey)]);
    const { size, root } = checkpointIn(note);
    if (size > stored.size) return found({ name, fault: `has ${size} leaves and the tree only ${stored.size}` });
    const own =
      size === frontier.size
        ? frontier.root()
        : await rootHash(size, readHashesFromTiles(stored.size, tileReader(db, stored)));
    if (Buffer.compare(own, root) !== 0) found({ name, fault: `is not of the first ${size} leaves of this tree` });
  } catch (error) {
    if (!(error instanceof FormatError || error instanceof MissingTileError)) throw error;
    found({ name, fault: `cannot be compared: ${error.message}` });
  }
}
