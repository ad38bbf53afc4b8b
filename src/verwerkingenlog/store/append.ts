/** Adding versions to the log: one statement for a whole group, with the idempotency keys that it takes. */
import type pg from 'pg';
import { refuseClockAhead } from '../../database/clock-check.ts';
import { isRefusedValue } from '../../database/database-unavailable.ts';
import type { Pool } from '../../database/pool.ts';
import { type ArrayKind, arrayOf, type Db } from '../../database/transaction.ts';
import { type TraceContext, traceHeaders } from '../../lib/trace-context.ts';
import type { ForwardPolicy } from '../../seams/processing-log.ts';
import { NEXT_PROOF_NUMBER } from '../../seams/proof-log.ts';
import { appendDistributed, KEY_WAIT_MS, keyTransaction, TAKE_OVER } from './distributed.ts';
import { isMissingMonth } from './months.ts';
import { positionsByPerson, type StoredVersie, VERSIE_COLUMNS, VERSIE_NAMES } from './versions.ts';

/** A version to be stored, with the idempotency key of its request when it has one. */
export interface Append {
  readonly versie: StoredVersie;
  readonly idempotency?: { readonly key: string; readonly content: string } | undefined;
  /** Whether it is not stored when its activity is not in the register. */
  readonly refuseUnknownActivity: boolean;
  /** Its entry in the proof log, when one is kept: then all of a group have one. */
  readonly entry?: Uint8Array | undefined;
  /** Of the request that it came with, for the other logbook. */
  readonly trace?: TraceContext | undefined;
}

/** Which first versions are forwarded to another logbook: those that are not confidential, or all. */

export interface Appended {
  /** False: its idempotency key was used in the last 24 hours, or its activity is unknown and that is refused. */
  readonly kept: boolean;
  /** It names an activity that is not in the register. */
  readonly unknownActivity: boolean;
}

export interface AppendTarget {
  /** Absent: nothing is forwarded. */
  readonly forward?: ForwardPolicy;
  /** Whether the log is distributed over several machines; then `db` is a transaction. */
  readonly distributed: boolean;
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
  { forward, distributed }: AppendTarget,
): Promise<Appended[]> {
  if (distributed) return await appendDistributed(db, appends, forward);
  const { rows } = await db.query<Appended>(insertOf(appends, forward));
  return rows;
}

/**
 * The same in a transaction of its own.
 * @throws {DatabaseError} also 55P03 when one of the idempotency keys is being used in another transaction
 */
export async function appendCommitted(
  pool: Pool,
  appends: readonly Append[],
  target: AppendTarget,
): Promise<Appended[]> {
  // One statement is a transaction by itself.
  if (!target.distributed) return await appendVersies(pool, appends, target);
  return await keyTransaction(pool, (db) => appendVersies(db, appends, target), { limitsLocks: isKeyed(appends) });
}

function isKeyed(appends: readonly Append[]): boolean {
  return appends.some(({ idempotency }) => idempotency !== undefined);
}

/** Whether adding versions failed for what one of them holds: the database refuses it, or it cannot be written for the database. */
export function isFaultOfValue(error: unknown): boolean {
  if (isMissingMonth(error)) return false;
  return isRefusedValue(error) || error instanceof TypeError || error instanceof RangeError;
}

function insertOf(appends: readonly Append[], forward: ForwardPolicy): pg.QueryConfig {
  const locations = appends.flatMap(({ versie }, i) =>
    versie.vervallen
      ? []
      : [...positionsByPerson(versie)].map(([hash, at]) => ({ row: i + 1, hash, positions: `{${at.join(',')}}` })),
  );
  const shared = [
    arrayOf.uuid(locations.map(({ hash }) => hash)),
    arrayOf.text(locations.map(({ positions }) => positions)),
  ];

  const columns = INPUT.map(([, kind, read]) => arrayOf[kind](appends.map(read)));
  const values = [...shared, ...columns, arrayOf.integer(locations.map(({ row }) => row))];
  const entries = appends.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
  const proven = entries.length > 0;
  const kind = isKeyed(appends) ? 'withKeys' : 'plain';
  if (forward === undefined)
    return proven
      ? { ...APPEND_AND_PROVE[kind], values: [...values, Buffer.concat(entries)] }
      : { ...APPEND[kind], values };
  const traces = appends.map(({ trace }) => (trace === undefined ? undefined : traceHeaders(trace)));
  const parents = arrayOf.text(traces.map((headers) => headers?.traceparent ?? null));
  const states = arrayOf.text(traces.map((headers) => headers?.tracestate ?? null));
  const forwarded = [...values, forward === 'alles', parents, states];
  return proven
    ? { ...APPEND_FORWARD_AND_PROVE[kind], values: [...forwarded, Buffer.concat(entries)] }
    : { ...APPEND_AND_FORWARD[kind], values: forwarded };
}

type Value = string | number | boolean | null;

/** The input of each version: column, type, and where it comes from. */
const INPUT: readonly (readonly [column: string, kind: ArrayKind, read: (append: Append) => Value])[] = [
  ['weigert', 'boolean', ({ refuseUnknownActivity }) => refuseUnknownActivity],
  ['idempotentie', 'uuid', ({ idempotency }) => idempotency?.key ?? null],
  ['inhoud', 'uuid', ({ idempotency }) => idempotency?.content ?? null],
  ['objecten', 'json', ({ versie }) => JSON.stringify(versie.objecten)],
  ...VERSIE_COLUMNS.map(([column, kind, member]) => [column, kind, ({ versie }: Append) => versie[member]] as const),
];

// Parameters: the persons' hashes, their positions, the input, and the number of each person's version, counted from 1.
const FIRST_COLUMN = 3;
const LAST = FIRST_COLUMN + INPUT.length;

/** Bytes of an entry in the proof log. */
const ENTRY_BYTES = 33;

/**
 * Set before the first key is taken: a key that another transaction holds stops the statement soon, for others wait for it. Only there: a
 * statement without keys waits as long as it may.
 */
const LIMIT_LOCKS = ` and (select set_config('lock_timeout', '${KEY_WAIT_MS}', true)) is not null`;

/**
 * Keys are taken in order, so that two groups cannot deadlock.
 * @param more further parts of the statement
 * @param entries number of the parameter with the entries of the proof log, one after another; absent: none is kept
 */
const append = (limitLocks: string, more: string, entries?: number): string => `
  with invoer as materialized (
    select i.*, a.verwerkingsactiviteit_id is null and i.verwerkingsactiviteit_id is not null as onbekend
    from unnest(${INPUT.map(([, kind], i) => `$${FIRST_COLUMN + i}::${kind}[]`).join(', ')}) with ordinality
      as i(${INPUT.map(([column]) => column).join(', ')}, rij)
      left join verwerkingenlog.verwerkingsactiviteiten a using (verwerkingsactiviteit_id)
  ), sleutels as (
    insert into verwerkingenlog.idempotentie as oud (sleutel, inhoud, actie_id, tijdstip)
    select idempotentie, inhoud, actie_id, least(tijdstip_registratie, clock_timestamp() + interval '5 seconds') from invoer
    where idempotentie is not null and not (weigert and onbekend)${limitLocks} order by idempotentie${TAKE_OVER}
    returning actie_id
  ), nieuw as materialized (
    select *, verwerkingenlog.vervalt_op(tijdstip, bewaartermijn) as vervalt_op${entries === undefined ? '' : `, ${NEXT_PROOF_NUMBER} as bewijs_nr`}
    from invoer
    where not (weigert and onbekend) and (idempotentie is null or actie_id in (select actie_id from sleutels))
  ), versies as (
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, vervalt_op${entries === undefined ? '' : ', bewijs_nr'})
    select ${VERSIE_NAMES}, objecten, vervalt_op${entries === undefined ? '' : ', bewijs_nr'} from nieuw
  )${entries === undefined ? '' : queueEntries(entries)}, locaties as (
    insert into verwerkingenlog.vindplaatsen
      (sleutel, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, posities)
    select p.sleutel, n.tijdstip, n.actie_id, n.versie, verwerkingenlog.categorie(n.vertrouwelijkheid, n.ooit_vertrouwelijk),
      n.verwerkingsactiviteit_id, p.posities::integer[]
    from unnest($1::uuid[], $2::text[], $${LAST}::integer[]) as p(sleutel, posities, rij) join nieuw n using (rij)
  )${more}
  select i.rij in (select rij from nieuw) as kept, i.onbekend as "unknownActivity" from invoer i order by i.rij`;

/** The entries go with their versions: what is not stored has none. */
function queueEntries(parameter: number): string {
  return `, bewijs as (
    insert into proof.queue (log, nr, vermelding)
    select 'verwerkingen', bewijs_nr, substring($${parameter}::bytea from (rij - 1)::integer * ${ENTRY_BYTES} + 1 for ${ENTRY_BYTES}) from nieuw
  )`;
}

/** A statement for groups without idempotency keys, and one for groups with. */
function statement(name: string, more: string, entries?: number) {
  return {
    plain: { name, text: append('', more, entries) },
    withKeys: { name: `${name}-keys`, text: append(LIMIT_LOCKS, more, entries) },
  };
}

const APPEND = statement('verwerkingenlog-append', '');

/**
 * Puts first versions in the queue, and notes later versions of actions that were forwarded: by the same statement, so that the queue has an
 * action exactly when the log has it.
 */
const FORWARD = `, doorgifte as (
    insert into verwerkingenlog.ldv_doorgifte (actie_id, traceparent, tracestate)
    select n.actie_id, t.traceparent, t.tracestate
    from nieuw n join unnest($${LAST + 2}::text[], $${LAST + 3}::text[]) with ordinality as t(traceparent, tracestate, rij) using (rij)
    where n.versie = 1 and ($${LAST + 1}::boolean or n.vertrouwelijkheid = 'normaal') order by n.rij
  ), meldingen as (
    insert into verwerkingenlog.ldv_doorgifte_meldingen (soort, actie_id, versie)
    select case when vervallen then 'verwijdering' else 'wijziging' end, n.actie_id, n.versie
    from nieuw n where n.versie > 1 and ${wasForwarded('n', `$${LAST + 1}`)}
  )`;

const APPEND_AND_FORWARD = statement('verwerkingenlog-append-forward', FORWARD);
const APPEND_AND_PROVE = statement('verwerkingenlog-append-prove', '', LAST + 1);
const APPEND_FORWARD_AND_PROVE = statement('verwerkingenlog-append-forward-prove', FORWARD, LAST + 4);

/** Whether an action was forwarded when it was new. @param all parameter that is true when confidential ones are forwarded too */
export function wasForwarded(alias: string, all: string): string {
  return `exists (select from verwerkingenlog.versies e where e.actie_id = ${alias}.actie_id and e.versie = 1
      and (${all}::boolean or e.vertrouwelijkheid = 'normaal'))`;
}

/** What an idempotency key was used for; undefined when it was not, or was forgotten. */
export async function readIdempotency(
  db: Db,
  key: string,
): Promise<{ readonly content: string; readonly actieId: string } | undefined> {
  const { rows } = await db.query<{ content: string; actieId: string }>(
    'select inhoud as content, actie_id as "actieId" from verwerkingenlog.idempotentie where sleutel = $1::uuid',
    [key],
  );
  return rows[0];
}

const FORGET_BATCH = 10_000;

/**
 * Forgets keys that are older than 24 hours.
 * @throws {ClockAheadError} when `now` is ahead of the clock of the database: a key that is still valid would give a second entry
 */
export async function forgetIdempotency(db: Db, now: Date): Promise<number> {
  await refuseClockAhead(db, now);
  let forgotten = 0;
  for (;;) {
    const { rowCount } = await db.query(
      `delete from verwerkingenlog.idempotentie where sleutel in (
         select sleutel from verwerkingenlog.idempotentie where tijdstip <= $1::timestamptz - interval '24 hours' limit $2::integer
       ) and tijdstip <= $1::timestamptz - interval '24 hours'`,
      [now, FORGET_BATCH],
    );
    forgotten += rowCount ?? 0;
    if ((rowCount ?? 0) < FORGET_BATCH) return forgotten;
  }
}
