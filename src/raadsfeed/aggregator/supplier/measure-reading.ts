import type { Db } from '../../../kernel/database/transaction.ts';
import { type Coverage, measureCoverage } from '../measure-coverage.ts';
import { partKey } from '../part-key.ts';
import type { KnownPlace, WindowReading } from '../source-adapter.ts';
import { readHeldKeys } from '../store/coverage.ts';

/**
 * Compares what the supplier showed in these readings with what the feed holds now.
 * @param known the places that were handed to the readings
 */
export async function measureReadings(
  db: Db,
  organisatiecode: string,
  readings: readonly WindowReading[],
  known: readonly KnownPlace[],
): Promise<Coverage> {
  const places = [...readings.flatMap((reading) => reading.places), ...known];
  const keys = new Set(places.flatMap(({ parts }) => parts.map(partKey)));
  const held = await readHeldKeys(db, organisatiecode, [...keys]);
  return measureCoverage(readings, known, (key) => held.has(key));
}
