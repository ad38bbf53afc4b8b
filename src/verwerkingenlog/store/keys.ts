import { randomUUID } from 'node:crypto';
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import type { Logger } from '../../lib/log.ts';
import type { ReadinessResult } from '../../lib/operations.ts';
import { loadSecret } from '../../lib/saved-secrets.ts';
import { shareRuns } from '../../lib/scheduling.ts';
import { type Config, ConfigError, type ConfigFault } from '../../settings/read-config.ts';
import { createIdentityKeys, type IdentityKeys, UnknownKeyError } from '../domain/encryption.ts';
import {
  type HashingKey,
  hashWithCurrentKey,
  isHashedWith,
  lockHashingKey,
  readHashingKeys,
  refuseOtherKeys,
} from './idempotency.ts';

/**
 * The keys of the configuration, checked against those that the log was written with: with a wrong or missing key a person would not be found, and
 * entries would be added that the right key cannot read.
 * @param use `write` also stores the check values of new keys; a key counts as used from its first version on
 * @throws {ConfigError} naming every key that is wrong or missing
 */
export async function openIdentityKeys(
  pool: Pool,
  config: Pick<Config, 'server' | 'verwerkingenlog'>,
  use: 'read' | 'write',
): Promise<IdentityKeys> {
  const keys = createIdentityKeys(await configuredKeys(config));
  let state = await checked(pool, keys);
  if (use === 'write') {
    await pool.query(
      `insert into verwerkingenlog.keys (name, check_value, used)
       select n.name, n.check_value, false from unnest($1::text[], $2::text[]) as n(name, check_value) order by n.name
       on conflict (name) do nothing`,
      [keys.names, keys.names.map((name) => keys.checkValue(name))],
    );
    await hashWithCurrentKey(pool, keys, false);
    // Checked once more: of two instances that start with different keys under one new name, the first decides.
    state = await checked(pool, keys);
  }
  return { ...keys, hashing: state.hashing ?? keys.current };
}

async function configuredKeys({ server, verwerkingenlog }: Pick<Config, 'server' | 'verwerkingenlog'>) {
  if (verwerkingenlog.key !== undefined) return verwerkingenlog.key;
  if (server.environment !== 'production') return `local:${await loadSecret(server.home, 'log-key')}`;
  throw new ConfigError([
    { variable: 'VERWERKINGENLOG_KEY', wrong: 'is missing', allowed: 'the keys of the log, the current first' },
  ]);
}

async function checked(db: Db, keys: IdentityKeys): Promise<KeyState> {
  const state = await readKeyState(db, keys);
  if (state.faults.length > 0) throw new ConfigError(state.faults);
  return state;
}

/** The configured keys compared with those of the log, which other instances can change any time. */
interface KeyState {
  readonly faults: readonly ConfigFault[];
  /** The log has deleted the key that new versions are written with: it refuses them. */
  readonly isForgotten: boolean;
  /** The log key that idempotency keys are hashed with; absent until the first start that writes. */
  readonly hashing: string | undefined;
}

async function readKeyState(db: Db, keys: IdentityKeys): Promise<KeyState> {
  const { rows } = await db.query<{ name: string; checkValue: string; used: boolean }>(
    'select name, check_value as "checkValue", used from verwerkingenlog.keys order by name',
  );
  const hashing = await readHashingKeys(db);
  const faults = new Map<string, ConfigFault>();
  for (const { name, checkValue, used } of rows) {
    if (!keys.has(name) && used) faults.set(name, missing(name));
    if (keys.has(name) && checkValue !== keys.checkValue(name)) faults.set(name, wrong(name));
  }
  for (const key of hashing) {
    const { name, checkValue, isOver } = key;
    if (faults.has(name)) continue;
    if (!keys.has(name) && (await isHashedWith(db, key))) faults.set(name, missingForHashing(key));
    if (keys.has(name) && !isOver && checkValue !== keys.checkValue(name)) faults.set(name, wrong(name));
  }
  return {
    faults: [...faults.values()],
    isForgotten: !rows.some(({ name }) => name === keys.current),
    hashing: hashing.find(({ until }) => until === null)?.name,
  };
}

function missing(name: string): ConfigFault {
  return {
    variable: 'VERWERKINGENLOG_KEY',
    wrong: `has no key named ${name}, and the log was written with it`,
    allowed: 'every key that the log was written with; `koppelvlak log rotate-key` makes an old one unnecessary',
  };
}

function missingForHashing({ name, until }: HashingKey): ConfigFault {
  return {
    variable: 'VERWERKINGENLOG_KEY',
    wrong: `has no key named ${name}, which idempotency keys of the last 24 hours are hashed with`,
    allowed: until === null ? 'that key too' : `that key too, until ${until.toISOString()}`,
  };
}

function wrong(name: string): ConfigFault {
  return {
    variable: 'VERWERKINGENLOG_KEY',
    wrong: `has another key under the name ${name} than the log was written with`,
    allowed: 'the key that had this name first, and another name for a new key',
  };
}

/** Locks log keys until the transaction ends, and records their use (on one machine: a trigger). @throws {DatabaseError} KV001 for a deleted key */
export async function writeWithKeys(db: Db, names: readonly string[]): Promise<void> {
  await db.query('select verwerkingenlog.write_with_keys($1::text[])', [names.toSorted()]);
}

const COMPARE_EVERY_MS = 5000;

/** Compares the keys every few seconds, and tells `rotate-key` that this instance runs and with which. @throws {ConfigError} as `openIdentityKeys` */
export async function watchKeys(pool: Pool, config: Pick<Config, 'server' | 'verwerkingenlog'>, logger: Logger) {
  const keys = { ...(await openIdentityKeys(pool, config, 'write')) };
  const instance = randomUUID();

  async function compare(): Promise<KeyState> {
    await pool.query(
      `insert into verwerkingenlog.instances (instance_id, writes_with, key_names, seen)
       values ($1::uuid, $2::text, $3::text[], clock_timestamp()) on conflict (instance_id) do update set seen = excluded.seen`,
      [instance, keys.current, keys.names],
    );
    await pool.query(`delete from verwerkingenlog.instances where seen < clock_timestamp() - interval '1 hour'`);
    const state = await readKeyState(pool, keys);
    keys.hashing = state.hashing ?? keys.hashing;
    return state;
  }
  let state = await compare();

  const comparing = shareRuns(async () => {
    try {
      state = await compare();
    } catch (err) {
      logger.warn({ err }, 'the keys of the processing log could not be compared; retrying in a few seconds');
    }
  });
  const timer = setInterval(() => void comparing.run(), COMPARE_EVERY_MS).unref();

  return {
    keys,
    /**
     * Refuses an answer that may be incomplete. Call it after reading: what was stored before with a new log key is seen here.
     * @throws {UnknownKeyError} when versions may have a log key that this instance lacks
     */
    async requireAll(db: Db): Promise<void> {
      try {
        await refuseOtherKeys(db, 'versions', keys.names);
      } catch (error) {
        if (error instanceof UnknownKeyError) void comparing.run();
        throw error;
      }
    },
    /** As `lockHashingKey`. @throws {UnknownKeyError} when this instance lacks it, or one that did so in the last 24 hours */
    async lockHashing(db: Db): Promise<string> {
      const name = await lockHashingKey(db);
      if (!keys.has(name)) throw new UnknownKeyError(name);
      await refuseOtherKeys(db, 'idempotency', keys.names);
      keys.hashing = name;
      return name;
    },
    check: { name: 'log keys', check: async () => readinessOf(state, keys) },
    async stop(): Promise<void> {
      clearInterval(timer);
      await comparing.running();
      await pool.query('delete from verwerkingenlog.instances where instance_id = $1::uuid', [instance]).catch((err) =>
        // `rotate-key` considers it running for another minute.
        logger.warn({ err }, 'the end of this instance could not be noted'),
      );
    },
  };
}

function readinessOf({ faults, isForgotten }: KeyState, { current }: IdentityKeys): ReadinessResult {
  const found = faults.map(({ variable, wrong }) => `${variable} ${wrong}`);
  if (isForgotten) found.push(`the log has deleted the key ${current}, and stores nothing that is written with it`);
  return found.length === 0 ? { ok: true } : { ok: false, detail: found.join('; ') };
}
