/** The log on Citus: whether it is distributed over several machines, and adding versions to it by one statement for each table. */
import { isConflict } from '../../database/database-unavailable.ts';
import type { Pool } from '../../database/pool.ts';
import { arrayOf, type Db, transaction } from '../../database/transaction.ts';
import { traceHeaders } from '../../lib/trace-context.ts';
import type { ForwardPolicy } from '../../seams/processing-log.ts';
import { NEXT_PROOF_NUMBER } from '../../seams/proof-log.ts';
import type { Append, Appended } from './append.ts';
import { writeWithKeys } from './keys.ts';
import { positionsByPerson, VERSIE_COLUMNS, VERSIE_NAMES } from './versions.ts';

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

/** Two groups need one more try; more only when further instances take the same keys at that moment. */
const KEY_TRIES = 4;

/** Milliseconds that a group waits for a key that another transaction holds: one that is just being stored is done before. */
export const KEY_WAIT_MS = 100;

/**
 * A transaction that takes keys, in one order within a shard but in several shards side by side: two groups that have keys in common can
 * wait for each other, until Citus ends one of them. That one is tried again, and then waits for the other.
 * @param fn is called for each try
 * @param options.limitsLocks whether it waits `KEY_WAIT_MS` at most for a lock
 */
export async function keyTransaction<T>(
  pool: Pool,
  fn: (db: Db) => Promise<T>,
  { limitsLocks }: { readonly limitsLocks: boolean },
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction(pool, async (db) => {
        // Sent to the workers as well: there the locks are.
        if (limitsLocks)
          await db.query(`set local citus.propagate_set_commands = 'local'; set local lock_timeout = ${KEY_WAIT_MS}`);
        return await fn(db);
      });
    } catch (error) {
      if (tries === KEY_TRIES || !isConflict(error)) throw error;
    }
  }
}

/**
 * Adds versions as `appendVersies` does, in the transaction of `db`. Versions are divided by action, places by person and keys by
 * themselves: one statement over all three becomes many small ones on the workers, and a statement for each table a few large ones.
 * @throws {DatabaseError} as `appendVersies`
 */
export async function appendDistributed(
  db: Db,
  appends: readonly Append[],
  forward: ForwardPolicy,
): Promise<Appended[]> {
  const registered = await readRegistered(db, appends);
  const judged = appends.map((append) => {
    const { verwerkingsactiviteitId: id } = append.versie;
    const unknownActivity = id !== null && !registered.has(id);
    return { append, unknownActivity, refused: append.refuseUnknownActivity && unknownActivity };
  });
  const wanted = judged.flatMap(({ append, refused }) => (refused ? [] : [append]));
  const taken = await takeKeys(db, wanted);
  const kept = wanted.filter(({ idempotency, versie }) => idempotency === undefined || taken.has(versie.actieId));
  if (kept.length > 0) await insertAll(db, kept, forward);
  const stored = new Set(kept);
  return judged.map(({ append, unknownActivity }) => ({ kept: stored.has(append), unknownActivity }));
}

/** Those of the activities that are in the register. */
async function readRegistered(db: Db, appends: readonly Append[]): Promise<Set<string>> {
  const ids = new Set(appends.flatMap(({ versie: { verwerkingsactiviteitId: id } }) => (id === null ? [] : [id])));
  if (ids.size === 0) return new Set();
  const { rows } = await db.query<{ id: string }>({
    name: 'verwerkingenlog-distributed-register',
    text: `select verwerkingsactiviteit_id as id from verwerkingenlog.verwerkingsactiviteiten
      where verwerkingsactiviteit_id = any($1::uuid[])`,
    values: [arrayOf.uuid([...ids])],
  });
  return new Set(rows.map(({ id }) => id));
}

/**
 * A used key is free again after 24 hours, also by the clock of the database: the moment that is stored is never far ahead of it, so that
 * an instance whose clock is ahead frees none too early.
 */
export const TAKE_OVER = `
      on conflict (sleutel) do update set inhoud = excluded.inhoud, actie_id = excluded.actie_id, tijdstip = excluded.tijdstip
        where oud.tijdstip <= verwerkingenlog.etmaal_eerder(excluded.tijdstip)`;

/** Takes idempotency keys that nobody used in the last 24 hours. @returns the actions whose keys were taken */
async function takeKeys(db: Db, appends: readonly Append[]): Promise<Set<string>> {
  const keyed = appends.flatMap(({ idempotency, versie }) =>
    idempotency === undefined ? [] : [{ ...idempotency, ...versie }],
  );
  if (keyed.length === 0) return new Set();
  const { rows } = await db.query<{ actieId: string }>({
    name: 'verwerkingenlog-distributed-keys',
    text: `
      insert into verwerkingenlog.idempotentie as oud (sleutel, inhoud, actie_id, tijdstip)
      select sleutel, inhoud, actie_id, least(tijdstip, clock_timestamp() + interval '5 seconds')
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[]) as k(sleutel, inhoud, actie_id, tijdstip)
      order by sleutel${TAKE_OVER}
      returning actie_id as "actieId"`,
    values: [
      arrayOf.uuid(keyed.map(({ key }) => key)),
      arrayOf.uuid(keyed.map(({ content }) => content)),
      arrayOf.uuid(keyed.map(({ actieId }) => actieId)),
      arrayOf.timestamptz(keyed.map(({ tijdstipRegistratie }) => tijdstipRegistratie)),
    ],
  });
  return new Set(rows.map(({ actieId }) => actieId));
}

async function insertAll(db: Db, kept: readonly Append[], forward: ForwardPolicy): Promise<void> {
  await insertVersies(db, kept);
  await insertLocations(db, kept);
  if (forward !== undefined) await queueForward(db, kept, forward);
}

/** A version that follows one about the same persons, with its entry where the proof log is on. */
export type NextVersie = Pick<Append, 'versie' | 'entry'>;

/** Adds versions that change nothing about persons, and has these found by them. */
export async function replaceDistributed(db: Db, next: readonly NextVersie[], forward: ForwardPolicy): Promise<void> {
  await insertVersies(db, next);
  const versions = next.map(({ versie }) => versie);
  const moved = versions.flatMap((versie) => [...positionsByPerson(versie).keys()].map((hash) => ({ versie, hash })));
  if (moved.length > 0)
    await db.query({
      name: 'verwerkingenlog-distributed-move',
      text: `
        update verwerkingenlog.vindplaatsen p
        set versie = n.versie, categorie = verwerkingenlog.categorie(n.vertrouwelijkheid, n.ooit)
        from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::integer[], $5::text[], $6::boolean[])
          as n(sleutel, tijdstip, actie_id, versie, vertrouwelijkheid, ooit)
        where p.sleutel = n.sleutel and p.tijdstip = n.tijdstip and p.actie_id = n.actie_id and p.sleutel = any($1::uuid[])`,
      values: [
        arrayOf.uuid(moved.map(({ hash }) => hash)),
        arrayOf.timestamptz(moved.map(({ versie }) => versie.tijdstip)),
        arrayOf.uuid(moved.map(({ versie }) => versie.actieId)),
        arrayOf.integer(moved.map(({ versie }) => versie.versie)),
        arrayOf.text(moved.map(({ versie }) => versie.vertrouwelijkheid)),
        arrayOf.boolean(moved.map(({ versie }) => versie.ooitVertrouwelijk)),
      ],
    });
  if (forward !== undefined) await noteChanges(db, versions, forward);
}

/** The entries of the proof log; its tables are on the coordinator. @returns the number of each, when the proof log is kept */
async function queueEntries(db: Db, kept: readonly NextVersie[]): Promise<(number | null)[]> {
  const entries = kept.flatMap(({ entry }) => (entry === undefined ? [] : [Buffer.from(entry)]));
  if (entries.length === 0) return kept.map(() => null);
  const { rows } = await db.query<{ nr: number }>(
    `select ${NEXT_PROOF_NUMBER} as nr from generate_series(1, $1::integer)`,
    [entries.length],
  );
  const numbers = rows.map(({ nr }) => nr);
  await db.query(
    `insert into proof.queue (log, nr, vermelding)
     select 'verwerkingen', b.nr, b.vermelding from unnest($1::bigint[], $2::bytea[]) as b(nr, vermelding)`,
    [numbers, entries],
  );
  return numbers;
}

const NUMBER_PARAMETER = VERSIE_COLUMNS.length + 2;

const INSERT_VERSIES = {
  name: 'verwerkingenlog-distributed-versies',
  text: `
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, bewijs_nr, vervalt_op)
    select ${VERSIE_NAMES}, objecten, bewijs_nr, verwerkingenlog.vervalt_op(tijdstip, bewaartermijn)
    from unnest(${VERSIE_COLUMNS.map(([, kind], i) => `$${i + 1}::${kind}[]`).join(', ')},
      $${NUMBER_PARAMETER - 1}::json[], $${NUMBER_PARAMETER}::bigint[]) as v(${VERSIE_NAMES}, objecten, bewijs_nr)`,
};

async function insertVersies(db: Db, kept: readonly NextVersie[]): Promise<void> {
  // On one machine triggers do this.
  const names = [...new Set(kept.map(({ versie }) => versie.sleutelnaam))];
  if (names.includes(null)) await db.query('select verwerkingenlog.sta_zonder_sleutel_toe()');
  await writeWithKeys(db, names);
  const numbers = await queueEntries(db, kept);
  await db.query({
    ...INSERT_VERSIES,
    values: [
      ...VERSIE_COLUMNS.map(([, kind, member]) => arrayOf[kind](kept.map(({ versie }) => versie[member]))),
      arrayOf.json(kept.map(({ versie }) => JSON.stringify(versie.objecten))),
      numbers,
    ],
  });
}

async function insertLocations(db: Db, kept: readonly Append[]): Promise<void> {
  const locations = kept.flatMap(({ versie }) =>
    versie.vervallen
      ? []
      : [...positionsByPerson(versie)].map(([hash, at]) => ({ versie, hash, positions: `{${at.join(',')}}` })),
  );
  if (locations.length === 0) return;
  await db.query({
    name: 'verwerkingenlog-distributed-places',
    text: `
      insert into verwerkingenlog.vindplaatsen (sleutel, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, posities)
      select sleutel, tijdstip, actie_id, versie, verwerkingenlog.categorie(vertrouwelijkheid, ooit), activiteit, posities::integer[]
      from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::integer[], $5::text[], $6::boolean[], $7::uuid[], $8::text[])
        as p(sleutel, tijdstip, actie_id, versie, vertrouwelijkheid, ooit, activiteit, posities)`,
    values: [
      arrayOf.uuid(locations.map(({ hash }) => hash)),
      arrayOf.timestamptz(locations.map(({ versie }) => versie.tijdstip)),
      arrayOf.uuid(locations.map(({ versie }) => versie.actieId)),
      arrayOf.integer(locations.map(({ versie }) => versie.versie)),
      arrayOf.text(locations.map(({ versie }) => versie.vertrouwelijkheid)),
      arrayOf.boolean(locations.map(({ versie }) => versie.ooitVertrouwelijk)),
      arrayOf.uuid(locations.map(({ versie }) => versie.verwerkingsactiviteitId)),
      arrayOf.text(locations.map(({ positions }) => positions)),
    ],
  });
}

/** The queue for the other logbook, and what that does not see changed; both are on the coordinator. */
async function queueForward(db: Db, kept: readonly Append[], forward: ForwardPolicy): Promise<void> {
  const all = forward === 'alles';
  const first = kept.filter(({ versie }) => versie.versie === 1 && (all || versie.vertrouwelijkheid === 'normaal'));
  const traces = first.map(({ trace }) => (trace === undefined ? undefined : traceHeaders(trace)));
  if (first.length > 0)
    await db.query(
      `insert into verwerkingenlog.ldv_doorgifte (actie_id, traceparent, tracestate)
       select * from unnest($1::uuid[], $2::text[], $3::text[])`,
      [
        first.map(({ versie }) => versie.actieId),
        traces.map((headers) => headers?.traceparent ?? null),
        traces.map((headers) => headers?.tracestate ?? null),
      ],
    );
  const later = kept.filter(({ versie }) => versie.versie > 1).map(({ versie }) => versie);
  if (later.length > 0) await noteChanges(db, later, forward);
}

/** Notes later versions of actions that were forwarded. */
async function noteChanges(
  db: Db,
  versions: readonly { readonly actieId: string; readonly versie: number; readonly vervallen: boolean }[],
  forward: ForwardPolicy,
): Promise<void> {
  const { rows } = await db.query<{ actieId: string }>(
    `select actie_id as "actieId" from verwerkingenlog.versies n where n.versie = 1 and n.actie_id = any($1::uuid[])
       and ($2::boolean or n.vertrouwelijkheid = 'normaal')`,
    [versions.map(({ actieId }) => actieId), forward === 'alles'],
  );
  const given = new Set(rows.map(({ actieId }) => actieId));
  const noted = versions.filter(({ actieId }) => given.has(actieId));
  if (noted.length === 0) return;
  await db.query(
    `insert into verwerkingenlog.ldv_doorgifte_meldingen (soort, actie_id, versie)
     select * from unnest($1::text[], $2::uuid[], $3::integer[])`,
    [
      noted.map(({ vervallen }) => (vervallen ? 'verwijdering' : 'wijziging')),
      noted.map(({ actieId }) => actieId),
      noted.map(({ versie }) => versie),
    ],
  );
}
