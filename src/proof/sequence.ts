/** The origins of a log, and the next leaves of its tree: entries of the queue or of the feed, padding, and leaves without a record. */
import { createHmac, createSecretKey, hash } from 'node:crypto';
import type { Pool } from '../database/pool.ts';
import { type Db, lock, transaction, tryLock } from '../database/transaction.ts';
import { deriveSeed, signerOf } from './keys.ts';
import type { NumberedEntry, NumberedRecords, ProofLogName } from './proof-log.ts';
import { entryWith } from './record.ts';
import { ConflictError, type PublishedCheckpoints } from './state.ts';
import { appendLeaves, ENTRY_BYTES, tileReader } from './store/leaves.ts';
import {
  firstInQueue,
  insertLog,
  lockOf,
  moveLog,
  nextNumber,
  readLog,
  readOrigins,
  type StoredLog,
  storeLastCheckpoint,
  takeFromQueue,
} from './store/logs.ts';
import { EMPTY_ROOT, Frontier } from './tlog/merkle.ts';
import { checkpointIn } from './tlog/note.ts';
import { readHashesFromTiles } from './tlog/tiles.ts';

const BATCH = 20_000;
/** Records of the feed that are sealed in one transaction when the log is switched on. */
const TAKE_OVER = 1000;

export interface LogOptions {
  readonly pool: Pool;
  readonly log: ProofLogName;
  readonly proofKey: Uint8Array;
  readonly host: () => string;
  /** Each batch is padded to a multiple of this; 0: no padding. */
  readonly pad: number;
  readonly numbered?: NumberedRecords | undefined;
}

/** The current origin of a log; the first use begins it. */
export async function openLog({ pool, log, proofKey, host, numbered }: LogOptions): Promise<StoredLog> {
  const present = await readLog(pool, log);
  if (present !== undefined) return present;
  const origin = `${host()}/proof/v1/${log}`;
  const verifierKey = signerOf(proofKey, origin).key.text;
  return transaction(pool, async (db) => {
    await lock(db, lockOf(log));
    if ((await readLog(db, log)) === undefined) {
      const last = (await numbered?.lockLast(db)) ?? 0;
      // Records from the first one in the queue on were published with an entry, by an earlier command.
      const first = numbered && (await firstInQueue(db, log));
      const takenOverTo = first === undefined ? last : first - 1;
      await insertLog(db, { log, number: 1, origin, verifierKey, firstNumber: 1, takenOverTo, root: EMPTY_ROOT });
    }
    const stored = await readLog(db, log);
    if (stored === undefined) throw new TypeError('a log was not begun');
    return stored;
  });
}

/**
 * Continues after a conflict, at an operator's request. The old log stays readable; entries without a place in it, and all later ones, go under the
 * new origin, whose first leaf binds the last checkpoint of the old one.
 * @returns the leaves of that checkpoint too, and those of the old origin in the database @throws {Error} for operators
 */
export async function beginNewOrigin(
  pool: Pool,
  log: ProofLogName,
  proofKey: Uint8Array,
  published: PublishedCheckpoints,
) {
  return transaction(pool, async (db) => {
    await lock(db, lockOf(log));
    const old = await readLog(db, log);
    if (old === undefined) throw new Error(`the proof log ${log} was never started in this database`);
    const last = published.get(old.origin) ?? old.checkpoint;
    if (last === null) throw new Error(`no checkpoint of ${old.origin} is known: there is nothing to continue from`);
    await storeLastCheckpoint(db, old, last);
    const number = old.number + 1;
    const first = old.number === 1 ? old.origin : old.origin.replace(/\/\d+$/, '');
    const origin = `${first}/${number}`;
    const verifierKey = signerOf(proofKey, origin).key.text;
    const firstNumber = nextNumber(old);
    await insertLog(db, { ...old, number, origin, verifierKey, firstNumber, root: EMPTY_ROOT });
    return { origin, verifierKey, published: checkpointIn(last).size, stored: old.size };
  });
}

/** Sequences a batch. @returns whether there may be more @throws {ConflictError} when the tiles do not match the root */
export async function sequenceBatch(options: LogOptions): Promise<boolean> {
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

async function nextEntries(db: Db, stored: StoredLog, numbered: NumberedRecords | undefined) {
  if (stored.number > 1 && stored.size === 0) {
    const [before] = (await readOrigins(db, stored.log)).slice(-2);
    return { entries: [{ number: 0, entry: bindingEntry(before?.checkpoint ?? '') }], isFull: true };
  }
  const next = nextNumber(stored);
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
  { pad, proofKey, numbered }: LogOptions,
): readonly NumberedEntry[] {
  if (pad === 0 || numbered !== undefined) return entries;
  const wanted = Math.max(1, Math.ceil(entries.length / pad)) * pad;
  const paddingAt = paddingEntries(proofKey, origin);
  const all = [...entries];
  while (all.length < wanted) all.push({ number: 0, entry: paddingAt(size + all.length) });
  return all;
}

/** The entry for a feed number that was pruned before the log was switched on. */
export const PRUNED_ENTRY: Uint8Array = Buffer.concat([Uint8Array.of(0x03)], ENTRY_BYTES);

/** The first leaf of a new origin: 0x04, and the hash of the last checkpoint of the previous one. */
export function bindingEntry(checkpoint: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(0x04), hash('sha256', checkpoint, 'buffer')]);
}

/** Makes the entries of an origin's padding leaves: the format byte and HMAC-SHA-256(pad key, origin ‖ index in eight bytes, big-endian). */
export function paddingEntries(proofKey: Uint8Array, origin: string): (index: number) => Uint8Array {
  // No origin and no witness name has a colon, so no other key is derived from this text.
  const key = createSecretKey(deriveSeed(proofKey, 'koppelvlak:padding'));
  const place = Buffer.alloc(8);
  return (index) => {
    place.writeBigUInt64BE(BigInt(index));
    return entryWith(createHmac('sha256', key).update(origin).update(place).digest('binary'));
  };
}
