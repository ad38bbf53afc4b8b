import type { Pool } from '../../kernel/database/pool.ts';
import { type Db, transaction } from '../../kernel/database/transaction.ts';
import { type IdentityKeys, type KeyName, UnknownKeyError } from '../domain/identity-keys.ts';
import type { Versie } from '../domain/verwerkingsactie.ts';
import { lockChanges } from './lock-changes.ts';
import { listMonths, type Month } from './months.ts';
import { forgetKeys } from './open-keys.ts';
import { preferIndexes } from './prefer-indexes.ts';
import { fromRow } from './read-versie.ts';
import { placesByPerson, protect, reveal, type StoredVersie } from './stored-versie.ts';
import { SELECT_VERSIE, type VersieRow } from './versie-columns.ts';

export interface RotateOptions {
  /** As the retention role. */
  readonly pool: Pool;
  readonly keys: IdentityKeys;
  readonly signal: AbortSignal;
  readonly progress?: (versions: number, month: string) => void;
}

/** A version that none of the keys can read. */
export interface Unreadable {
  readonly actieId: string;
  readonly versie: number;
  /** The key that it says it was encrypted with. */
  readonly key: KeyName;
  readonly reason: string;
}

export interface Rotated {
  /** Versions that were rewritten. */
  readonly rewritten: number;
  /** Versions that were left as they are. */
  readonly unreadable: readonly Unreadable[];
  /** Keys that no version needs any more. */
  readonly forgotten: readonly string[];
}

/** Versions in one transaction. */
const BATCH = 500;

/**
 * Encrypts and hashes with the current key whatever was kept with another one, or with none, while the service goes on. It goes through
 * the log until nothing is left but what cannot be read.
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

/** Versions of another key, in the order of their identity, so that one that cannot be read holds up none. */
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
    [actieId, versie, to, current, BATCH],
  );
  return rows.map(fromRow);
}

/** @returns what could not be read */
async function rewrite(pool: Pool, keys: IdentityKeys, versions: readonly StoredVersie[]): Promise<Unreadable[]> {
  return transaction(pool, async (db) => {
    // Who changes an action copies its identifiers and looks for its places: not while both move.
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
      const fresh = protect(read.versie, keys);
      await db.query({
        name: 'verwerkingenlog-rotate-versie',
        text: `update verwerkingenlog.versies set sleutelnaam = $3::text, afnemer_id = $4::text, objecten = $5::json
          where actie_id = $1::uuid and versie = $2::integer`,
        values: [old.actieId, old.versie, fresh.sleutelnaam, fresh.afnemerId, JSON.stringify(fresh.objecten)],
      });
      await movePlaces(db, old, fresh);
    }
    return unreadable;
  });
}

/** Reads with the key that the version names; or with another one, for it may have been written under a name with the wrong key. */
function readWithAny(
  stored: StoredVersie,
  keys: IdentityKeys,
): { readonly versie: Versie } | { readonly reason: string } {
  let reason = '';
  for (const name of [stored.sleutelnaam, ...keys.names.filter((other) => other !== null)]) {
    try {
      return { versie: reveal({ ...stored, sleutelnaam: name }, keys) };
    } catch (error) {
      reason ||= error instanceof UnknownKeyError ? error.message : 'its identifiers cannot be decrypted';
    }
  }
  return { reason };
}

/** Only the current version has places; of others nothing is found to move. */
async function movePlaces(db: Db, old: StoredVersie, fresh: StoredVersie): Promise<void> {
  await db.query({
    name: 'verwerkingenlog-rotate-places',
    text: `
      with oud as (
        delete from verwerkingenlog.vindplaatsen p using unnest($1::uuid[], $2::uuid[]) as s(oud, nieuw)
        where p.sleutel = s.oud and p.tijdstip = $3::timestamptz and p.actie_id = $4::uuid and p.versie = $5::integer
        returning p.*, s.nieuw
      )
      insert into verwerkingenlog.vindplaatsen
        (sleutel, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, posities)
      select nieuw, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, posities from oud`,
    values: [[...placesByPerson(old).keys()], [...placesByPerson(fresh).keys()], old.tijdstip, old.actieId, old.versie],
  });
}
