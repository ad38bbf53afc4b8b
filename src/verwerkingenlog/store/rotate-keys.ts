import type { Db } from '../../kernel/database/db.ts';
import type { Pool } from '../../kernel/database/pool.ts';
import { transaction } from '../../kernel/database/transaction.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { lockChanges } from './lock-changes.ts';
import { listMonths } from './months.ts';
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

/** Versions in one transaction. */
const BATCH = 500;

/**
 * Encrypts and hashes with the current key whatever was kept with another one, or with none, while the service goes on.
 * @returns how many versions were rewritten
 * @throws {UnknownKeyError} when a version was encrypted with a key that is not configured
 */
export async function rotateKeys({ pool, keys, signal, progress }: RotateOptions): Promise<number> {
  let rewritten = 0;
  for (const month of await listMonths(pool)) {
    for (;;) {
      signal.throwIfAborted();
      const versions = await readOthers(pool, keys.current, month);
      if (versions.length === 0) break;
      rewritten += await rewrite(pool, keys, versions);
      progress?.(rewritten, month.name);
    }
  }
  return rewritten;
}

async function readOthers(
  db: Db,
  current: string | null,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
     where v.actie_id >= $1::uuid and v.actie_id < $2::uuid and v.sleutelnaam is distinct from $3::text limit $4::integer`,
    [from, to, current, BATCH],
  );
  return rows.map(fromRow);
}

async function rewrite(pool: Pool, keys: IdentityKeys, versions: readonly StoredVersie[]): Promise<number> {
  return transaction(pool, async (db) => {
    // Who changes an action copies its identifiers and looks for its places: not while both move.
    await lockChanges(db, {
      acties: versions.map(({ actieId }) => actieId),
      verwerkingen: versions.map(({ verwerkingId }) => verwerkingId),
    });
    await preferIndexes(db);
    for (const old of versions) {
      const fresh = protect(reveal(old, keys), keys);
      await db.query({
        name: 'verwerkingenlog-rotate-versie',
        text: `update verwerkingenlog.versies set sleutelnaam = $3::text, afnemer_id = $4::text, objecten = $5::json
          where actie_id = $1::uuid and versie = $2::integer`,
        values: [old.actieId, old.versie, fresh.sleutelnaam, fresh.afnemerId, JSON.stringify(fresh.objecten)],
      });
      await movePlaces(db, old, fresh);
    }
    return versions.length;
  });
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
