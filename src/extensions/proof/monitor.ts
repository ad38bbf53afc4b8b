/** Follows the checkpoints of a log by its public addresses, and says when one does not continue what was seen before. */

import { HASH_BYTES, proveConsistency, rootHash, verifyConsistency } from '../../lib/tlog/merkle.ts';
import { checkpointIn, type VerifierKey } from '../../lib/tlog/note.ts';
import { openCheckpoint, policyForLog } from '../../lib/tlog/policy.ts';
import { type ReadTiles, readHashesFromTiles, tilePath } from '../../lib/tlog/tiles.ts';

/** Gets the bytes at an address below the log's prefix: `checkpoint`, `tile/0/000`. */
export type FetchBelow = (path: string) => Promise<Uint8Array>;

export type Observation =
  | { readonly kind: 'first' | 'grown' | 'same'; readonly note: string; readonly size: number; readonly seen: number }
  /** The log answers with an older checkpoint, which the newer one continues: a cache, or an instance that is behind. */
  | { readonly kind: 'older'; readonly note: string; readonly size: number; readonly seen: number }
  /** Two checkpoints that no log may both sign: keep both notes. */
  | { readonly kind: 'conflict'; readonly note: string; readonly reason: string };

/**
 * Reads the checkpoint of a log and compares it with the last one seen.
 * @param seen the signed checkpoint of the last time
 * @throws {Error} when the log cannot be read, or its checkpoint is not signed by the key
 */
export async function observe(
  fetchBelow: FetchBelow,
  key: VerifierKey,
  seen: string | undefined,
): Promise<Observation> {
  const note = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await fetchBelow('checkpoint'));
  const opened = openCheckpoint(note, policyForLog(key));
  if ('reason' in opened) throw new Error(opened.reason);
  const { checkpoint } = opened;
  const last = seen === undefined ? undefined : checkpointIn(seen);
  const larger = last !== undefined && last.size > checkpoint.size ? last : checkpoint;
  const read = readHashesFromTiles(larger.size, readTilesBelow(fetchBelow));
  // The tiles must be those that were signed.
  if (Buffer.compare(await rootHash(larger.size, read), larger.root) !== 0) {
    return { kind: 'conflict', note, reason: `its tiles are not those of the signed tree of ${larger.size} leaves` };
  }
  const result = { note, size: checkpoint.size, seen: last?.size ?? 0 };
  if (last === undefined) return { kind: 'first', ...result };
  const smaller = larger === last ? checkpoint : last;
  if (!verifyConsistency(smaller, larger, await proveConsistency(smaller.size, larger.size, read))) {
    const reason = `its tree of ${larger.size} leaves does not continue the one of ${smaller.size}`;
    return { kind: 'conflict', note, reason };
  }
  if (last.size === checkpoint.size) return { kind: 'same', ...result };
  return { kind: larger === last ? 'older' : 'grown', ...result };
}

/** Tiles by their addresses. A partial tile may be gone once the full one is there (tlog-tiles, Partial Tiles). */
function readTilesBelow(fetchBelow: FetchBelow): ReadTiles {
  return (tiles) =>
    Promise.all(
      tiles.map(async (tile) => {
        try {
          return await fetchBelow(tilePath(tile));
        } catch (error) {
          const full = { ...tile, width: 256 };
          if (tile.width === full.width) throw error;
          return (await fetchBelow(tilePath(full))).subarray(0, tile.width * HASH_BYTES);
        }
      }),
    );
}
