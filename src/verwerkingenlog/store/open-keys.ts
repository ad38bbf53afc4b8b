import pg from 'pg';
import { ConfigError, type ConfigFault } from '../../kernel/config/read-config.ts';
import type { Db } from '../../kernel/database/db.ts';
import { createIdentityKeys, type IdentityKeys } from '../domain/identity-keys.ts';
import { fromRow } from './read-versie.ts';
import { reveal } from './stored-versie.ts';
import { SELECT_VERSIE, type VersieRow } from './versie-columns.ts';

const UNDEFINED_TABLE = '42P01';

interface KnownKey {
  readonly naam: string;
  /** Null: the log was written with this key before check values were kept. */
  readonly controle: string | null;
  /** Whether versions may have been written with it. */
  readonly gebruikt: boolean;
}

/**
 * The keys of a configuration, after it was made sure that they are those that the log was written with: with a wrong or missing one a
 * person would not be found, and entries would be added that the right key cannot read.
 * @param use `write` also keeps the check values of keys that are new
 * @throws {ConfigError} naming every key that is wrong or missing
 */
export async function openIdentityKeys(
  db: Db,
  setting: string | undefined,
  use: 'read' | 'write',
): Promise<IdentityKeys> {
  const keys = createIdentityKeys(setting);
  await check(db, keys);
  if (use === 'write') {
    await addKeys(db, keys);
    // Once more: of two instances that start with different keys under one new name, the first decides.
    await check(db, keys);
    if (keys.current !== null) await markUsed(db, keys.current);
  }
  return keys;
}

async function check(db: Db, keys: IdentityKeys): Promise<void> {
  const rows = await readKnown(db);
  const faults: ConfigFault[] = [];
  for (const known of rows) {
    if (keys.has(known.naam)) {
      if (!(await isSame(db, known, keys))) faults.push(wrong(known.naam));
    } else if (known.gebruikt) {
      faults.push(missing(known.naam));
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
}

async function readKnown(db: Db): Promise<KnownKey[]> {
  try {
    const { rows } = await db.query<KnownKey>(
      'select naam, controle, gebruikt from verwerkingenlog.sleutels order by naam',
    );
    return rows;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== UNDEFINED_TABLE) throw error;
    throw new Error('the database does not know the keys of the log yet: run `koppelvlak migrate`', { cause: error });
  }
}

/** Keeps the check values of keys that have none. */
async function addKeys(db: Db, keys: IdentityKeys): Promise<void> {
  const names = keys.names.filter((name) => name !== null);
  await db.query(
    `insert into verwerkingenlog.sleutels as bekend (naam, controle, gebruikt)
     select n.naam, n.controle, false from unnest($1::text[], $2::text[]) as n(naam, controle) order by n.naam
     on conflict (naam) do update set controle = excluded.controle where bekend.controle is null`,
    [names, names.map((name) => keys.checkValue(name))],
  );
}

async function isSame(db: Db, { naam, controle }: KnownKey, keys: IdentityKeys): Promise<boolean> {
  if (controle !== null) return controle === keys.checkValue(naam);
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
     where v.sleutelnaam = $1::text and json_array_length(v.objecten) > 0 limit 1`,
    [naam],
  );
  try {
    for (const row of rows) reveal(fromRow(row), keys);
    return true;
  } catch {
    return false;
  }
}

/**
 * From here on versions are written with this key. When it is the first key that the log ever had, what was kept of idempotency keys was
 * hashed without one.
 */
async function markUsed(db: Db, name: string): Promise<void> {
  await db.query(
    `with eerste as (
       select not exists (select from verwerkingenlog.sleutels where gebruikt) as is
     ), vergeten as (
       delete from verwerkingenlog.idempotentie using eerste where eerste.is
     )
     update verwerkingenlog.sleutels set gebruikt = true where naam = $1::text and not gebruikt`,
    [name],
  );
}

/** Forgets the keys that no version needs any more; a start without them is then no fault. As the retention role. */
export async function forgetKeys(db: Db, needed: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ naam: string }>(
    'delete from verwerkingenlog.sleutels where naam <> all($1::text[]) returning naam',
    [needed],
  );
  return rows.map(({ naam }) => naam);
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
