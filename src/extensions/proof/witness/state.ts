/** What a witness cosigned last of each log: a row per log, and a file outside the database that a restored backup does not turn back. */

import type { Pool } from '../../../database/pool.ts';
import { transaction } from '../../../database/transaction.ts';
import { type Checkpoint, checkpointIn } from '../../../lib/tlog/note.ts';
import type { WitnessState } from './add-checkpoint.ts';

/** Signed checkpoints by origin, outside the database. */
export interface OutsideState {
  get(origin: string): string | undefined;
  /** Resolves when it is on disk. */
  put(origin: string, note: string): Promise<void>;
}

/** Milliseconds that a request waits for another one about the same log. */
const LOCK_TIMEOUT_MS = 5_000;

export function createWitnessState(pool: Pool, outside: OutsideState): WitnessState {
  return {
    async update(origin, decide) {
      await transaction(pool, async (client) => {
        await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await client.query(
          'insert into proof.getuigd (origin, grootte) values ($1, 0) on conflict (origin) do nothing',
          [origin],
        );
        const { rows } = await client.query<{ checkpoint: string | null }>(
          'select checkpoint from proof.getuigd where origin = $1 for update',
          [origin],
        );
        const note = decide(newestOf(rows[0]?.checkpoint ?? undefined, outside.get(origin)));
        if (note === undefined) return;
        // The file first: when the commit fails, this witness remembers more than it said, which harms nobody.
        await outside.put(origin, note);
        await client.query(
          'update proof.getuigd set grootte = $2, checkpoint = $3, op = clock_timestamp() where origin = $1',
          [origin, readCheckpoint(note).size, note],
        );
      });
    },

    async read(origin) {
      const { rows } = await pool.query<{ checkpoint: string | null }>(
        'select checkpoint from proof.getuigd where origin = $1',
        [origin],
      );
      return rows[0]?.checkpoint ?? undefined;
    },
  };
}

function readCheckpoint(note: string): Checkpoint {
  return checkpointIn(note);
}

/** @throws {Error} when the two are of one size and differ: one of them was changed, and nothing may be cosigned */
function newestOf(stored: string | undefined, outside: string | undefined): Checkpoint | undefined {
  const inDatabase = stored === undefined ? undefined : readCheckpoint(stored);
  const inFile = outside === undefined ? undefined : readCheckpoint(outside);
  if (inDatabase === undefined || inFile === undefined) return inDatabase ?? inFile;
  if (inDatabase.size !== inFile.size) return inDatabase.size > inFile.size ? inDatabase : inFile;
  if (Buffer.compare(inDatabase.root, inFile.root) !== 0) {
    throw new Error(`the witness remembers two checkpoints of ${inFile.origin} with size ${inFile.size}`);
  }
  return inDatabase;
}
