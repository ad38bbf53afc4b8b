/** The origins of a log: the first, and those that an operator begins after a conflict. */
import type { Pool } from '../../database/pool.ts';
import { type Db, lock, transaction } from '../../database/transaction.ts';
import { EMPTY_ROOT } from '../../lib/tlog/merkle.ts';
import { checkpointIn } from '../../lib/tlog/note.ts';
import type { NumberedRecords, ProofLogName } from '../../seams/proof-log.ts';
import { signerOf } from './keys.ts';
import type { PublishedCheckpoints } from './state.ts';
import {
  firstInQueue,
  headerLeaves,
  insertLog,
  lockOf,
  readLog,
  type StoredLog,
  storeLastCheckpoint,
} from './store/logs.ts';

export interface BeginOptions {
  readonly pool: Pool;
  readonly log: ProofLogName;
  readonly proofKey: Uint8Array;
  /** Host of the addresses, without its port. */
  readonly host: () => string;
  /** Of the feed. */
  readonly numbered?: NumberedRecords | undefined;
}

/** The origin that a log has now; the first use begins it. */
export async function openLog(options: BeginOptions): Promise<StoredLog> {
  return (await readLog(options.pool, options.log)) ?? (await begin(options));
}

/** Begins a log: its origin is fixed from here on. */
async function begin({ pool, log, proofKey, host, numbered }: BeginOptions): Promise<StoredLog> {
  const origin = `${host()}/proof/v1/${log}`;
  const verifierKey = signerOf(proofKey, origin).key.text;
  return transaction(pool, async (db) => {
    await lock(db, lockOf(log));
    if ((await readLog(db, log)) === undefined) {
      const takenOverTo = numbered === undefined ? 0 : await lastWithoutEntry(db, log, numbered);
      await insertLog(db, { log, number: 1, origin, verifierKey, firstNumber: 1, takenOverTo, root: EMPTY_ROOT });
    }
    const stored = await readLog(db, log);
    if (stored === undefined) throw new TypeError('a log was not begun');
    return stored;
  });
}

/** Records that are published with an entry, by a command that was first, are not taken over. */
async function lastWithoutEntry(db: Db, log: ProofLogName, numbered: NumberedRecords): Promise<number> {
  const last = await numbered.lockLast(db);
  const first = await firstInQueue(db, log);
  return first === undefined ? last : first - 1;
}

interface NewOrigin {
  readonly origin: string;
  readonly verifierKey: string;
  /** Leaves of the last checkpoint of the old origin, and leaves that the database has of it. */
  readonly published: number;
  readonly stored: number;
}

/**
 * Goes on after a conflict, on an operator's word. The old log stays readable; entries that had no place in it, and whatever comes, get one
 * under the new origin, whose first leaf binds the last checkpoint of the old one.
 * @throws {Error} for operators
 */
export async function beginNewOrigin(
  pool: Pool,
  log: ProofLogName,
  proofKey: Uint8Array,
  published: PublishedCheckpoints,
): Promise<NewOrigin> {
  return transaction(pool, async (db) => {
    await lock(db, lockOf(log));
    const old = await readLog(db, log);
    if (old === undefined) throw new Error(`the proof log ${log} was never begun in this database`);
    const last = published.get(old.origin) ?? old.checkpoint;
    if (last === null) throw new Error(`no checkpoint of ${old.origin} is known: there is nothing to go on from`);
    await storeLastCheckpoint(db, old, last);
    const number = old.number + 1;
    const first = old.number === 1 ? old.origin : old.origin.replace(/\/\d+$/, '');
    const origin = `${first}/${number}`;
    const verifierKey = signerOf(proofKey, origin).key.text;
    const firstNumber = old.firstNumber + old.size - headerLeaves(old);
    await insertLog(db, { ...old, number, origin, verifierKey, firstNumber, root: EMPTY_ROOT });
    return { origin, verifierKey, published: checkpointIn(last).size, stored: old.size };
  });
}
