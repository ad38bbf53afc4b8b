/** Which leaves a tree gets next: entries of the queue or of the feed, padding, and leaves without a record. */
import { createHmac, createSecretKey, hash } from 'node:crypto';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction, tryLock } from '../../database/transaction.ts';
import { Frontier } from '../../lib/tlog/merkle.ts';
import { readHashesFromTiles } from '../../lib/tlog/tiles.ts';
import type { NumberedEntry, NumberedRecords, ProofLogName } from '../../seams/proof-log.ts';
import { deriveSeed } from './keys.ts';
import { entryWith } from './record.ts';
import { ConflictError } from './state.ts';
import { appendLeaves, ENTRY_BYTES, tileReader } from './store/leaves.ts';
import { headerLeaves, lockOf, moveLog, readLog, readOrigins, type StoredLog, takeFromQueue } from './store/logs.ts';

/** Entries that get their place in one transaction. */
const BATCH = 20_000;
/** Records of the feed that are sealed in one transaction when the log is switched on. */
const TAKE_OVER = 1000;

export interface SequenceOptions {
  readonly pool: Pool;
  readonly log: ProofLogName;
  readonly proofKey: Uint8Array;
  /** Each batch is filled up to a multiple of this; 0: not. */
  readonly pad: number;
  /** Of the feed. */
  readonly numbered?: NumberedRecords | undefined;
}

/** Gives a batch its place. @returns whether there may be more @throws {ConflictError} when the tiles are not those of the root */
export async function sequenceBatch(options: SequenceOptions): Promise<boolean> {
  const { pool, log } = options;
  return transaction(pool, async (db) => {
    const stored = (await tryLock(db, lockOf(log))) ? await readLog(db, log) : undefined;
    if (stored === undefined) return false;
    const frontier = await Frontier.load(stored.size, readHashesFromTiles(stored.size, tileReader(db, stored)));
    if (Buffer.compare(frontier.root(), stored.root) !== 0)
      throw new ConflictError('the tiles of the database do not have the root that is stored with them');
    const { entries, isFull } = await nextEntries(db, stored, options.numbered);
    const leaves = isFull ? entries : padded(entries, stored, options);
    if (leaves.length === 0) return false;
    await appendLeaves(db, stored, frontier, leaves);
    await moveLog(db, stored, frontier.size, frontier.root());
    return isFull;
  });
}

/** What comes next in the tree. */
async function nextEntries(
  db: Db,
  stored: StoredLog,
  numbered: NumberedRecords | undefined,
): Promise<{ entries: NumberedEntry[]; isFull: boolean }> {
  if (stored.number > 1 && stored.size === 0) {
    const [before] = (await readOrigins(db, stored.log)).slice(-2);
    return { entries: [{ number: 0, entry: bindingEntry(before?.checkpoint ?? '') }], isFull: true };
  }
  const next = stored.firstNumber + stored.size - headerLeaves(stored);
  if (numbered === undefined || next > stored.takenOverTo) {
    const entries = await takeFromQueue(db, stored.log, BATCH, numbered === undefined ? undefined : next);
    return { entries, isFull: entries.length === BATCH };
  }
  const upTo = Math.min(stored.takenOverTo, next + TAKE_OVER - 1);
  const found = new Map((await numbered.seal(db, next, upTo)).map(({ number, entry }) => [number, entry]));
  const entries = Array.from({ length: upTo - next + 1 }, (_, i) => {
    return { number: next + i, entry: found.get(next + i) ?? PRUNED_ENTRY };
  });
  return { entries, isFull: true };
}

function padded(
  entries: readonly NumberedEntry[],
  { origin, size }: StoredLog,
  { pad, proofKey, numbered }: SequenceOptions,
): readonly NumberedEntry[] {
  if (pad === 0 || numbered !== undefined) return entries;
  const wanted = Math.max(1, Math.ceil(entries.length / pad)) * pad;
  const paddingAt = paddingEntries(proofKey, origin);
  const padding = Array.from({ length: wanted - entries.length }, (_, i) => {
    return { number: 0, entry: paddingAt(size + entries.length + i) };
  });
  return [...entries, ...padding];
}

/** Of a number of the feed that was pruned before the log was switched on. */
export const PRUNED_ENTRY: Uint8Array = Buffer.concat([Uint8Array.of(0x03)], ENTRY_BYTES);

/** The first leaf of a new origin: 0x04, and the hash of the last checkpoint of the one before it. */
export function bindingEntry(checkpoint: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(0x04), hash('sha256', checkpoint, 'buffer')]);
}

/** Gives the entries of an origin's padding leaves: the format byte and HMAC-SHA-256(pad key, origin ‖ index in eight bytes, big-endian). */
export function paddingEntries(proofKey: Uint8Array, origin: string): (index: number) => Uint8Array {
  // No origin and no name of a witness has a colon, so no other key is derived from this text.
  const key = createSecretKey(deriveSeed(proofKey, 'koppelvlak:padding'));
  const place = Buffer.alloc(8);
  return (index) => {
    place.writeBigUInt64BE(BigInt(index));
    return entryWith(createHmac('sha256', key).update(origin).update(place).digest('binary'));
  };
}
