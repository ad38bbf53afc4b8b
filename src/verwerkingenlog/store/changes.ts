/** Locks of the targets of a change, and its statements. */
import { type Db, lock, tryLock } from '../../database/transaction.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import { type Categorie, categorieVan } from '../domain/categories.ts';
import {
  encryptSeed,
  type IdentityKeys,
  positionsByPerson,
  reveal,
  type SealedVersie,
  type StoredVersie,
} from '../domain/encryption.ts';
import { proofRecordOf } from '../domain/proof-parts.ts';
import { type Auteur, type Patch, patched } from '../domain/verwerkingsactie.ts';
import type { Appended, VersionStore } from './append.ts';
import { fromRow, SELECT_VERSIE, type VersieRow } from './versions.ts';

// A change of an action holds the lock of the action and that of its processing; a change of a whole processing only the latter.

export const lockOfActie = (id: string): string => `actie ${id}`;
/** None for an action that belongs to no processing. */
export const lockOfVerwerking = (id: string | null): string[] => (id === null ? [] : [`verwerking ${id}`]);
export const lockOfActiviteit = (id: string): string => `verwerkingsactiviteit ${id}`;
const inLog = (name: string): string => `verwerkingenlog ${name}`;

export function tryLockChanges(db: Db, names: readonly string[]): Promise<boolean> {
  return tryLock(db, ...names.map(inLog));
}

export async function lockChanges(
  db: Db,
  acties: readonly string[],
  verwerkingen: readonly (string | null)[],
): Promise<void> {
  await lock(db, ...[...acties.map(lockOfActie), ...verwerkingen.flatMap(lockOfVerwerking)].map(inLog));
}

/** Adds the versions that follow current ones. The caller holds the locks of the actions or of their processing. */
export async function replaceVersies(
  db: Db,
  current: readonly StoredVersie[],
  next: readonly SealedVersie[],
  store: VersionStore,
): Promise<Appended[]> {
  await preferIndexes(db);
  await removeLocations(db, current);
  return await store.add(db, next);
}

/** Removes the locations of these versions. @returns the actions that had any: only a current version has */
export async function removeLocations(db: Db, versions: readonly StoredVersie[]): Promise<Set<string>> {
  const places = versions.flatMap((versie) => [...positionsByPerson(versie).keys()].map((hash) => ({ hash, versie })));
  if (places.length === 0) return new Set();
  const { rows } = await db.query<{ actieId: string }>({
    name: 'verwerkingenlog-remove-locations',
    text: `
      delete from verwerkingenlog.locations p
      using unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::integer[]) as s(person_hash, tijdstip, actie_id, versie)
      where p.person_hash = s.person_hash and p.tijdstip = s.tijdstip and p.actie_id = s.actie_id and p.versie = s.versie
        and p.person_hash = any($1::uuid[])
      returning p.actie_id as "actieId"`,
    values: [
      places.map(({ hash }) => hash),
      places.map(({ versie }) => versie.tijdstip),
      places.map(({ versie }) => versie.actieId),
      places.map(({ versie }) => versie.versie),
    ],
  });
  return new Set(rows.map(({ actieId }) => actieId));
}

/** The highest that any version has given; 0 when none has. */
export async function lastObjectNumber(db: Db, actieId: string): Promise<number> {
  const { rows } = await db.query<{ last: number }>(
    `select coalesce(max((o.object ->> 'nr')::integer), 0) as last
     from verwerkingenlog.versies v, json_array_elements(v.objecten) as o(object) where v.actie_id = $1::uuid`,
    [actieId],
  );
  return rows[0]?.last ?? 0;
}

interface ActieOfVerwerking {
  readonly actieId: string;
  readonly categorie: Categorie;
  readonly objects: number;
}

/** Those not deleted. @param withLdv lines of LDV too: their clients choose the processing, and must not affect a change of somebody else's */
export async function readActies(
  db: Db,
  verwerkingId: string,
  { withLdv }: { readonly withLdv: boolean },
): Promise<ActieOfVerwerking[]> {
  const { rows } = await db.query<Omit<ActieOfVerwerking, 'categorie'> & { categorie: number }>(
    `select v.actie_id as "actieId", verwerkingenlog.category(v.vertrouwelijkheid, v.ooit_vertrouwelijk) as categorie,
       json_array_length(v.objecten) as objects
     from verwerkingenlog.versies v
     where v.verwerking_id = $1::uuid and not v.vervallen and ($2::boolean or v.ldv is null)
       -- Compared with a number, each is looked up by the primary key: an anti-join would read the whole log.
       and v.versie = (select max(w.versie) from verwerkingenlog.versies w where w.actie_id = v.actie_id)
     order by v.actie_id`,
    [verwerkingId, withLdv],
  );
  return rows.map((row) => ({ ...row, categorie: categorieVan(row.categorie) }));
}

/** Changed together; one action may have more objects. */
const PATCH_ACTIONS = 500;
const PATCH_OBJECTS = 10_000;

/** Gives each of these actions a new version. The caller has held the lock of the processing since they were read. */
export async function patchActies(
  db: Db,
  acties: readonly ActieOfVerwerking[],
  change: Patch & { readonly proof?: { readonly writer: ProofWriter; readonly keys: IdentityKeys } | undefined },
  now: Date,
  auteur: Auteur,
  store: VersionStore,
): Promise<Appended[]> {
  await preferIndexes(db);
  const nextOf = async (current: StoredVersie): Promise<SealedVersie> => {
    const next = { ...patched(current, change, now, auteur), seed: null };
    if (change.proof === undefined) return { versie: next };
    const { writer, keys } = change.proof;
    const versie = patched(await reveal(current, keys), change, now, auteur);
    const { seed, entry } = await writer.sealWithinBudget(proofRecordOf(versie));
    return { versie: { ...next, seed: encryptSeed(current.keyName, current.actieId, seed, keys) }, entry };
  };
  const appended: Appended[] = [];
  for (const ids of batchesOf(acties)) {
    const { rows } = await db.query<VersieRow>(
      `select distinct on (v.actie_id) ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
       where v.actie_id = any($1::uuid[]) order by v.actie_id, v.versie desc`,
      [ids],
    );
    const current = rows.map(fromRow);
    const next: SealedVersie[] = [];
    for (const one of current) next.push(await nextOf(one));
    appended.push(...(await replaceVersies(db, current, next, store)));
  }
  return appended;
}

function* batchesOf(acties: readonly ActieOfVerwerking[]): Generator<readonly string[]> {
  let ids: string[] = [];
  let objects = 0;
  for (const actie of acties) {
    if (ids.length === PATCH_ACTIONS || (ids.length > 0 && objects + actie.objects > PATCH_OBJECTS)) {
      yield ids;
      [ids, objects] = [[], 0];
    }
    ids.push(actie.actieId);
    objects += actie.objects;
  }
  yield ids;
}

/**
 * Makes the planner use indexes until the transaction ends. For each row that is looked up in `locations` it counts all partitions, although only one
 * is opened, and would rather scan the whole table.
 */
export async function preferIndexes(db: Db): Promise<void> {
  await db.query(`select set_config('enable_seqscan', 'off', true)`);
}
