/** The keys of the log: opening them, rotating them, and forgetting those that no version needs. */
import pg from 'pg';
import { ConfigError, type ConfigFault } from '../../kernel/config/read-config.ts';
import type { Pool } from '../../kernel/database/pool.ts';
import { type Db, transaction } from '../../kernel/database/transaction.ts';
import { createIdentityKeys, type IdentityKeys, type KeyName, UnknownKeyError } from '../domain/identity-keys.ts';
import type { Versie } from '../domain/verwerkingsactie.ts';
import { readLdvOf } from '../ldv/kept.ts';
import { lockChanges, preferIndexes } from './changes.ts';
import { lineKeyOf, replaceLineKey } from './ldv-keys.ts';
import { listMonths, type Month } from './months.ts';
import { decryptSeed, encryptSeed } from './proof.ts';
import {
  fromRow,
  positionsByPerson,
  protect,
  reveal,
  SELECT_VERSIE,
  type StoredVersie,
  type VersieRow,
} from './versions.ts';

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
 * @param use `write` also stores the check values of new keys
 * @throws {ConfigError} naming every key that is wrong or missing
 */
export async function openIdentityKeys(
  pool: Pool,
  setting: string | undefined,
  use: 'read' | 'write',
): Promise<IdentityKeys> {
  const keys = createIdentityKeys(setting);
  const { current } = keys;
  await check(pool, keys);
  if (use === 'write') {
    await addKeys(pool, keys);
    // Once more: of two instances that start with different keys under one new name, the first decides.
    await check(pool, keys);
    if (current !== null) await transaction(pool, (db) => markUsed(db, current));
  }
  if (current === null || (await isKeptWithoutKey(pool))) return keys;
  return { ...keys, names: keys.names.filter((name) => name !== null) };
}

/** Names the row that is there as long as versions may have been stored without a key. */
const WITHOUT_KEY = '';

async function isKeptWithoutKey(db: Db): Promise<boolean> {
  const { rows } = await db.query('select from verwerkingenlog.sleutels where naam = $1::text', [WITHOUT_KEY]);
  return rows.length > 0;
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
      'select naam, controle, gebruikt from verwerkingenlog.sleutels where naam <> $1::text order by naam',
      [WITHOUT_KEY],
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
      `insert into verwerkingenlog.sleutels (naam, gebruikt)
       select $1::text, false where not exists (select from verwerkingenlog.sleutels where gebruikt) on conflict do nothing`,
      [WITHOUT_KEY],
    );
  }
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
 * From here on versions are written with this key. When it is the first key of the log, idempotency keys were hashed without one, and are
 * forgotten. Once this is committed, nothing more can be stored without a key unless that was announced (migration 0032).
 */
async function markUsed(db: Db, name: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('verwerkingenlog sleutels', 0))`);
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

/** Forgets the keys that no version needs; the service then starts without them. As the retention role. */
async function forgetKeys(pool: Pool, needed: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ naam: string }>(
    'delete from verwerkingenlog.sleutels where naam <> all($1::text[]) and naam <> $2::text returning naam',
    [needed, WITHOUT_KEY],
  );
  await forgetWithoutKey(pool);
  return rows.map(({ naam }) => naam);
}

/** Removes the row without a name when nothing is stored without a key. A writer without a key locks that row until its commit. */
async function forgetWithoutKey(pool: Pool): Promise<void> {
  if (!(await isKeptWithoutKey(pool))) return;
  await transaction(pool, async (db) => {
    await db.query('select from verwerkingenlog.sleutels where naam = $1::text for update', [WITHOUT_KEY]);
    // A statement of its own, to see what was committed before the row was locked.
    await db.query(
      `delete from verwerkingenlog.sleutels
       where naam = $1::text and not exists (select 1 from verwerkingenlog.versies where sleutelnaam is null)`,
      [WITHOUT_KEY],
    );
  });
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

interface RotateOptions {
  /** As the retention role. */
  readonly pool: Pool;
  readonly keys: IdentityKeys;
  readonly signal: AbortSignal;
  readonly progress?: (versions: number, month: string) => void;
}

/** A version that none of the keys can read. */
interface Unreadable {
  readonly actieId: string;
  readonly versie: number;
  /** The key that it says it was encrypted with. */
  readonly key: KeyName;
  readonly reason: string;
}

interface Rotated {
  /** Versions that were rewritten. */
  readonly rewritten: number;
  /** Versions that were left as they are. */
  readonly unreadable: readonly Unreadable[];
  /** Keys that no version needs any more. */
  readonly forgotten: readonly string[];
}

/** Versions in one transaction. */
const ROTATE_BATCH = 500;

/**
 * Encrypts and hashes with the current key everything stored with another key, or with none, while the service runs. It repeats until
 * only versions are left that cannot be read.
 */
export async function rotateKeys(options: RotateOptions): Promise<Rotated> {
  let rewritten = 0;
  for (;;) {
    const round = await rewriteAll(options, rewritten);
    rewritten += round.rewritten;
    if (round.rewritten > 0) continue;
    const { unreadable } = round;
    const needed = [options.keys.current, ...unreadable.map(({ key }) => key)].filter((name) => name !== null);
    return { rewritten, unreadable, forgotten: await forgetKeys(options.pool, needed) };
  }
}

async function rewriteAll(
  { pool, keys, signal, progress }: RotateOptions,
  before: number,
): Promise<Omit<Rotated, 'forgotten'>> {
  let rewritten = 0;
  const unreadable: Unreadable[] = [];
  for (const month of await listMonths(pool)) {
    for (let after: readonly [string, number] = [month.from, 0]; ; ) {
      signal.throwIfAborted();
      const versions = await readOthers(pool, keys.current, month, after);
      const last = versions.at(-1);
      if (last === undefined) break;
      after = [last.actieId, last.versie];
      const left = await rewrite(pool, keys, versions);
      unreadable.push(...left);
      rewritten += versions.length - left.length;
      progress?.(before + rewritten, month.name);
    }
  }
  return { rewritten, unreadable };
}

/** Versions of other keys in the order of their identity, so that one that cannot be read does not block the rest. */
async function readOthers(
  db: Db,
  current: KeyName,
  { to }: Month,
  [actieId, versie]: readonly [string, number],
): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
     where (v.actie_id, v.versie) > ($1::uuid, $2::integer) and v.actie_id < $3::uuid and v.sleutelnaam is distinct from $4::text
     order by v.actie_id, v.versie limit $5::integer`,
    [actieId, versie, to, current, ROTATE_BATCH],
  );
  return rows.map(fromRow);
}

/** @returns what could not be read */
async function rewrite(pool: Pool, keys: IdentityKeys, versions: readonly StoredVersie[]): Promise<Unreadable[]> {
  return transaction(pool, async (db) => {
    // A change copies identifiers and looks up locations: not while both are rewritten.
    await lockChanges(db, {
      acties: versions.map(({ actieId }) => actieId),
      verwerkingen: versions.map(({ verwerkingId }) => verwerkingId),
    });
    await preferIndexes(db);
    const unreadable: Unreadable[] = [];
    for (const old of versions) {
      const read = readWithAny(old, keys);
      if ('reason' in read) {
        unreadable.push({ actieId: old.actieId, versie: old.versie, key: old.sleutelnaam, reason: read.reason });
        continue;
      }
      const fresh = { ...protect(read.versie, keys), zaad: rotatedSeed(old, read.key, keys) };
      await db.query({
        name: 'verwerkingenlog-rotate-versie',
        text: `update verwerkingenlog.versies set sleutelnaam = $3::text, afnemer_id = $4::text, objecten = $5::json, ldv = $6::text, zaad = $7::text
          where actie_id = $1::uuid and versie = $2::integer`,
        values: [
          old.actieId,
          old.versie,
          fresh.sleutelnaam,
          fresh.afnemerId,
          JSON.stringify(fresh.objecten),
          fresh.ldv,
          fresh.zaad,
        ],
      });
      await moveLocations(db, old, fresh);
      const line = old.versie === 1 ? readLdvOf(read.versie) : undefined;
      if (line !== undefined)
        await replaceLineKey(db, { ...lineKeyOf(line, keys, keys.current), actieId: old.actieId });
    }
    return unreadable;
  });
}

/** Reads with the key that the version names, else with any other: the name may have had the wrong key when it was written. */
function readWithAny(
  stored: StoredVersie,
  keys: IdentityKeys,
): { readonly versie: Versie; readonly key: KeyName } | { readonly reason: string } {
  let reason = '';
  for (const name of [stored.sleutelnaam, ...keys.names.filter((other) => other !== null)]) {
    try {
      return { versie: reveal({ ...stored, sleutelnaam: name }, keys), key: name };
    } catch (error) {
      reason ||= error instanceof UnknownKeyError ? error.message : 'its identifiers cannot be decrypted';
    }
  }
  return { reason };
}

/** The seed under the current key. @param key the key that it is encrypted with */
function rotatedSeed(stored: StoredVersie, key: KeyName, keys: IdentityKeys): string | null {
  if (stored.zaad === null) return null;
  const seed = decryptSeed({ ...stored, sleutelnaam: key }, keys);
  return encryptSeed({ actieId: stored.actieId, sleutelnaam: keys.current }, seed, keys);
}

/** Only the current version has locations; for others this finds nothing. */
async function moveLocations(db: Db, old: StoredVersie, fresh: StoredVersie): Promise<void> {
  await db.query({
    name: 'verwerkingenlog-rotate-locations',
    text: `
      with oud as (
        delete from verwerkingenlog.vindplaatsen p using unnest($1::uuid[], $2::uuid[]) as s(oud, nieuw)
        where p.sleutel = s.oud and p.tijdstip = $3::timestamptz and p.actie_id = $4::uuid and p.versie = $5::integer
        returning p.*, s.nieuw
      )
      insert into verwerkingenlog.vindplaatsen
        (sleutel, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, posities)
      select nieuw, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, posities from oud`,
    values: [
      [...positionsByPerson(old).keys()],
      [...positionsByPerson(fresh).keys()],
      old.tijdstip,
      old.actieId,
      old.versie,
    ],
  });
}
