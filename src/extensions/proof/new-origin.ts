/** Going on after a conflict, on an operator's word: the log gets a new origin, whose first leaf binds the last checkpoint of the old one. */
import type { Pool } from '../../database/pool.ts';
import { transaction } from '../../database/transaction.ts';
import { EMPTY_ROOT } from '../../lib/tlog/merkle.ts';
import { createSigner } from '../../lib/tlog/note.ts';
import type { ProofLogName } from '../../seams/proof-log.ts';
import { deriveSeed } from './record.ts';
import { checkpointIn, type PublishedCheckpoints } from './state.ts';
import { headerLeaves, insertLog, lockLog, readLog, storeLastCheckpoint } from './store/logs.ts';

export interface NewOrigin {
  readonly origin: string;
  readonly verifierKey: string;
  /** Leaves of the last checkpoint of the old origin, and leaves that the database has of it. */
  readonly published: number;
  readonly stored: number;
}

/**
 * The old log stays readable. Entries that had no place in it, and whatever comes, get one in the new one.
 * @throws {Error} for operators
 */
export async function beginNewOrigin(
  pool: Pool,
  log: ProofLogName,
  proofKey: Uint8Array,
  published: PublishedCheckpoints,
): Promise<NewOrigin> {
  return transaction(pool, async (db) => {
    await lockLog(db, log);
    const old = await readLog(db, log);
    if (old === undefined) throw new Error(`the proof log ${log} was never begun in this database`);
    const last = published.get(old.origin) ?? old.checkpoint;
    if (last === null) throw new Error(`no checkpoint of ${old.origin} is known: there is nothing to go on from`);
    await storeLastCheckpoint(db, old, last);
    const number = old.number + 1;
    const first = old.number === 1 ? old.origin : old.origin.replace(/\/\d+$/, '');
    const origin = `${first}/${number}`;
    const verifierKey = createSigner(origin, deriveSeed(proofKey, origin)).key.text;
    const firstNumber = old.firstNumber + old.size - headerLeaves(old);
    await insertLog(db, { ...old, number, origin, verifierKey, firstNumber, root: EMPTY_ROOT });
    return { origin, verifierKey, published: checkpointIn(last).size, stored: old.size };
  });
}
