/** The keys of the log: comparing the configured ones with those that it was written with. */
import pg from 'pg';
import type { Db } from '../../database/transaction.ts';
import { ConfigError, type ConfigFault } from '../../settings/read-config.ts';
import { createIdentityKeys, type IdentityKeys, type KeyName } from '../domain/identity-keys.ts';
import { fromRow, reveal, SELECT_VERSIE, type VersieRow } from './versions.ts';

const UNDEFINED_TABLE = '42P01';

interface KnownKey {
  readonly naam: string;
  /** Null: the log was written with this key before it had check values. */
  readonly controle: string | null;
  /** Whether versions may have been written with it. */
  readonly gebruikt: boolean;
}

/**
 * The keys of the configuration, checked against those that the log was written with: with a wrong or missing key a person would not be
 * found, and entries would be added that the right key cannot read. Their names include `null` only as long as something may be stored
 * without a key: a lookup without one sends a hash that a BSN can be guessed from.
 * @param use `write` also stores the check values of new keys; a key counts as used from the first version on that has it
 * @throws {ConfigError} naming every key that is wrong or missing
 */
export async function openIdentityKeys(
  db: Db,
  setting: string | undefined,
  use: 'read' | 'write',
): Promise<IdentityKeys> {
  const keys = createIdentityKeys(setting);
  let state = await checked(db, keys);
  if (use === 'write') {
    await addKeys(db, keys);
    // Once more: of two instances that start with different keys under one new name, the first decides.
    state = await checked(db, keys);
  }
  return { ...keys, names: namesIn(state, keys), spelled: state.spelled };
}

async function checked(db: Db, keys: IdentityKeys): Promise<KeyState> {
  const state = await readKeyState(db, keys);
  if (state.faults.length > 0) throw new ConfigError(state.faults);
  return state;
}

/** Names the row that is there as long as versions may have been stored without a key. */
export const WITHOUT_KEY = '';

/** What the log says of its keys, compared with those that are configured. */
export interface KeyState {
  /** Keys that are wrong, or that the log was written with and that are missing. */
  readonly faults: readonly ConfigFault[];
  /** Whether versions may have been stored without a key. */
  readonly withoutKey: boolean;
  /** Whether the log has forgotten the key that new versions are written with: it refuses them. */
  readonly isForgotten: boolean;
  /** Keys under which persons may be stored by the spelling that they were logged with. */
  readonly spelled: readonly KeyName[];
}

export async function readKeyState(db: Db, keys: IdentityKeys): Promise<KeyState> {
  const rows = await readKnown(db);
  const faults: ConfigFault[] = [];
  for (const known of rows) {
    if (known.naam === WITHOUT_KEY) continue;
    if (keys.has(known.naam)) {
      if (!(await isSame(db, known, keys))) faults.push(wrong(known.naam));
    } else if (known.gebruikt) {
      faults.push(missing(known.naam));
    }
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
  };
}

/** The keys to look for persons by. */
export function namesIn({ withoutKey }: KeyState, { current, names }: IdentityKeys): IdentityKeys['names'] {
  return current === null || withoutKey ? names : names.filter((name) => name !== null);
}

/** Keys that versions may have, and that are not among these; `null` is the absence of a key. */
export async function otherKeysInUse(db: Db, known: IdentityKeys['names']): Promise<string[]> {
  const { rows } = await db.query<{ naam: string }>({
    name: 'verwerkingenlog-other-keys',
    text: `select naam from verwerkingenlog.keys where (gebruikt or naam = $2::text) and naam <> all($1::text[])`,
    values: [known.map((name) => name ?? WITHOUT_KEY), WITHOUT_KEY],
  });
  return rows.map(({ naam }) => naam);
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

/** Says that this instance runs, and with which keys. */
export async function signOfLife(db: Db, instance: string, { current, names }: IdentityKeys): Promise<void> {
  await db.query(
    `insert into verwerkingenlog.instances (instantie, writes_with, sleutels, seen)
     values ($1::uuid, $2::text, $3::text[], clock_timestamp())
     on conflict (instantie) do update set seen = excluded.seen`,
    [instance, current, names.filter((name) => name !== null)],
  );
  await db.query(`delete from verwerkingenlog.instances where seen < clock_timestamp() - interval '1 hour'`);
}

/** Says that this instance has stopped. */
export async function endOfLife(db: Db, instance: string): Promise<void> {
  await db.query('delete from verwerkingenlog.instances where instantie = $1::uuid', [instance]);
}

async function readKnown(db: Db): Promise<KnownKey[]> {
  try {
    const { rows } = await db.query<KnownKey>(
      'select naam, controle, gebruikt from verwerkingenlog.keys order by naam',
    );
    return rows;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== UNDEFINED_TABLE) throw error;
    throw new Error('the database does not know the keys of the log yet: run `koppelvlak migrate`', { cause: error });
  }
}

/** Stores the check values that are missing; without a key, the row that says so. */
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
    `insert into verwerkingenlog.keys as bekend (naam, controle, gebruikt)
     select n.naam, n.controle, false from unnest($1::text[], $2::text[]) as n(naam, controle) order by n.naam
     on conflict (naam) do update set controle = excluded.controle where bekend.controle is null`,
    [names, names.map((name) => keys.checkValue(name))],
  );
}

async function isSame(db: Db, { naam, controle }: KnownKey, keys: IdentityKeys): Promise<boolean> {
  if (controle !== null) return controle === keys.checkValue(naam);
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
     where v.key_name = $1::text and json_array_length(v.objecten) > 0 limit 1`,
    [naam],
  );
  try {
    for (const row of rows) reveal(fromRow(row), keys);
    return true;
  } catch {
    return false;
  }
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
