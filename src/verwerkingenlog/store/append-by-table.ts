/**
 * Opens the store of versions in the form for this database: one machine, or Citus. There versions are added by a statement for each table, in one
 * transaction, because a single statement over differently distributed tables would become many small ones on the workers. A rotation of log keys
 * uses the statement for locations on one machine, too.
 */
import type { Db } from '../../database/transaction.ts';
import { NEXT_PROOF_NUMBER } from '../../proof/proof-log.ts';
import type { SealedVersie } from '../domain/encryption.ts';
import {
  appendTogether,
  type Columns,
  createVersionStore,
  INSERT_LOCATIONS,
  type Insert,
  LOCATION_ROW,
  locationsOf,
  NEW_VERSION_ROW,
  type NewVersion,
  type QueueForward,
  rowOf,
  rowsIn,
  takeIdempotencyKeys,
  VERSIE_ROW,
  type VersionStore,
} from './append.ts';
import { lockHashingKey, refuseOtherHashingKeys } from './idempotency.ts';
import { refuseOtherKeys, writeWithKeys } from './keys.ts';
import { VERSIE_NAMES } from './versions.ts';

/** @param forward absent: nothing is forwarded */
export async function openVersionStore(db: Db, forward: QueueForward | undefined): Promise<VersionStore> {
  return (await isDistributed(db))
    ? createVersionStore(appendByTable, { isOneStatement: false, forward })
    : createVersionStore(appendTogether, { isOneStatement: forward === undefined, forward });
}

/** Whether the tables of the log are distributed over the nodes of Citus: `koppelvlak migrate --distributed`. */
async function isDistributed(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ citus: boolean }>(
    `select to_regclass('pg_catalog.pg_dist_partition') is not null as citus`,
  );
  if (rows[0]?.citus !== true) return false;
  const { rows: found } = await db.query(
    `select 1 from pg_catalog.pg_dist_partition where logicalrelid = to_regclass('verwerkingenlog.versies')`,
  );
  return found.length > 0;
}

const appendByTable: Insert = async (db, versions, knownLogKeys) => {
  const registered = await readRegistered(db, versions);
  const taken = await readTaken(db, versions, knownLogKeys);
  const kept = new Set(
    versions.filter(({ idempotencyKey, versie }) => idempotencyKey === undefined || taken.has(versie.actieId)),
  );
  if (kept.size > 0) {
    await insertVersies(db, [...kept]);
    await insertLocations(db, [...kept]);
  }
  return versions.map((version) => {
    const { verwerkingsactiviteitId: id } = version.versie;
    return { kept: kept.has(version), unknownActivity: id !== null && !registered.has(id) };
  });
};

/** The values that a location takes from its version. */
const LOCATED = new Set([
  'actieId',
  'versie',
  'tijdstip',
  'vertrouwelijkheid',
  'ooitVertrouwelijk',
  'verwerkingsactiviteitId',
]);
const LOCATED_ROW = VERSIE_ROW.filter(([, , member]) => LOCATED.has(member));

/** Adds the locations of the persons of these versions. */
export async function insertLocations(db: Db, versions: readonly Pick<SealedVersie, 'versie'>[]): Promise<void> {
  const located = versions.map(({ versie }) =>
    Object.fromEntries(Object.entries(versie).filter(([name]) => LOCATED.has(name))),
  );
  await db.query({
    name: 'verwerkingenlog-insert-locations',
    text: `${INSERT_LOCATIONS} from ${rowsIn('$2', 'p', LOCATION_ROW)} join ${rowsIn('$1', 'v', LOCATED_ROW)} on v.nr = p.version_nr`,
    values: [JSON.stringify(located), JSON.stringify(locationsOf(versions))],
  });
}

/** Which of the activities are in the register. */
async function readRegistered(db: Db, versions: readonly NewVersion[]): Promise<Set<string>> {
  const ids = new Set(versions.map(({ versie }) => versie.verwerkingsactiviteitId).filter((id) => id !== null));
  if (ids.size === 0) return new Set();
  const { rows } = await db.query<{ id: string }>({
    name: 'verwerkingenlog-distributed-register',
    text: `select verwerkingsactiviteit_id as id from verwerkingenlog.verwerkingsactiviteiten
      where verwerkingsactiviteit_id = any($1::uuid[])`,
    values: [[...ids]],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Takes idempotency keys that were not used in the last 24 hours. @returns the actions whose keys were taken */
async function readTaken(
  db: Db,
  versions: readonly NewVersion[],
  knownLogKeys: readonly string[],
): Promise<Set<string>> {
  if (versions.every(({ idempotencyKey }) => idempotencyKey === undefined)) return new Set();
  const name = await lockHashingKey(db);
  await refuseOtherKeys(db, knownLogKeys);
  await refuseOtherHashingKeys(db, knownLogKeys);
  const keyed = versions.filter(
    ({ idempotencyKey, hashedWith }) => idempotencyKey !== undefined && hashedWith === name,
  );
  if (keyed.length === 0) return new Set();
  const { rows } = await db.query<{ actie_id: string }>({
    name: 'verwerkingenlog-distributed-keys',
    text: takeIdempotencyKeys(rowsIn('$1', 'k', NEW_VERSION_ROW)),
    values: [JSON.stringify(keyed.map(rowOf))],
  });
  return new Set(rows.map(({ actie_id: id }) => id));
}

const NUMBERED_ROW: Columns = [...VERSIE_ROW, ['proof_number', 'bigint', 'bewijsNr']];
const INSERT_VERSIES = {
  name: 'verwerkingenlog-insert-versies',
  text: `
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, proof_number)
    select ${VERSIE_NAMES}, objecten, proof_number from ${rowsIn('$1', 'v', NUMBERED_ROW)}`,
};

async function insertVersies(db: Db, added: readonly SealedVersie[]): Promise<void> {
  // On one machine the trigger `with_keys` does this; the distributed tables do not have it.
  await writeWithKeys(db, [...new Set(added.map(({ versie }) => versie.keyName))]);
  const numbers = await queueEntries(db, added);
  const rows = added.map(({ versie }, i) => ({ ...versie, bewijsNr: numbers[i] }));
  await db.query({ ...INSERT_VERSIES, values: [JSON.stringify(rows)] });
}

/** The entries of the proof log; its tables are on the coordinator. @returns the number of each, when there is a proof log */
async function queueEntries(db: Db, next: readonly SealedVersie[]): Promise<readonly number[]> {
  const entries = next.flatMap(({ entry }) => (entry === undefined ? [] : [Buffer.from(entry)]));
  if (entries.length === 0) return [];
  const { rows } = await db.query<{ nr: number }>(
    `select ${NEXT_PROOF_NUMBER} as nr from generate_series(1, $1::integer)`,
    [entries.length],
  );
  const numbers = rows.map(({ nr }) => nr);
  await db.query(
    `insert into proof.queue (log, number, entry)
     select 'verwerkingen', b.number, b.entry from unnest($1::bigint[], $2::bytea[]) as b(number, entry)`,
    [numbers, entries],
  );
  return numbers;
}
