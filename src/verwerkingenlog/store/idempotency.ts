import { refuseClockAhead } from '../../database/checks.ts';
import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import { type IdentityKeys, UnknownKeyError } from '../domain/encryption.ts';

export interface HashingKey {
  readonly name: string;
  readonly checkValue: string;
  /** When the last idempotency key hashed with it ends; `null`: it hashes new ones. */
  readonly until: Date | null;
  readonly isOver: boolean;
}

export async function readHashingKeys(db: Db): Promise<HashingKey[]> {
  const { rows } = await db.query<HashingKey & Record<string, unknown>>(
    `select key_name as name, check_value as "checkValue", nullif(needed_until, 'infinity') as until,
       needed_until <= clock_timestamp() as "isOver"
     from verwerkingenlog.idempotency_hashing order by needed_until, key_name`,
  );
  return rows;
}

/** An idempotency key or a line of LDV that was hashed with this log key may be looked up. */
export async function isHashedWith(db: Db, { name, until, isOver }: Omit<HashingKey, 'checkValue'>): Promise<boolean> {
  if (until === null ? await hasIdempotencyKeys(db) : !isOver) return true;
  const { rowCount } = await db.query('select 1 from verwerkingenlog.ldv_keys where hashed_with = $1::text limit 1', [
    name,
  ]);
  return rowCount !== 0;
}

async function hasIdempotencyKeys(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(
    `select 1 from verwerkingenlog.idempotency_keys where used_at > clock_timestamp() - interval '24 hours' limit 1`,
  );
  return rowCount !== 0;
}

/** The log key that hashes, locked until the transaction of `db` ends; this instance may not have it. @throws {Error} without one */
export async function lockHashingKey(db: Db): Promise<string> {
  const { rows } = await db.query<{ name: string }>({
    name: 'verwerkingenlog-hashing-key',
    text: `select key_name as name from verwerkingenlog.idempotency_hashing where needed_until = 'infinity' for share`,
  });
  if (rows[0] === undefined) throw new Error('the log has no key for idempotency keys');
  return rows[0].name;
}

/** SQL for the log keys that versions or idempotency keys may have, other than those of a `text[]` parameter. */
export const OTHER_KEYS = {
  versions: (known: string) => `select name from verwerkingenlog.keys where used and name <> all(${known}::text[])`,
  idempotency: (known: string) =>
    `select key_name as name from verwerkingenlog.idempotency_hashing
     where needed_until > clock_timestamp() and key_name <> all(${known}::text[])`,
};

/** @throws {UnknownKeyError} when versions, or idempotency keys, may have a log key that is not among these */
export async function refuseOtherKeys(db: Db, of: keyof typeof OTHER_KEYS, known: readonly string[]): Promise<void> {
  const { rows } = await db.query<{ name: string }>({
    name: `verwerkingenlog-other-keys-${of}`,
    text: OTHER_KEYS[of]('$1'),
    values: [known],
  });
  if (rows[0] !== undefined) throw new UnknownKeyError(rows[0].name);
}

/**
 * Makes the current log key hash everything new, at once in all instances, after running appends. The previous one is needed as long as it recognises
 * an idempotency key.
 * @param isRotation replaces another one in any case; otherwise only one that is neither configured nor needed
 */
export async function hashWithCurrentKey(pool: Pool, keys: IdentityKeys, isRotation: boolean): Promise<void> {
  const readBefore = async (db: Db) => (await readHashingKeys(db)).find(({ until }) => until === null);
  const stays = async (db: Db, before: HashingKey | undefined): Promise<boolean> =>
    before !== undefined &&
    (before.name === keys.current || (!isRotation && (keys.has(before.name) || (await isHashedWith(db, before)))));
  if (await stays(pool, await readBefore(pool))) return;
  await transaction(pool, async (client) => {
    const db = await allowLongStatements(client, 0);
    // The first table waits for `lockHashingKey`, the second for statements that take idempotency keys; new ones of both wait here. In this order,
    // because a transaction of LDV takes its locks in this order.
    await db.query(
      'lock table verwerkingenlog.idempotency_hashing, verwerkingenlog.idempotency_keys in exclusive mode',
    );
    if (await stays(db, await readBefore(db))) return;
    // A stored moment is up to five seconds ahead of the clock of the database.
    const left = (await hasIdempotencyKeys(db)) ? '24 hours 5 seconds' : '0';
    await db.query(
      `update verwerkingenlog.idempotency_hashing set needed_until = clock_timestamp() + interval '${left}'
       where needed_until = 'infinity'`,
    );
    await db.query(
      `insert into verwerkingenlog.idempotency_hashing (key_name, check_value, needed_until) values ($1, $2, 'infinity')
       on conflict (key_name) do update set check_value = excluded.check_value, needed_until = excluded.needed_until`,
      [keys.current, keys.checkValue(keys.current)],
    );
  });
}

export async function readIdempotency(db: Db, keyHash: string): Promise<string | undefined> {
  const { rows } = await db.query<{ actieId: string }>(
    'select actie_id as "actieId" from verwerkingenlog.idempotency_keys where key_hash = $1::uuid',
    [keyHash],
  );
  return rows[0]?.actieId;
}

const FORGET_BATCH = 10_000;

/** Deletes keys older than 24 hours. @throws {Error} when `now` is ahead of the database's clock: deleting a valid one would allow a second entry */
export async function forgetIdempotency(db: Db, now: Date): Promise<number> {
  await refuseClockAhead(db, now);
  let forgotten = 0;
  for (;;) {
    const { rowCount } = await db.query(
      `delete from verwerkingenlog.idempotency_keys where key_hash in (
         select key_hash from verwerkingenlog.idempotency_keys where used_at <= $1::timestamptz - interval '24 hours' limit $2::integer
       ) and used_at <= $1::timestamptz - interval '24 hours'`,
      [now, FORGET_BATCH],
    );
    forgotten += rowCount ?? 0;
    if ((rowCount ?? 0) < FORGET_BATCH) return forgotten;
  }
}
