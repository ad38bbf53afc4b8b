/** Locks of what is changed, and the statements of a change. */

import type { Db } from '../../database/transaction.ts';
import type { ForwardPolicy } from '../../seams/processing-log.ts';
import { NEXT_PROOF_NUMBER, type ProofWriter } from '../../seams/proof-log.ts';
import { type Categorie, categorieOf, categorieVan } from '../domain/access.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { proofRecordOf } from '../domain/proof-parts.ts';
import { type Auteur, moment, type Versie, type Vertrouwelijkheid } from '../domain/verwerkingsactie.ts';
import { type Appended, type AppendTarget, appendVersies, wasForwarded } from './append.ts';
import { type NextVersie, replaceDistributed } from './distributed.ts';
import { encryptSeed, type SealedVersie } from './proof.ts';
import {
  fromRow,
  positionsByPerson,
  revealWithinBudget,
  SELECT_VERSIE,
  type StoredVersie,
  VERSIE_COLUMNS,
  VERSIE_NAMES,
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
export async function tryLockChanges(db: Db, names: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>(
    `select coalesce(bool_and(pg_try_advisory_xact_lock(hashtextextended('verwerkingenlog ' || naam, 0))), true) as locked
     from unnest($1::text[]) as n(naam)`,
    [[...new Set(names)].sort()],
  );
  return rows[0]?.locked ?? false;
}

/** Locks these actions and processings until the transaction ends, in one order so that there is no deadlock. */
export async function lockChanges(
  db: Db,
  what: { readonly acties?: readonly string[]; readonly verwerkingen?: readonly (string | null)[] },
): Promise<void> {
  const names = [...(what.acties ?? []).map(lockOfActie), ...(what.verwerkingen ?? []).flatMap(lockOfVerwerking)];
  await db.query(
    `select pg_advisory_xact_lock(hashtextextended('verwerkingenlog ' || naam, 0)) from unnest($1::text[]) as n(naam)`,
    [[...new Set(names)].sort()],
  );
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
    `delete from verwerkingenlog.vindplaatsen p using unnest($1::uuid[]) as s(sleutel)
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
 */
const currentOf = (withLdv: string): string => `
  with huidig as materialized (
    select v.* from verwerkingenlog.versies v
    where v.verwerking_id = $1::uuid and not v.vervallen and (${withLdv}::boolean or v.ldv is null)
      -- Compared with a number, each is looked up by the primary key: an anti-join would read the whole log.
      and v.versie = (select max(w.versie) from verwerkingenlog.versies w where w.actie_id = v.actie_id)
  )`;

/** The categories of the actions of a processing; empty when it is unknown or all of it was deleted. */
export async function readCategorieen(
  db: Db,
  verwerkingId: string,
  { withLdv }: { readonly withLdv: boolean },
): Promise<Categorie[]> {
  const { rows } = await db.query<CategorieRow>(
    `${currentOf('$2')} select distinct verwerkingenlog.categorie(vertrouwelijkheid, ooit_vertrouwelijk) as categorie from huidig`,
    [verwerkingId, withLdv],
  );
  return categorieen(rows);
}

interface CategorieRow {
  readonly categorie: number;
}

function categorieen(rows: readonly CategorieRow[]): Categorie[] {
  return rows.map(({ categorie }) => categorieVan(categorie));
}

interface VerwerkingChange {
  readonly vertrouwelijkheid?: Vertrouwelijkheid | undefined;
  readonly bewaartermijn?: string | undefined;
  /** Whether lines of LDV change too. */
  readonly withLdv: boolean;
  /** What is forwarded to another logbook. */
  readonly forward?: ForwardPolicy;
  /** Whether the log is distributed over several machines. */
  readonly distributed: boolean;
  /** The proof log of processing, when there is one. */
  readonly proof?: { readonly writer: ProofWriter; readonly keys: IdentityKeys } | undefined;
}

/** The columns that a new version changes. */
const CHANGED: Readonly<Record<string, string>> = {
  versie: 'versie + 1',
  tijdstip_registratie: '$2::timestamptz',
  door: '$3::text',
  verzoek_id: '$4::text',
  vertrouwelijkheid: 'coalesce($5::text, vertrouwelijkheid)',
  ooit_vertrouwelijk: `ooit_vertrouwelijk or coalesce($5::text, 'normaal') <> 'normaal'`,
  bewaartermijn: 'coalesce($6::text, bewaartermijn)',
};

/** What the new versions get in the proof log: parameters from this one on are their actions, seeds and entries. */
interface ProofParameters {
  readonly first: number;
}

const patch = (
  more: string,
  proof?: ProofParameters,
): string => `${currentOf('$7')}${proof === undefined ? '' : withProof(proof)}, nieuw as (
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, vervalt_op, bewijs_nr)
    select ${VERSIE_COLUMNS.map(([column]) => (column === 'zaad' ? 'nieuw_zaad' : (CHANGED[column] ?? column))).join(', ')}, objecten,
      verwerkingenlog.vervalt_op(tijdstip, coalesce($6::text, bewaartermijn)), nieuw_nr
    from huidig ${proof === undefined ? 'cross join (select null::text as nieuw_zaad, null::bigint as nieuw_nr) as z' : 'join bewijs using (actie_id)'}
    returning actie_id, versie, tijdstip, objecten,
      verwerkingenlog.categorie(vertrouwelijkheid, ooit_vertrouwelijk) as categorie
  ), personen as materialized (
    -- Apart, so that the list of an action is read once and not for each of its persons.
    select distinct n.actie_id, n.versie, n.tijdstip, n.categorie, (o.object ->> 'sleutel')::uuid as sleutel
    from nieuw n, json_array_elements(n.objecten) as o(object)
  ), locaties as (
    update verwerkingenlog.vindplaatsen p set versie = n.versie, categorie = n.categorie
    from personen n where p.sleutel = n.sleutel and p.tijdstip = n.tijdstip and p.actie_id = n.actie_id
  )${more}
  select distinct verwerkingenlog.categorie(vertrouwelijkheid, ooit_vertrouwelijk) as categorie from huidig`;

/** Only what was sealed gets a new version. */
function withProof({ first }: ProofParameters): string {
  return `, bewijs as materialized (
    select b.*, ${NEXT_PROOF_NUMBER} as nieuw_nr
    from unnest($${first}::uuid[], $${first + 1}::text[], $${first + 2}::bytea[]) as b(actie_id, nieuw_zaad, vermelding)
    where b.actie_id in (select actie_id from huidig)
  ), rij as (
    insert into proof.queue (log, nr, vermelding) select 'verwerkingen', nieuw_nr, vermelding from bewijs
  )`;
}

const PATCH = patch('');
const PATCH_AND_PROVE = patch('', { first: 8 });
/** Notes what another logbook has and will not see changed. */
const NOTE = `, meldingen as (
    insert into verwerkingenlog.ldv_doorgifte_meldingen (soort, actie_id, versie)
    select 'wijziging', n.actie_id, n.versie from nieuw n where ${wasForwarded('n', '$8')}
  )`;
const PATCH_AND_NOTE = patch(NOTE);
const PATCH_NOTE_AND_PROVE = patch(NOTE, { first: 9 });

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
  const { proof } = change;
  if (change.distributed) return await patchDistributed(db, verwerkingId, change, now, auteur);
  if (proof === undefined) return await patchWith(db, verwerkingId, change, now, auteur);
  const found = new Set<Categorie>();
  for (let after = FIRST_ID; ; ) {
    const current = await readCurrentOf(db, verwerkingId, change.withLdv, after);
    const last = current.at(-1);
    if (last === undefined) return [...found];
    after = last.actieId;
    const entries: SealedChange[] = [];
    for (const stored of current) entries.push(await sealNext(stored, change, now, auteur, proof));
    for (const one of await patchWith(db, verwerkingId, change, now, auteur, entries)) found.add(one);
  }
}

/** Lower than any identity. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** Versions that are sealed before they are added. */
const SEAL_BATCH = 500;

async function readCurrentOf(db: Db, verwerkingId: string, withLdv: boolean, after: string): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `${currentOf('$2')} select ${SELECT_VERSIE}, v.objecten from huidig v
     where v.actie_id > $3::uuid order by v.actie_id limit $4::integer`,
    [verwerkingId, withLdv, after, SEAL_BATCH],
  );
  return rows.map(fromRow);
}

/** An action with the seed and entry of the version that a change makes of it. */
interface SealedChange {
  readonly actieId: string;
  readonly zaad: string;
  readonly entry: Uint8Array;
}

/** A version as `CHANGED` has it. */
function changed<T extends Versie | StoredVersie>(current: T, change: VerwerkingChange, now: Date, auteur: Auteur): T {
  const { vertrouwelijkheid, bewaartermijn } = change;
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

/** Seals what a change will make of a version. */
async function sealNext(
  stored: StoredVersie,
  change: VerwerkingChange,
  now: Date,
  auteur: Auteur,
  { writer, keys }: NonNullable<VerwerkingChange['proof']>,
): Promise<SealedChange> {
  const current = await revealWithinBudget(stored, keys);
  const { seed, entry } = await writer.sealWithinBudget(proofRecordOf(changed(current, change, now, auteur)));
  return { actieId: stored.actieId, zaad: encryptSeed(stored, seed, keys), entry };
}

/** The same on several machines: what is read is written again, for a statement there cannot write to both tables. */
async function patchDistributed(
  db: Db,
  verwerkingId: string,
  change: VerwerkingChange,
  now: Date,
  auteur: Auteur,
): Promise<Categorie[]> {
  const { proof, forward } = change;
  const found = new Set<Categorie>();
  for (let after = FIRST_ID; ; ) {
    const current = await readCurrentOf(db, verwerkingId, change.withLdv, after);
    const last = current.at(-1);
    if (last === undefined) return [...found];
    after = last.actieId;
    for (const versie of current) found.add(categorieOf(versie));
    const next: NextVersie[] = [];
    for (const stored of current) {
      const seal = proof === undefined ? undefined : await sealNext(stored, change, now, auteur, proof);
      next.push({ versie: { ...changed(stored, change, now, auteur), zaad: seal?.zaad ?? null }, entry: seal?.entry });
    }
    await replaceDistributed(db, next, forward);
  }
}

async function patchWith(
  db: Db,
  verwerkingId: string,
  change: VerwerkingChange,
  now: Date,
  { door, verzoekId }: Auteur,
  entries?: readonly SealedChange[],
): Promise<Categorie[]> {
  const { forward } = change;
  const plain = forward === undefined ? PATCH : PATCH_AND_NOTE;
  const proven = forward === undefined ? PATCH_AND_PROVE : PATCH_NOTE_AND_PROVE;
  const { rows } = await db.query<CategorieRow>(entries === undefined ? plain : proven, [
    verwerkingId,
    now,
    door,
    verzoekId,
    change.vertrouwelijkheid ?? null,
    change.bewaartermijn ?? null,
    change.withLdv,
    ...(forward === undefined ? [] : [forward === 'alles']),
    ...(entries === undefined
      ? []
      : [
          entries.map(({ actieId }) => actieId),
          entries.map(({ zaad }) => zaad),
          entries.map(({ entry }) => Buffer.from(entry)),
        ]),
  ]);
  return categorieen(rows);
}

/**
 * Has tables read by index until the transaction ends. For each row that is looked up in `vindplaatsen` the planner counts all of its
 * partitions, although only one is opened, and would rather read the whole table.
 */
export async function preferIndexes(db: Db): Promise<void> {
  await db.query(`select set_config('enable_seqscan', 'off', true)`);
}
