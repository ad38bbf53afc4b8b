/**
 * Adding versions to the log: a whole group in one statement on one machine, and in one for each table on Citus, where one statement over
 * tables that are divided differently becomes many small ones on the workers. What else knows of Citus is here too.
 */
import { isConflict, isRefusedValue } from '../../database/database-unavailable.ts';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import type { Clock } from '../../lib/time.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import { NEXT_PROOF_NUMBER } from '../../proof/proof-log.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { lockHashingKey, OTHER_HASHING_KEYS, requireHashingKeys } from './idempotency.ts';
import { OTHER_KEYS_IN_USE, requireAllKeys, writeWithKeys } from './keys.ts';
import { isMissingMonth, makeMonths } from './months.ts';
import { positionsByPerson, type SealedVersie, type StoredVersie, VERSIE_COLUMNS, VERSIE_NAMES } from './versions.ts';

/** A version to be stored, with the hashed idempotency key of its request when it has one. */
export interface Append {
  readonly versie: StoredVersie;
  readonly idempotencyKey?: string | undefined;
  /** The key of the log that it was hashed with. It is not taken when another one hashes by now. */
  readonly hashing?: string | undefined;
  /** Its entry in the proof log, when one is kept: then all of a group have one. */
  readonly entry?: Uint8Array | undefined;
  /** The trace of the request that it came with, for the other logbook. */
  readonly trace?: TraceContext | undefined;
}

export interface Appended {
  /** False: its idempotency key was used in the last 24 hours or cannot be taken. */
  readonly kept: boolean;
  /** It names an activity that is not in the register. */
  readonly unknownActivity: boolean;
}

/** Queues new versions for another logbook, in the transaction that adds them. */
export type QueueForward = (db: Db, added: readonly Append[]) => Promise<void>;

export interface AppendTarget {
  /** Absent: nothing is forwarded. Otherwise `db` is a transaction. */
  readonly forward?: QueueForward | undefined;
  /** Whether the log is distributed over several machines; then `db` is a transaction. */
  readonly distributed: boolean;
  /** The instance's keys of the log: while others may be in use, no idempotency key is taken, for it may have been used under them. */
  readonly knownKeys?: IdentityKeys['names'];
}

/**
 * Adds versions, and the locations of their persons: all or none. No two may have the same idempotency key. On one machine they are
 * committed when this resolves, outside a transaction.
 * @returns what became of each, in the order given
 * @throws {DatabaseError} 23514 when a month has no partition yet, 23505 when a version exists
 */
export async function appendVersies(
  db: Db,
  appends: readonly Append[],
  { forward, distributed, knownKeys = [] }: AppendTarget,
): Promise<Appended[]> {
  const appended = distributed
    ? await appendByTable(db, appends, knownKeys)
    : await appendTogether(db, appends, knownKeys);
  const added = appends.filter((_, i) => appended[i]?.kept);
  if (added.length > 0) await forward?.(db, added);
  return appended;
}

async function appendTogether(
  db: Db,
  appends: readonly Append[],
  knownKeys: IdentityKeys['names'],
): Promise<Appended[]> {
  const { rows } = await db.query<Appended>({
    ...appendStatement(appends.some(({ entry }) => entry !== undefined)),
    values: [
      JSON.stringify(appends.map(rowOf)),
      JSON.stringify(locationsOf(appends.map(({ versie }) => versie))),
      knownKeys,
    ],
  });
  return rows;
}

/** The same in a transaction of its own. */
export async function appendCommitted(
  pool: Pool,
  appends: readonly Append[],
  target: AppendTarget,
): Promise<Appended[]> {
  return await retryConflicts(() =>
    // One statement is a transaction by itself.
    target.distributed || target.forward !== undefined
      ? transaction(pool, (db) => appendVersies(db, appends, target))
      : appendVersies(pool, appends, target),
  );
}

/** Tries again with the months that were missing: they are made ahead for everybody, but the upkeep may have failed for long. */
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

/** Whether adding versions failed for what one of them holds: the database refuses it, or it cannot be written for the database. */
export function isFaultOfValue(error: unknown): boolean {
  if (isMissingMonth(error)) return false;
  return isRefusedValue(error) || error instanceof TypeError || error instanceof RangeError;
}

type Columns = readonly (readonly [column: string, kind: string, member: string])[];

/** The rows of a JSON parameter, with their numbers from 1 as `rij`: one text costs both sides less than an array for each column. */
function rowsIn(parameter: string, alias: string, columns: Columns): string {
  return `rows from (json_to_recordset(${parameter}::json) as (${columns.map(([, kind, member]) => `"${member}" ${kind}`).join(', ')}))
      with ordinality as ${alias}(${columns.map(([column]) => column).join(', ')}, rij)`;
}

const VERSIE_ROW: Columns = [
  ...VERSIE_COLUMNS,
  ['objecten', 'json', 'objecten'],
  ['idempotentie', 'uuid', 'idempotencyKey'],
  ['hashed_with', 'text', 'hashedWith'],
  ['entry', 'bytea', 'entry'],
  ['proof_number', 'bigint', 'bewijsNr'],
];

function rowOf({ versie, idempotencyKey, hashing, entry }: Append): object {
  return {
    ...versie,
    idempotencyKey,
    hashedWith: idempotencyKey === undefined ? undefined : hashing,
    entry: entry === undefined ? undefined : `\\x${Buffer.from(entry).toString('hex')}`,
  };
}

const LOCATION_ROW: Columns = [
  ['sleutel', 'uuid', 'hash'],
  ['nr', 'integer', 'row'],
  ['positions', 'integer[]', 'positions'],
];

/** Where the persons of versions are found, with the numbers of their versions from 1. */
function locationsOf(versions: readonly StoredVersie[]): object[] {
  return versions.flatMap((versie, i) =>
    versie.vervallen
      ? []
      : [...positionsByPerson(versie)].map(([hash, positions]) => ({ hash, row: i + 1, positions })),
  );
}

const INSERT_LOCATIONS = `
    insert into verwerkingenlog.locations (sleutel, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, positions)
    select p.sleutel, n.tijdstip, n.actie_id, n.versie, verwerkingenlog.categorie(n.vertrouwelijkheid, n.ooit_vertrouwelijk),
      n.verwerkingsactiviteit_id, p.positions`;

/**
 * Takes keys in order, so that two groups cannot deadlock. A used key is free again after 24 hours, also by the clock of the database: the
 * stored moment is never far ahead of it, so that an instance whose clock is ahead frees none too early.
 */
const takeKeys = (source: string): string => `
    insert into verwerkingenlog.idempotency_keys as oud (sleutel, actie_id, tijdstip)
    select idempotentie, actie_id, least(tijdstip_registratie, clock_timestamp() + interval '5 seconds') from ${source}
    order by idempotentie
    on conflict (sleutel) do update set actie_id = excluded.actie_id, tijdstip = excluded.tijdstip
      where oud.tijdstip <= verwerkingenlog.day_before(excluded.tijdstip)`;

const statements = new Map<string, string>();

/**
 * The statement for one machine. `$3`: the known keys. It has the hashing key without a lock on its row, which would be a write for each group:
 * a statement that inserts idempotency keys waits for `hashWithCurrentKey` before its snapshot is taken, and holds that up until it is committed.
 */
function appendStatement(isProven: boolean): { readonly name: string; readonly text: string } {
  const name = `verwerkingenlog-append${isProven ? '-prove' : ''}`;
  const text = statements.get(name) ?? appendText(isProven);
  statements.set(name, text);
  return { name, text };
}

function appendText(isProven: boolean): string {
  const [number, numbered] = isProven ? [', proof_number', `, ${NEXT_PROOF_NUMBER} as proof_number`] : ['', ''];
  const columns = VERSIE_ROW.map(([column]) => column).filter((column) => column !== 'proof_number');
  return `
  with invoer as materialized (
    select ${columns.map((column) => `i.${column}`).join(', ')}, i.rij,
      a.verwerkingsactiviteit_id is null and i.verwerkingsactiviteit_id is not null as onbekend
    from ${rowsIn('$1', 'i', VERSIE_ROW)}
      left join verwerkingenlog.verwerkingsactiviteiten a on a.verwerkingsactiviteit_id = i.verwerkingsactiviteit_id
  ), hashing as materialized (
    select key_name from verwerkingenlog.idempotency_hashing where needed_until = 'infinity'
  ), sleutels as (${takeKeys(`invoer
    where idempotentie is not null and hashed_with in (select key_name from hashing)
      and not exists (${OTHER_KEYS_IN_USE('$3')}) and not exists (${OTHER_HASHING_KEYS('$3')})`)}
    returning actie_id
  ), nieuw as materialized (
    select *, verwerkingenlog.expires_at(tijdstip, bewaartermijn) as vervalt_op${numbered} from invoer
    where idempotentie is null or actie_id in (select actie_id from sleutels)
  ), versies as (
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, vervalt_op${number})
    select ${VERSIE_NAMES}, objecten, vervalt_op${number} from nieuw
  ), locaties as (${INSERT_LOCATIONS}
    from ${rowsIn('$2', 'p', LOCATION_ROW)} join nieuw n on n.rij = p.nr
  )${isProven ? PROVE : ''}
  select i.rij in (select rij from nieuw) as kept, i.onbekend as "unknownActivity" from invoer i order by i.rij`;
}

/** The entries go with their versions: what is not stored has none. */
const PROVE = `, bewijs as (
    insert into proof.queue (log, number, entry) select 'verwerkingen', proof_number, entry from nieuw
  )`;

// On Citus: a statement for each table, in one transaction.

async function appendByTable(
  db: Db,
  appends: readonly Append[],
  knownKeys: IdentityKeys['names'],
): Promise<Appended[]> {
  const registered = await readRegistered(db, appends);
  const taken = await readTaken(db, appends, knownKeys);
  const kept = appends.filter(
    ({ idempotencyKey, versie }) => idempotencyKey === undefined || taken.has(versie.actieId),
  );
  if (kept.length > 0) {
    await insertVersies(db, kept);
    await insertLocations(
      db,
      kept.map(({ versie }) => versie),
    );
  }
  const stored = new Set(kept);
  return appends.map((append) => {
    const { verwerkingsactiviteitId: id } = append.versie;
    return { kept: stored.has(append), unknownActivity: id !== null && !registered.has(id) };
  });
}

/** What a location has of its version. */
const LOCATED = [
  'actie_id',
  'versie',
  'tijdstip',
  'vertrouwelijkheid',
  'ooit_vertrouwelijk',
  'verwerkingsactiviteit_id',
];
const LOCATED_ROW = VERSIE_ROW.filter(([column]) => LOCATED.includes(column));

/** Has persons found by these versions. */
export async function insertLocations(db: Db, versions: readonly StoredVersie[]): Promise<void> {
  const located = versions.map(({ objecten: _, ldv: __, seed: ___, ...fields }) => fields);
  await db.query({
    name: 'verwerkingenlog-insert-locations',
    text: `${INSERT_LOCATIONS} from ${rowsIn('$2', 'p', LOCATION_ROW)} join ${rowsIn('$1', 'n', LOCATED_ROW)} on n.rij = p.nr`,
    values: [JSON.stringify(located), JSON.stringify(locationsOf(versions))],
  });
}

/** Those of the activities that are in the register. */
async function readRegistered(db: Db, appends: readonly Append[]): Promise<Set<string>> {
  const ids = new Set(appends.flatMap(({ versie: { verwerkingsactiviteitId: id } }) => (id === null ? [] : [id])));
  if (ids.size === 0) return new Set();
  const { rows } = await db.query<{ id: string }>({
    name: 'verwerkingenlog-distributed-register',
    text: `select verwerkingsactiviteit_id as id from verwerkingenlog.verwerkingsactiviteiten
      where verwerkingsactiviteit_id = any($1::uuid[])`,
    values: [[...ids]],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Takes idempotency keys that nobody used in the last 24 hours. @returns the actions whose keys were taken */
async function readTaken(db: Db, appends: readonly Append[], knownKeys: IdentityKeys['names'] = []) {
  if (appends.every(({ idempotencyKey }) => idempotencyKey === undefined)) return new Set<string>();
  const name = await lockHashingKey(db);
  await requireAllKeys(db, { names: knownKeys });
  await requireHashingKeys(db, knownKeys);
  const keyed = appends.filter(({ idempotencyKey, hashing }) => idempotencyKey !== undefined && hashing === name);
  if (keyed.length === 0) return new Set<string>();
  const { rows } = await db.query<{ actieId: string }>({
    name: 'verwerkingenlog-distributed-keys',
    text: `${takeKeys(rowsIn('$1', 'k', VERSIE_ROW))} returning actie_id as "actieId"`,
    values: [JSON.stringify(keyed.map(rowOf))],
  });
  return new Set(rows.map(({ actieId }) => actieId));
}

const INSERT_VERSIES = {
  name: 'verwerkingenlog-insert-versies',
  text: `
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, proof_number, vervalt_op)
    select ${VERSIE_NAMES}, objecten, proof_number, verwerkingenlog.expires_at(tijdstip, bewaartermijn)
    from ${rowsIn('$1', 'v', VERSIE_ROW)}`,
};

async function insertVersies(db: Db, next: readonly SealedVersie[]): Promise<void> {
  // On one machine triggers do this as well.
  const names = [...new Set(next.map(({ versie }) => versie.keyName))];
  await writeWithKeys(db, names);
  const numbers = await queueEntries(db, next);
  const rows = next.map(({ versie }, i) => ({ ...versie, bewijsNr: numbers[i] }));
  await db.query({ ...INSERT_VERSIES, values: [JSON.stringify(rows)] });
}

/** The entries of the proof log; its tables are on the coordinator. @returns the number of each, when the proof log is kept */
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

/** Whether the tables of the log are distributed over the nodes of Citus: `koppelvlak migrate --distributed`. */
export async function isDistributed(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ citus: boolean }>(
    `select to_regclass('pg_catalog.pg_dist_partition') is not null as citus`,
  );
  if (rows[0]?.citus !== true) return false;
  const { rows: found } = await db.query(
    `select 1 from pg_catalog.pg_dist_partition where logicalrelid = to_regclass('verwerkingenlog.versies')`,
  );
  return found.length > 0;
}

/** Two groups need one more try; more tries only when further instances take the same keys at the same time. */
const KEY_TRIES = 4;

/**
 * Adds versions in a transaction that takes keys, and tries again when the database ended it for the sake of another one. On one machine
 * keys are taken in one order, but forgotten in any; on Citus they are taken in several shards side by side.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === KEY_TRIES || !isConflict(error)) throw error;
    }
  }
}
