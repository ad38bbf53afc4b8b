import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import {
  type IdentityKeys,
  reveal,
  type StoredVersie,
  toStoreWithinBudget,
  UnknownKeyError,
} from '../domain/encryption.ts';
import type { KeyOfLine, LineKey } from '../domain/line-key.ts';
import { insertLocations } from './append.ts';
import { lockChanges, preferIndexes, removeLocations } from './changes.ts';
import { hashWithCurrentKey, readHashingKeys } from './idempotency.ts';
import { writeWithKeys } from './keys.ts';
import { listMonths } from './months.ts';
import { queryVersies, versionsOfMonth } from './versions.ts';

interface RotateOptions {
  /** As the retention role. */
  readonly pool: Pool;
  readonly keys: IdentityKeys;
  readonly keyOfLine: KeyOfLine;
  readonly signal: AbortSignal;
  readonly progress?: (versions: number, month: string) => void;
}

interface Rotated {
  readonly rewritten: number;
  /** Left unchanged, because none of the keys can read them; `key` is the one that each names. */
  readonly unreadable: readonly { actieId: string; versie: number; key: string; reason: string }[];
  readonly forgotten: readonly string[];
  /** Keys that only idempotency keys need, until the given moment. */
  readonly keptUntil: readonly { readonly key: string; readonly until: string }[];
  readonly inUse: readonly string[];
}

const BATCH = 1000;

/**
 * Encrypts and hashes with the current key everything stored with another key, while the service runs. It repeats until the only versions left cannot
 * be read, or have a key that an instance still writes with. It can be interrupted and run again.
 */
export async function rotateKeys(options: RotateOptions): Promise<Rotated> {
  const { pool, keys } = options;
  // Before anything is rewritten, so that no line of LDV is stored under the previous key any more.
  await hashWithCurrentKey(pool, keys, true);
  for (let rewritten = 0; ; ) {
    const round = await rewriteAll(options, rewritten);
    rewritten += round.rewritten;
    const { unreadable } = round;
    const staying = [keys.current, ...unreadable.map(({ key }) => key), ...(await keysOfLines(pool))];
    const inUse = await keysOfInstances(pool, staying);
    if (round.rewritten > 0 && inUse.length === 0) continue;
    const gone = await forgetKeys(pool, [...staying, ...inUse]);
    if (gone === undefined) continue;
    const keptUntil = (await readHashingKeys(pool)).flatMap(({ name, until, isOver }) =>
      until === null || isOver ? [] : [{ key: name, until: until.toISOString() }],
    );
    const forgotten = gone.filter((name) => !keptUntil.some(({ key }) => key === name));
    return { rewritten, unreadable, forgotten, keptUntil, inUse };
  }
}

/** Keys that still hash lines of LDV that cannot be read. */
async function keysOfLines(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    'select distinct hashed_with as name from verwerkingenlog.ldv_keys where hashed_with is not null',
  );
  return rows.map(({ name }) => name);
}

const SEEN = '1 minute';

/** Other than those that stay: keys that a running instance writes with, or that are its only ones. */
async function keysOfInstances(db: Db, staying: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select distinct k.name from verwerkingenlog.instances i join verwerkingenlog.keys k on k.name = any(i.key_names)
     where i.seen > clock_timestamp() - $2::interval and k.name <> all($1::text[])
       and (k.name = i.writes_with or not i.key_names && $1::text[])
     order by k.name`,
    [staying, SEEN],
  );
  return rows.map(({ name }) => name);
}

/** @returns undefined when versions were added with one of the keys in the meantime */
async function forgetKeys(pool: Pool, needed: readonly string[]): Promise<string[] | undefined> {
  return await transaction(pool, async (client) => {
    const db = await allowLongStatements(client, 0);
    // A transaction that adds versions locks the key until its commit (`write_with_keys`): waits for those, and keeps others from beginning.
    const { rows } = await db.query<{ name: string }>(
      'select name from verwerkingenlog.keys where name <> all($1::text[]) order by name for update',
      [needed],
    );
    const names = rows.map(({ name }) => name);
    if (names.length === 0) return [];
    // A separate statement, to see what was committed before the rows were locked.
    const left = await db.query('select 1 from verwerkingenlog.versies where key_name = any($1::text[]) limit 1', [
      names,
    ]);
    if (left.rowCount !== 0) return undefined;
    await db.query('delete from verwerkingenlog.keys where name = any($1::text[])', [names]);
    return names;
  });
}

async function rewriteAll(options: RotateOptions, before: number): Promise<Pick<Rotated, 'rewritten' | 'unreadable'>> {
  const { pool, keys, signal, progress } = options;
  let rewritten = 0;
  const unreadable: Unreadable[] = [];
  for (const month of await listMonths(pool)) {
    // While the database writes a batch, the next one is read and encrypted.
    let writing = Promise.resolve();
    for await (const versions of versionsOfMonth(pool, month, BATCH, keys.current)) {
      signal.throwIfAborted();
      const batch = await rewriteBatch(versions, options, unreadable);
      await writing;
      writing = write(pool, keys, batch).then(() => {
        rewritten += batch.length;
        progress?.(before + rewritten, month.name);
      });
      // Awaited with the next batch; until then a failure must not count as unhandled.
      writing.catch(() => undefined);
    }
    await writing;
  }
  await rehashLines(options, unreadable);
  return { rewritten, unreadable };
}

/** Those that were stored with the current key while another one hashed. */
async function rehashLines(options: RotateOptions, unreadable: Unreadable[]): Promise<void> {
  const { pool, keys } = options;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await pool.query<{ id: string }>(
      `select actie_id as id from verwerkingenlog.ldv_keys where hashed_with is not null and actie_id > $1::uuid
       order by actie_id limit $2::integer`,
      [after, BATCH],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    const versions = await queryVersies(
      pool,
      'where v.actie_id = any($1::uuid[]) and v.versie = 1 and v.key_name = $2::text order by v.actie_id',
      { values: [rows.map(({ id }) => id), keys.current] },
    );
    await write(pool, keys, await rewriteBatch(versions, options, unreadable));
  }
}

type Unreadable = Rotated['unreadable'][number];

interface Rewritten {
  readonly old: StoredVersie;
  readonly fresh: StoredVersie;
  /** With its first version, when it was logged through LDV. */
  readonly line: LineKey | undefined;
}

async function rewriteBatch(
  versions: readonly StoredVersie[],
  { keys, keyOfLine }: RotateOptions,
  unreadable: Unreadable[],
): Promise<Rewritten[]> {
  const batch: Rewritten[] = [];
  for (const old of versions) {
    const { actieId, versie, keyName } = old;
    let reason = 'its identifiers cannot be decrypted';
    try {
      const clear = await reveal(old, keys);
      const seed =
        old.seed === null ? null : keys.encrypt(keys.current, actieId, keys.decrypt(keyName, actieId, old.seed));
      const fresh = { ...(await toStoreWithinBudget(undefined, clear, keys)).versie, seed };
      reason = 'its stored line of LDV cannot be read';
      const { ldv } = clear;
      const line = ldv === null ? undefined : keyOfLine(ldv, (text) => keys.hashIdempotency(keys.current, text));
      batch.push({ old, fresh, line: versie === 1 ? line : undefined });
    } catch (error) {
      unreadable.push({
        actieId,
        versie,
        key: keyName,
        reason: error instanceof UnknownKeyError ? error.message : reason,
      });
    }
  }
  return batch;
}

async function write(pool: Pool, keys: IdentityKeys, batch: readonly Rewritten[]): Promise<void> {
  if (batch.length === 0) return;
  await transaction(pool, async (db) => {
    // Need not be flushed at once: the deletion of the key is flushed later, and this with it.
    await db.query(
      `select set_config('synchronous_commit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`,
    );
    // A change copies identifiers and looks up locations, so it must not run while both are rewritten.
    await lockChanges(
      db,
      batch.map(({ old }) => old.actieId),
      batch.map(({ old }) => old.verwerkingId),
    );
    await preferIndexes(db);
    await writeWithKeys(db, [keys.current]);
    const there = await updateVersies(db, keys.current, batch);
    // Versions that retention has removed in the meantime have no locations and no line.
    const written = batch.filter(({ old }) => there.has(nameOf(old)));
    const found = await removeLocations(
      db,
      written.map(({ old }) => old),
    );
    const current = written.filter(
      ({ old }, i) => found.has(old.actieId) && written[i + 1]?.old.actieId !== old.actieId,
    );
    await insertLocations(
      db,
      current.map(({ fresh }) => ({ versie: fresh })),
    );
    await replaceLineKeys(db, written);
  });
}

function nameOf({ actieId, versie }: Pick<StoredVersie, 'actieId' | 'versie'>): string {
  return `${actieId} ${versie}`;
}

async function updateVersies(db: Db, current: string, batch: readonly Rewritten[]): Promise<Set<string>> {
  const fresh = batch.map((one) => one.fresh);
  const { rows } = await db.query<Pick<StoredVersie, 'actieId' | 'versie'>>({
    name: 'verwerkingenlog-rotate-versions',
    text: `update verwerkingenlog.versies v
     set key_name = $1::text, afnemer_id = n.afnemer_id, objecten = n.objecten, ldv = n.ldv, seed = n.seed
     from unnest($2::uuid[], $3::integer[], $4::text[], $5::json[], $6::text[], $7::text[])
       as n(actie_id, versie, afnemer_id, objecten, ldv, seed)
     where v.actie_id = n.actie_id and v.versie = n.versie and v.actie_id >= $8::uuid and v.actie_id <= $9::uuid
     returning v.actie_id as "actieId", v.versie`,
    values: [
      current,
      fresh.map(({ actieId }) => actieId),
      fresh.map(({ versie }) => versie),
      fresh.map(({ afnemerId }) => afnemerId),
      fresh.map(({ objecten }) => JSON.stringify(objecten)),
      fresh.map(({ ldv }) => ldv),
      fresh.map(({ seed }) => seed),
      fresh[0]?.actieId,
      fresh.at(-1)?.actieId,
    ],
  });
  return new Set(rows.map(nameOf));
}

async function replaceLineKeys(db: Db, batch: readonly Rewritten[]): Promise<void> {
  const lines = batch.flatMap(({ line, old: { actieId } }) => (line === undefined ? [] : [{ ...line, actieId }]));
  if (lines.length === 0) return;
  const ids = lines.map(({ actieId }) => actieId);
  await db.query('delete from verwerkingenlog.ldv_keys where actie_id = any($1::uuid[])', [ids]);
  await db.query(
    `insert into verwerkingenlog.ldv_keys (key_hash, content_hash, actie_id)
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as s(key_hash, content_hash, actie_id) on conflict do nothing`,
    [lines.map(({ key }) => key), lines.map(({ content }) => content), ids],
  );
}
