/** Locks of what is changed, and the statements of a change. */

import { type Db, lock, tryLock } from '../../database/transaction.ts';
import type { ForwardPolicy } from '../../seams/processing-log.ts';
import type { ProofWriter } from '../../seams/proof-log.ts';
import { type Categorie, categorieOf, categorieVan } from '../domain/access.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { proofRecordOf } from '../domain/proof-parts.ts';
import { type Auteur, moment, type Versie, type Vertrouwelijkheid } from '../domain/verwerkingsactie.ts';
import { type Appended, type AppendTarget, appendVersies, type NextVersie, replaceVersies } from './append.ts';
import { encryptSeed, type SealedVersie } from './proof.ts';
import {
  fromRow,
  positionsByPerson,
  revealWithinBudget,
  SELECT_VERSIE,
  type StoredVersie,
  type VersieRow,
} from './versions.ts';

// A change of an action holds the lock of the action and that of its processing; a change of a whole processing only the latter.

/** The lock of an action. */
export function lockOfActie(id: string): string {
  return `actie ${id}`;
}

/** The lock of a processing; none for an action that belongs to no processing. */
export function lockOfVerwerking(id: string | null): string[] {
  return id === null ? [] : [`verwerking ${id}`];
}

/** The lock of an activity in the register. */
export function lockOfActiviteit(id: string): string {
  return `verwerkingsactiviteit ${id}`;
}

/**
 * Takes locks until the transaction ends, without waiting on a connection.
 * @returns false when another transaction holds one of them; then end this one, for it may hold the others
 */
export function tryLockChanges(db: Db, names: readonly string[]): Promise<boolean> {
  return tryLock(db, ...names.map(inLog));
}

/** Locks these actions and processings until the transaction ends, in one order so that there is no deadlock. */
export async function lockChanges(
  db: Db,
  what: { readonly acties?: readonly string[]; readonly verwerkingen?: readonly (string | null)[] },
): Promise<void> {
  const names = [...(what.acties ?? []).map(lockOfActie), ...(what.verwerkingen ?? []).flatMap(lockOfVerwerking)];
  await lock(db, ...names.map(inLog));
}

function inLog(name: string): string {
  return `verwerkingenlog ${name}`;
}

/** Adds the version that follows the current one, and updates where persons are found. Hold the locks of the action. */
export async function replaceVersie(
  db: Db,
  current: StoredVersie,
  next: SealedVersie,
  { refuseUnknownActivity, ...target }: AppendTarget & { readonly refuseUnknownActivity: boolean },
): Promise<Appended> {
  await removeLocations(db, current);
  const [appended] = await appendVersies(db, [{ ...next, refuseUnknownActivity }], target);
  if (appended === undefined) throw new TypeError('nothing was appended');
  return appended;
}

/** Removes a version's persons from the index. */
export async function removeLocations(db: Db, versie: StoredVersie): Promise<void> {
  await preferIndexes(db);
  await db.query(
    `delete from verwerkingenlog.locations p using unnest($1::uuid[]) as s(sleutel)
     where p.sleutel = s.sleutel and p.tijdstip = $2::timestamptz and p.actie_id = $3::uuid and p.sleutel = any($1::uuid[])`,
    [[...positionsByPerson(versie).keys()], versie.tijdstip, versie.actieId],
  );
}

/** The highest number that any version of an action has given to an object; 0 when none has. */
export async function lastObjectNumber(db: Db, actieId: string): Promise<number> {
  const { rows } = await db.query<{ last: number }>(
    `select coalesce(max((o.object ->> 'nr')::integer), 0) as last
     from verwerkingenlog.versies v, json_array_elements(v.objecten) as o(object) where v.actie_id = $1::uuid`,
    [actieId],
  );
  return rows[0]?.last ?? 0;
}

/**
 * The current versions of a processing's actions that are not deleted: `$1` is the processing.
 * @param withLdv parameter that says whether lines of LDV count. Their clients choose the processing, which is their trace: they must
 *   not choose what a change of somebody else's processing touches
 * @param more a further condition on `v`
 */
const currentOf = (withLdv: string, more = ''): string => `
  with huidig as materialized (
    select v.* from verwerkingenlog.versies v
    where v.verwerking_id = $1::uuid and not v.vervallen and (${withLdv}::boolean or v.ldv is null)${more}
      -- Compared with a number, each is looked up by the primary key: an anti-join would read the whole log.
      and v.versie = (select max(w.versie) from verwerkingenlog.versies w where w.actie_id = v.actie_id)
  )`;

/** The categories of the actions of a processing; empty when it is unknown or all of it was deleted. */
export async function readCategorieen(
  db: Db,
  verwerkingId: string,
  { withLdv }: { readonly withLdv: boolean },
): Promise<Categorie[]> {
  const { rows } = await db.query<{ categorie: number }>(
    `${currentOf('$2')} select distinct verwerkingenlog.categorie(vertrouwelijkheid, ooit_vertrouwelijk) as categorie from huidig`,
    [verwerkingId, withLdv],
  );
  return rows.map(({ categorie }) => categorieVan(categorie));
}

interface VerwerkingChange {
  readonly vertrouwelijkheid?: Vertrouwelijkheid | undefined;
  readonly bewaartermijn?: string | undefined;
  /** Whether lines of LDV change too. */
  readonly withLdv: boolean;
  /** What is forwarded to another logbook. */
  readonly forward?: ForwardPolicy;
  /** The proof log of processing, when there is one. */
  readonly proof?: { readonly writer: ProofWriter; readonly keys: IdentityKeys } | undefined;
}

/** Actions, and objects of theirs, that are changed together; one action may have more objects. */
const PATCH_ACTIONS = 500;
const PATCH_OBJECTS = 10_000;

/**
 * Gives every current action of a processing a new version. Hold the lock of the processing.
 * @returns the categories that the changed actions had: an action may have been added since they were read
 */
export async function patchVerwerking(
  db: Db,
  verwerkingId: string,
  change: VerwerkingChange,
  now: Date,
  auteur: Auteur,
): Promise<Categorie[]> {
  await preferIndexes(db);
  const found = new Set<Categorie>();
  const done = new Set<string>();
  for (;;) {
    // Until nothing was added meanwhile: appending takes no lock.
    const added = (await readActies(db, verwerkingId, change)).filter(({ actieId }) => !done.has(actieId));
    if (added.length === 0) return [...found];
    for (const ids of batchesOf(added)) {
      const next: NextVersie[] = [];
      for (const current of await readCurrentOf(db, verwerkingId, change, ids)) {
        found.add(categorieOf(current));
        next.push(await nextOf(current, change, now, auteur));
      }
      await replaceVersies(db, next, change.forward);
      for (const id of ids) done.add(id);
    }
  }
}

interface SizedActie {
  readonly actieId: string;
  readonly objects: number;
}

/** The actions of a processing. Read as a whole: each read looks up the newest version of every one of them. */
async function readActies(db: Db, verwerkingId: string, { withLdv }: VerwerkingChange): Promise<SizedActie[]> {
  const { rows } = await db.query<SizedActie & Record<string, unknown>>(
    `${currentOf('$2')} select actie_id as "actieId", json_array_length(objecten) as objects from huidig order by actie_id`,
    [verwerkingId, withLdv],
  );
  return rows;
}

/** Actions to be changed together. */
function* batchesOf(acties: readonly SizedActie[]): Generator<readonly string[]> {
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

async function readCurrentOf(
  db: Db,
  verwerkingId: string,
  { withLdv }: VerwerkingChange,
  ids: readonly string[],
): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `${currentOf('$2', ' and v.actie_id = any($3::uuid[])')} select ${SELECT_VERSIE}, v.objecten from huidig v`,
    [verwerkingId, withLdv, ids],
  );
  return rows.map(fromRow);
}

/** The version that a change makes of the current one, sealed where the proof log is on. */
async function nextOf(current: StoredVersie, change: VerwerkingChange, now: Date, auteur: Auteur): Promise<NextVersie> {
  const next = { ...changed(current, change, now, auteur), seed: null };
  if (change.proof === undefined) return { versie: next };
  const { writer, keys } = change.proof;
  const versie = changed(await revealWithinBudget(current, keys), change, now, auteur);
  const { seed, entry } = await writer.sealWithinBudget(proofRecordOf(versie));
  return { versie: { ...next, seed: encryptSeed(current, seed, keys) }, entry };
}

function changed<T extends Versie | StoredVersie>(
  current: T,
  { vertrouwelijkheid, bewaartermijn }: VerwerkingChange,
  now: Date,
  auteur: Auteur,
): T {
  return {
    ...current,
    ...auteur,
    versie: current.versie + 1,
    tijdstipRegistratie: moment(now),
    vertrouwelijkheid: vertrouwelijkheid ?? current.vertrouwelijkheid,
    ooitVertrouwelijk: current.ooitVertrouwelijk || (vertrouwelijkheid ?? 'normaal') !== 'normaal',
    bewaartermijn: bewaartermijn ?? current.bewaartermijn,
  };
}

/**
 * Has tables read by index until the transaction ends. For each row that is looked up in `locations` the planner counts all of its
 * partitions, although only one is opened, and would rather read the whole table.
 */
export async function preferIndexes(db: Db): Promise<void> {
  await db.query(`select set_config('enable_seqscan', 'off', true)`);
}
