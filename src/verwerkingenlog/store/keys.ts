/** The keys of the log: comparing the configured ones with those that it was written with, which other instances can change at any time. */
import { randomUUID } from 'node:crypto';
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import type { Logger } from '../../lib/log.ts';
import type { ReadinessCheck, ReadinessResult } from '../../lib/operations.ts';
import { shareRuns } from '../../lib/scheduling.ts';
import { ConfigError, type ConfigFault } from '../../settings/read-config.ts';
import {
  createIdentityKeys,
  type IdentityKeys,
  type KeyName,
  UnknownKeyError,
  WITHOUT_KEY,
} from '../domain/identity-keys.ts';
import {
  type HashingKey,
  hashWithCurrentKey,
  isHashedWith,
  lockHashingKey,
  readHashingKeys,
  requireHashingKeys,
} from './idempotency.ts';

/**
 * The keys of the configuration, checked against those that the log was written with: with a wrong or missing key a person would not be
 * found, and entries would be added that the right key cannot read. Their names include `null` only as long as something may be stored
 * without a key: a lookup without one sends a hash that a BSN can be guessed from.
 * @param use `write` also stores the check values of new keys; a key counts as used from the first version on that has it
 * @throws {ConfigError} naming every key that is wrong or missing
 */
export async function openIdentityKeys(
  pool: Pool,
  setting: string | undefined,
  use: 'read' | 'write',
): Promise<IdentityKeys> {
  const keys = createIdentityKeys(setting);
  let state = await checked(pool, keys);
  if (use === 'write') {
    await addKeys(pool, keys);
    await hashWithCurrentKey(pool, keys, async (db, before) => {
      return before.name === null || (!keys.has(before.name) && !(await isHashedWith(db, before)));
    });
    // Once more: of two instances that start with different keys under one new name, the first decides.
    state = await checked(pool, keys);
  }
  return { ...keys, names: namesIn(state, keys), spelled: state.spelled, hashing: state.hashing };
}

async function checked(db: Db, keys: IdentityKeys): Promise<KeyState> {
  const state = await readKeyState(db, keys);
  if (state.faults.length > 0) throw new ConfigError(state.faults);
  return state;
}

/** What the log says of its keys, compared with those that are configured. */
interface KeyState {
  /** Keys that are wrong, or that the log was written with and that are missing. */
  readonly faults: readonly ConfigFault[];
  /** Whether versions may have been stored without a key. */
  readonly withoutKey: boolean;
  /** Whether the log has forgotten the key that new versions are written with: it refuses them. */
  readonly isForgotten: boolean;
  /** Keys under which persons may be stored by the spelling that they were logged with. */
  readonly spelled: readonly KeyName[];
  /** The key that idempotency keys are hashed with. */
  readonly hashing: KeyName;
}

async function readKeyState(db: Db, keys: IdentityKeys): Promise<KeyState> {
  const { rows } = await db.query<{ naam: string; controle: string | null; gebruikt: boolean }>(
    'select naam, controle, gebruikt from verwerkingenlog.keys order by naam',
  );
  const faults: ConfigFault[] = rows
    .filter(({ naam }) => naam !== WITHOUT_KEY)
    .flatMap(({ naam, controle, gebruikt }) => {
      if (keys.has(naam)) return controle === keys.checkValue(naam) ? [] : [wrong(naam)];
      return gebruikt ? [missing(naam)] : [];
    });
  const hashing = await readHashingKeys(db);
  for (const key of hashing) {
    const fault = await hashingFault(db, key, keys);
    if (fault !== undefined && !faults.some(({ wrong }) => wrong.includes(`named ${key.name},`))) faults.push(fault);
  }
  const spelled = await db.query<{ sleutel: string }>('select sleutel from verwerkingenlog.spellings');
  const names = new Set(rows.map(({ naam }) => naam));
  return {
    faults,
    withoutKey: names.has(WITHOUT_KEY),
    isForgotten: keys.current !== null && !names.has(keys.current),
    spelled: spelled.rows
      .map(({ sleutel }) => (sleutel === WITHOUT_KEY ? null : sleutel))
      .filter((name) => keys.has(name)),
    hashing: hashing.find(({ until }) => until === undefined)?.name ?? null,
  };
}

/** What is wrong with a key without which idempotency keys would not be recognised. */
async function hashingFault(db: Db, hashing: HashingKey, keys: IdentityKeys): Promise<ConfigFault | undefined> {
  const { name, checkValue, until, isOver } = hashing;
  if (name === null) return undefined;
  if (keys.has(name)) return isOver || checkValue === keys.checkValue(name) ? undefined : wrong(name);
  if (!(await isHashedWith(db, hashing))) return undefined;
  return {
    variable: 'VERWERKINGENLOG_KEY',
    wrong: `has no key named ${name}, which idempotency keys of the last 24 hours are hashed with`,
    allowed: until === undefined ? 'that key too' : `that key too, until ${until.toISOString()}`,
  };
}

/** The keys to look for persons by. */
function namesIn({ withoutKey }: KeyState, { current, names }: IdentityKeys): IdentityKeys['names'] {
  return current === null || withoutKey ? names : names.filter((name) => name !== null);
}

/** Selects the keys that versions may have, and that are not among those of a `text[]` parameter. */
export const OTHER_KEYS_IN_USE = (known: string): string =>
  `select naam from verwerkingenlog.keys where (gebruikt or naam = '${WITHOUT_KEY}') and naam <> all(${known}::text[])`;

/** @throws {UnknownKeyError} when versions may have a key, or none, that is not among these */
export async function requireAllKeys(db: Db, { names }: Pick<IdentityKeys, 'names'>): Promise<void> {
  const { rows } = await db.query<{ naam: string }>({
    name: 'verwerkingenlog-other-keys',
    text: OTHER_KEYS_IN_USE('$1'),
    values: [names.map((name) => name ?? WITHOUT_KEY)],
  });
  if (rows[0] !== undefined) throw new UnknownKeyError(rows[0].naam);
}

/**
 * Locks the keys that versions are written with until the transaction ends, and notes that they are used. On one machine a trigger does
 * this for versions that are added.
 * @throws {DatabaseError} KV001 when the log has forgotten one
 */
export async function writeWithKeys(db: Db, names: readonly (string | null)[]): Promise<void> {
  const keys = names.filter((name) => name !== null).sort();
  if (keys.length > 0) await db.query('select verwerkingenlog.write_with_keys($1::text[])', [keys]);
}

/** Stores the check values of new keys; without a key, the row that says so. */
async function addKeys(db: Db, keys: IdentityKeys): Promise<void> {
  if (keys.current === null) {
    await db.query(
      `insert into verwerkingenlog.keys (naam, gebruikt)
       select $1::text, false where not exists (select from verwerkingenlog.keys where gebruikt) on conflict do nothing`,
      [WITHOUT_KEY],
    );
  }
  const names = keys.names.filter((name) => name !== null);
  await db.query(
    `insert into verwerkingenlog.keys (naam, controle, gebruikt)
     select n.naam, n.controle, false from unnest($1::text[], $2::text[]) as n(naam, controle) order by n.naam
     on conflict (naam) do nothing`,
    [names, names.map((name) => keys.checkValue(name))],
  );
}

function missing(name: string): ConfigFault {
  return {
    variable: 'VERWERKINGENLOG_KEY',
    wrong: `has no key named ${name}, and the log was written with it`,
    allowed: 'every key that the log was written with; `koppelvlak log rotate-key` makes an old one unnecessary',
  };
}

function wrong(name: string): ConfigFault {
  return {
    variable: 'VERWERKINGENLOG_KEY',
    wrong: `has another key under the name ${name} than the log was written with`,
    allowed: 'the key that had this name first, and another name for a new key',
  };
}

/** The keys of a running instance. */
export interface KeyWatch {
  /** Their names change when versions may be stored without a key from now on, or no longer. */
  readonly keys: IdentityKeys;
  /**
   * Refuses an answer that may be incomplete. Call it after what was read: what another instance stored with a new key before that is
   * seen here.
   * @throws {UnknownKeyError} when versions may have a key that this instance does not have
   */
  readonly requireAll: (db: Db) => Promise<void>;
  /**
   * The key that hashes idempotency keys, and goes on doing so until the transaction of `db` ends.
   * @throws {UnknownKeyError} when this instance lacks it, or one that did so in the last 24 hours
   */
  readonly lockHashing: (db: Db) => Promise<KeyName>;
  readonly check: ReadinessCheck;
  stop(): Promise<void>;
}

const COMPARE_EVERY_MS = 5000;

/**
 * Compares the keys every few seconds, and tells `rotate-key` that this instance runs and with which keys.
 * @throws {ConfigError} when the configured keys are not those that the log was written with
 */
export async function watchKeys(pool: Pool, setting: string | undefined, log: Logger): Promise<KeyWatch> {
  const opened = await openIdentityKeys(pool, setting, 'write');
  const instance = randomUUID();
  const configured = opened.names.filter((name) => name !== null);
  /** All that are configured, and no key. */
  const every: IdentityKeys = { ...opened, names: [...configured, null] };

  async function compare(): Promise<KeyState> {
    await pool.query(
      `insert into verwerkingenlog.instances (instantie, writes_with, sleutels, seen)
       values ($1::uuid, $2::text, $3::text[], clock_timestamp()) on conflict (instantie) do update set seen = excluded.seen`,
      [instance, every.current, configured],
    );
    await pool.query(`delete from verwerkingenlog.instances where seen < clock_timestamp() - interval '1 hour'`);
    return await readKeyState(pool, every);
  }
  let state = await compare();
  const keys = { ...every, names: namesIn(state, every), spelled: state.spelled, hashing: state.hashing };

  const comparing = shareRuns(async () => {
    try {
      state = await compare();
      keys.names = namesIn(state, every);
      keys.spelled = state.spelled;
      keys.hashing = state.hashing;
    } catch (err) {
      log.warn({ err }, 'the keys of the processing log could not be compared; retrying in a few seconds');
    }
  });
  const timer = setInterval(() => void comparing.run(), COMPARE_EVERY_MS).unref();

  return {
    keys,
    async requireAll(db) {
      try {
        await requireAllKeys(db, keys);
      } catch (error) {
        if (error instanceof UnknownKeyError) void comparing.run();
        throw error;
      }
    },
    async lockHashing(db) {
      const name = await lockHashingKey(db);
      if (!keys.has(name)) throw new UnknownKeyError(name ?? WITHOUT_KEY);
      await requireHashingKeys(db, keys.names);
      keys.hashing = name;
      return name;
    },
    check: { name: 'log keys', check: async () => readinessOf(state, every) },
    async stop() {
      clearInterval(timer);
      await comparing.running();
      await pool.query('delete from verwerkingenlog.instances where instantie = $1::uuid', [instance]).catch((err) =>
        // `rotate-key` takes it to run for another minute.
        log.warn({ err }, 'the end of this instance could not be noted'),
      );
    },
  };
}

function readinessOf({ faults, isForgotten, spelled }: KeyState, { current }: IdentityKeys): ReadinessResult {
  const found = faults.map(({ variable, wrong }) => `${variable} ${wrong}`);
  if (isForgotten) found.push(`the log has forgotten the key ${current}, and stores nothing that is written with it`);
  if (found.length > 0) return { ok: false, detail: found.join('; ') };
  if (spelled.length === 0) return { ok: true };
  const warning =
    'what 1.0.0 stored is found only by the kind and number as they were written then: run `koppelvlak log rotate-key`';
  return { ok: true, warning };
}
