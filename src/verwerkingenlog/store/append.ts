/** Adds versions with one statement, or on Citus one for each table: on one machine that takes the server twice as much processor time. */
import pg from 'pg';
import { isConflict, isRefusedValue } from '../../database/database-unavailable.ts';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import type { Clock } from '../../lib/time.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import { NEXT_PROOF_NUMBER } from '../../proof/proof-log.ts';
import { positionsByPerson, type SealedVersie } from '../domain/encryption.ts';
import { lockHashingKey, OTHER_KEYS, refuseOtherKeys } from './idempotency.ts';
import { writeWithKeys } from './keys.ts';
import { makeMonths } from './months.ts';
import { VERSIE_COLUMNS, VERSIE_NAMES } from './versions.ts';

export interface NewVersion extends SealedVersie {
  readonly idempotencyKey?: string | undefined;
  /** Name of a log key. The idempotency key is not taken when another one hashes by now. */
  readonly hashedWith?: string | undefined;
  readonly trace?: TraceContext | undefined;
}

export interface Appended {
  /** False: its idempotency key was used in the last 24 hours or cannot be taken. */
  readonly kept: boolean;
  readonly unknownActivity: boolean;
}

export type QueueForward = (db: Db, added: readonly NewVersion[]) => Promise<void>;

export type VersionStore = Awaited<ReturnType<typeof openVersionStore>>;

/** @param forward absent: nothing is forwarded */
export async function openVersionStore(db: Db, forward: QueueForward | undefined) {
  const isOnCitus = await isDistributed(db);
  const append = isOnCitus ? appendByTable : appendTogether;
  const isOneStatement = !isOnCitus && forward === undefined;

  /**
   * Adds versions, and the locations of their persons: all or none. No two may have the same idempotency key.
   * @param knownLogKeys while others may be in use, no idempotency key is taken: it may have been used already, hashed with one of those
   * @throws {DatabaseError} 23514 when a month has no partition yet, 23505 when a version exists
   */
  async function add(
    db: Db,
    versions: readonly NewVersion[],
    knownLogKeys: readonly string[] = [],
  ): Promise<Appended[]> {
    const appended = await append(db, versions, knownLogKeys);
    if (forward === undefined) return appended;
    const added = versions.filter((_, i) => appended[i]?.kept);
    if (added.length > 0) await forward(db, added);
    return appended;
  }

  return {
    /** `add` needs no transaction of its own, and can be sent ahead of a commit. */
    isOneStatement,
    add,
    /** The same, committed to disk; creates missing months, and retries after a conflict. */
    commit(
      context: { readonly pool: Pool; readonly clock: Clock },
      versions: readonly NewVersion[],
      knownLogKeys: readonly string[],
    ): Promise<Appended[]> {
      const attempt = isOneStatement
        ? () => add(context.pool, versions, knownLogKeys)
        : () => transaction(context.pool, (db) => add(db, versions, knownLogKeys));
      return withMonths(context, () => retryConflicts(attempt));
    },
  };
}

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

/** Retries after creating the missing months: they are created ahead, but that may have failed for long. */
export async function withMonths<T>(
  { pool, clock }: { readonly pool: Db; readonly clock: Clock },
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isMissingMonth(error)) throw error;
    await makeMonths(pool, clock.now());
    return await attempt();
  }
}

/** Two groups need one more try; more tries only when further instances take the same idempotency keys at the same time. */
const CONFLICT_TRIES = 4;

/**
 * For a transaction that takes idempotency keys or keys of lines. On one machine these are taken in one order, but deleted in any; on Citus they are
 * taken in several shards in parallel: the database may end it in favour of another one.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === CONFLICT_TRIES || !isConflict(error)) throw error;
    }
  }
}

/** A worker's error 23514 as Citus reports it. */
const CITUS_MISSING_MONTH = /^no partition of relation "versies_\d+" found for row$/;

function isMissingMonth(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.constraint !== undefined) return false;
  return error.code === '23514' || (error.code === 'XX000' && CITUS_MISSING_MONTH.test(error.message));
}

/** The database refuses the contents of a version, or they cannot be written for it. */
export function isFaultOfValue(error: unknown): boolean {
  if (isMissingMonth(error)) return false;
  return isRefusedValue(error) || error instanceof TypeError || error instanceof RangeError;
}

/** How far ahead of the database's clock a moment may lie (milliseconds): anything stored under a later one would outlive its term. */
const MAX_AHEAD_MS = 86_400_000;

/** The latest accepted moment (milliseconds since 1970), when one is to be judged. */
export type LatestMoment = (moment: number) => number | Promise<number>;

/** Asks only about a moment beyond the last answer, for recent ones once a day: the database's clock moves forward, so an earlier one is in bounds. */
export function createLatestMoment(db: Db): LatestMoment {
  let latest = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<number> => {
    const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
    latest = (rows[0]?.now.getTime() ?? Number.NaN) + MAX_AHEAD_MS;
    return latest;
  };
  return (moment) => (moment > latest ? ask() : latest);
}

type Columns = readonly (readonly [column: string, kind: string, member: string])[];

/** The rows of a JSON parameter, with their numbers from 1 as `nr`: one text costs both sides less than an array for each column. */
function rowsIn(parameter: string, alias: string, columns: Columns): string {
  return `rows from (json_to_recordset(${parameter}::json) as (${columns.map(([, kind, member]) => `"${member}" ${kind}`).join(', ')}))
      with ordinality as ${alias}(${columns.map(([column]) => column).join(', ')}, nr)`;
}

const VERSIE_ROW: Columns = [...VERSIE_COLUMNS, ['objecten', 'json', 'objecten']];
const NEW_VERSION_ROW: Columns = [
  ...VERSIE_ROW,
  ['key_hash', 'uuid', 'idempotencyKey'],
  ['hashed_with', 'text', 'hashedWith'],
  ['entry', 'bytea', 'entry'],
];

function rowOf({ versie, idempotencyKey, hashedWith, entry }: NewVersion): object {
  return {
    ...versie,
    idempotencyKey,
    hashedWith,
    entry: entry === undefined ? undefined : `\\x${Buffer.from(entry).toString('hex')}`,
  };
}

const LOCATION_ROW: Columns = [
  ['person_hash', 'uuid', 'hash'],
  ['version_nr', 'integer', 'row'],
  ['positions', 'integer[]', 'positions'],
];

function locationsOf(versions: readonly Pick<SealedVersie, 'versie'>[]): object[] {
  const locations: object[] = [];
  for (const [i, { versie }] of versions.entries()) {
    if (versie.vervallen) continue;
    for (const [hash, positions] of positionsByPerson(versie)) locations.push({ hash, row: i + 1, positions });
  }
  return locations;
}

const INSERT_LOCATIONS = `
    insert into verwerkingenlog.locations (person_hash, tijdstip, actie_id, versie, category, verwerkingsactiviteit_id, positions)
    select p.person_hash, v.tijdstip, v.actie_id, v.versie, verwerkingenlog.category(v.vertrouwelijkheid, v.ooit_vertrouwelijk),
      v.verwerkingsactiviteit_id, p.positions`;

/**
 * Taken in order, so that two groups cannot deadlock. A used one is free again after 24 hours, also by the clock of the database: the stored moment is
 * never far ahead of it, so an instance whose clock is ahead does not free one too early.
 */
const takeIdempotencyKeys = (source: string): string => `
    insert into verwerkingenlog.idempotency_keys as old (key_hash, actie_id, used_at)
    select key_hash, actie_id, least(tijdstip_registratie, clock_timestamp() + interval '5 seconds') from ${source}
    order by key_hash
    on conflict (key_hash) do update set actie_id = excluded.actie_id, used_at = excluded.used_at
      where old.used_at <= verwerkingenlog.day_before(excluded.used_at)
    returning actie_id`;

/**
 * `$1` the versions, `$2` the locations, `$3` the known log keys. It does not lock the row of the log key that hashes: that would be a write for each
 * group. The lock of the table `idempotency_keys` is enough: inserting takes it before the statement's snapshot, so the statement and
 * `hashWithCurrentKey` wait for each other's commit.
 */
const APPEND = {
  name: 'verwerkingenlog-append',
  text: `
  with input as materialized (
    select i.*, i.verwerkingsactiviteit_id is not null and a.verwerkingsactiviteit_id is null as is_unknown
    from ${rowsIn('$1', 'i', NEW_VERSION_ROW)}
      left join verwerkingenlog.verwerkingsactiviteiten a on a.verwerkingsactiviteit_id = i.verwerkingsactiviteit_id
  ), hashing as materialized (
    select key_name from verwerkingenlog.idempotency_hashing where needed_until = 'infinity'
  ), taken as (${takeIdempotencyKeys(`input
    where key_hash is not null and hashed_with in (select key_name from hashing)
      and not exists (${OTHER_KEYS.versions('$3')}) and not exists (${OTHER_KEYS.idempotency('$3')})`)}
  ), added as materialized (
    select *, case when entry is not null then ${NEXT_PROOF_NUMBER} end as proof_number from input
    where key_hash is null or actie_id in (select actie_id from taken)
  ), versions as (
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, proof_number)
    select ${VERSIE_NAMES}, objecten, proof_number from added
  ), places as (${INSERT_LOCATIONS}
    from ${rowsIn('$2', 'p', LOCATION_ROW)} join added v on v.nr = p.version_nr
  ), entries as (
    insert into proof.queue (log, number, entry) select 'verwerkingen', proof_number, entry from added where entry is not null
  )
  select nr in (select nr from added) as kept, is_unknown as "unknownActivity" from input order by nr`,
};

async function appendTogether(
  db: Db,
  versions: readonly NewVersion[],
  knownLogKeys: readonly string[],
): Promise<Appended[]> {
  const { rows } = await db.query<Appended>({
    ...APPEND,
    values: [JSON.stringify(versions.map(rowOf)), JSON.stringify(locationsOf(versions)), knownLogKeys],
  });
  return rows;
}

// Citus: a single statement over differently distributed tables would become many small ones on the workers.

async function appendByTable(
  db: Db,
  versions: readonly NewVersion[],
  knownLogKeys: readonly string[],
): Promise<Appended[]> {
  const registered = await readRegistered(db, versions);
  const taken = await takeKeys(db, versions, knownLogKeys);
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
}

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

async function takeKeys(
  db: Db,
  versions: readonly NewVersion[],
  knownLogKeys: readonly string[],
): Promise<Set<string>> {
  if (versions.every(({ idempotencyKey }) => idempotencyKey === undefined)) return new Set();
  const name = await lockHashingKey(db);
  await refuseOtherKeys(db, 'versions', knownLogKeys);
  await refuseOtherKeys(db, 'idempotency', knownLogKeys);
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

async function insertVersies(db: Db, added: readonly SealedVersie[]): Promise<void> {
  // On one machine the trigger `with_keys` does this; the distributed tables do not have it.
  await writeWithKeys(db, [...new Set(added.map(({ versie }) => versie.keyName))]);
  const numbers = await queueEntries(db, added);
  const rows = added.map(({ versie }, i) => ({ ...versie, bewijsNr: numbers[i] }));
  await db.query({
    name: 'verwerkingenlog-insert-versies',
    text: `
      insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, proof_number)
      select ${VERSIE_NAMES}, objecten, proof_number from ${rowsIn('$1', 'v', NUMBERED_ROW)}`,
    values: [JSON.stringify(rows)],
  });
}

/** The tables of the proof log are on the coordinator. @returns the number of each entry, when there is a proof log */
async function queueEntries(db: Db, added: readonly SealedVersie[]): Promise<readonly number[]> {
  const entries = added.flatMap(({ entry }) => (entry === undefined ? [] : [Buffer.from(entry)]));
  if (entries.length === 0) return [];
  const { rows } = await db.query<{ number: number }>(
    `insert into proof.queue (log, number, entry)
     select 'verwerkingen', ${NEXT_PROOF_NUMBER}, e.entry from unnest($1::bytea[]) with ordinality as e(entry, nr) order by e.nr
     returning number`,
    [entries],
  );
  return rows.map(({ number }) => number);
}

const LOCATED = [
  'actie_id',
  'versie',
  'tijdstip',
  'vertrouwelijkheid',
  'ooit_vertrouwelijk',
  'verwerkingsactiviteit_id',
];
const LOCATED_ROW = VERSIE_ROW.filter(([column]) => LOCATED.includes(column));

export async function insertLocations(db: Db, versions: readonly Pick<SealedVersie, 'versie'>[]): Promise<void> {
  await db.query({
    name: 'verwerkingenlog-insert-locations',
    text: `${INSERT_LOCATIONS} from ${rowsIn('$2', 'p', LOCATION_ROW)} join ${rowsIn('$1', 'v', LOCATED_ROW)} on v.nr = p.version_nr`,
    values: [
      JSON.stringify(
        versions.map(({ versie }) => versie),
        LOCATED_ROW.map(([, , member]) => member),
      ),
      JSON.stringify(locationsOf(versions)),
    ],
  });
}
