/** Versions as the database stores them: their columns, their encryption, and reading them. */
import type { Db } from '../../database/transaction.ts';
import { OIN } from '../../lib/patterns.ts';
import { mapWithinBudget } from '../../lib/scheduling.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { MEMBER_NAMES, MEMBERS, PROOF_FORMAT } from '../domain/members.ts';
import { proofRecordOf } from '../domain/proof-parts.ts';
import { type GenummerdObject, moment, type Versie } from '../domain/verwerkingsactie.ts';

/** An object in the column `objecten`. */
interface StoredObject {
  readonly nr: number;
  readonly soort: string;
  /** Encrypted with the key of the row. */
  readonly id: string;
  /** Keyed hash of the identity. */
  readonly sleutel: string;
  readonly betrokkenheid?: string;
  readonly gegevens?: readonly string[];
}

/** A version as the table has it. */
export interface StoredVersie extends Omit<Versie, 'objecten'> {
  readonly keyName: string;
  /** The seed of its entry in the proof log, encrypted as the identifiers are; `null`: it has no entry. */
  readonly seed: string | null;
  /** The number that leads to that entry; given when it is stored. */
  readonly bewijsNr: number | null;
  readonly objecten: readonly StoredObject[];
}

/** The columns of `versies` as they are given: name, type, and the member of a version. `objecten` is apart, for it is sometimes read in part. */
export const VERSIE_COLUMNS: readonly (readonly [column: string, type: string, member: string])[] = [
  ...MEMBER_NAMES.map((name) => [MEMBERS[name].column, MEMBERS[name].type, name] as const),
  ['key_name', 'text', 'keyName'],
  ['seed', 'text', 'seed'],
];

/** Their names, separated by commas. */
export const VERSIE_NAMES = VERSIE_COLUMNS.map(([column]) => column).join(', ');

/** A row of `versies` as `SELECT_VERSIE` selects it, with `objecten`. */
export interface VersieRow extends Omit<StoredVersie, 'tijdstip' | 'tijdstipRegistratie'> {
  readonly tijdstip: Date;
  readonly tijdstipRegistratie: Date;
}

/** Selects the columns of `versies v`. */
export const SELECT_VERSIE = [...VERSIE_COLUMNS, ['proof_number', 'bigint', 'bewijsNr'] as const]
  .map(([column, , member]) => `v.${column} as "${member}"`)
  .join(', ');

/** A row as a version, with its times as strings. */
export function fromRow(row: VersieRow): StoredVersie {
  return { ...row, tijdstip: moment(row.tijdstip), tijdstipRegistratie: moment(row.tijdstipRegistratie) };
}

/** A version ready to be stored: identifiers encrypted with the current key, and hashed. */
export function protect(versie: Versie, keys: IdentityKeys, seed: string | null = null): StoredVersie {
  return stored(
    versie,
    keys,
    seed,
    versie.objecten.map((object) => protectObject(object, versie.actieId, keys)),
  );
}

/** The same for a version that may have very many objects. */
export async function protectWithinBudget(
  versie: Versie,
  keys: IdentityKeys,
  seed: string | null = null,
): Promise<StoredVersie> {
  const objecten = await mapWithinBudget(versie.objecten, (object) => protectObject(object, versie.actieId, keys));
  return stored(versie, keys, seed, objecten);
}

function stored(
  versie: Versie,
  keys: IdentityKeys,
  seed: string | null,
  objecten: readonly StoredObject[],
): StoredVersie {
  const { actieId, soortAfnemerId, afnemerId, ldv } = versie;
  // The receiver is stored in plain text only when it is certainly an organisation.
  const isPlain = afnemerId === null || isOrganisation(soortAfnemerId, afnemerId);
  return {
    ...versie,
    keyName: keys.current,
    seed,
    bewijsNr: null,
    afnemerId: isPlain ? afnemerId : `${CIPHERTEXT}${keys.encrypt(keys.current, actieId, afnemerId)}`,
    ldv: ldv === null ? null : keys.encrypt(keys.current, actieId, ldv),
    objecten,
  };
}

/** How the ciphertext of a receiver begins; only an OIN is stored in plain text. */
const CIPHERTEXT = 'gcm:';

/**
 * Whether an identification is certainly that of an organisation: only that is stored in plain text. Anything else may identify a person,
 * whatever its kind is called.
 */
export function isOrganisation(kind: string | null, id: string): boolean {
  return kind === 'OIN' && OIN.test(id);
}

function protectObject(object: GenummerdObject, actieId: string, keys: IdentityKeys): StoredObject {
  return {
    nr: object.nummer,
    soort: object.soortObjectId,
    id: keys.encrypt(keys.current, actieId, object.objectId),
    sleutel: keys.hash(keys.current, object.soortObjectId, object.objectId),
    ...(object.betrokkenheid === null ? {} : { betrokkenheid: object.betrokkenheid }),
    ...(object.soortenGegevens === null ? {} : { gegevens: object.soortenGegevens }),
  };
}

/** What goes to the database of a version, with its entry in the proof log when there is one. */
export interface SealedVersie {
  readonly versie: StoredVersie;
  readonly entry?: Uint8Array | undefined;
}

/** A version as it goes to the database, sealed when there is a proof log; its seed is encrypted with the key of its row. */
export function sealed(writer: ProofWriter | undefined, versie: Versie, keys: IdentityKeys): SealedVersie {
  if (writer === undefined) return { versie: protect(versie, keys) };
  const { seed, entry } = writer.seal(proofRecordOf(versie));
  return { versie: protect(versie, keys, encryptSeed(keys.current, versie.actieId, seed, keys)), entry };
}

/** The same for a version that may have very many objects. */
export async function sealedWithinBudget(
  writer: ProofWriter | undefined,
  versie: Versie,
  keys: IdentityKeys,
): Promise<SealedVersie> {
  if (writer === undefined) return { versie: await protectWithinBudget(versie, keys) };
  const { seed, entry } = await writer.sealWithinBudget(proofRecordOf(versie));
  const encrypted = encryptSeed(keys.current, versie.actieId, seed, keys);
  return { versie: await protectWithinBudget(versie, keys, encrypted), entry };
}

/** A seed as the row of its version has it, after the format of the entry. */
export function encryptSeed(keyName: string, actieId: string, seed: Uint8Array, keys: IdentityKeys): string {
  return keys.encrypt(keyName, actieId, `${PROOF_FORMAT} ${Buffer.from(seed).toString('base64')}`);
}

/**
 * The record of a stored version as its entry was made, and the seed.
 * @param versie the same in clear
 * @throws {Error} when the row has no seed, or it was not encrypted for this action with the key of its row
 */
export function provenRecord({ keyName, actieId, seed }: StoredVersie, versie: Versie, keys: IdentityKeys) {
  if (seed === null) throw new Error('the version has no seed');
  const [format, base64 = ''] = keys.decrypt(keyName, actieId, seed).split(' ');
  return { record: proofRecordOf(versie, Number(format)), seed: Buffer.from(base64, 'base64') };
}

/**
 * The version that a row holds; it may have very many objects.
 * @throws {UnknownKeyError} when it was encrypted with a key that is not configured
 */
export async function reveal(stored: StoredVersie, keys: IdentityKeys): Promise<Versie> {
  const { keyName, seed: _, bewijsNr: __, afnemerId, ldv, ...versie } = stored;
  const decrypt = (text: string): string => keys.decrypt(keyName, versie.actieId, text);
  const isEncrypted = afnemerId?.startsWith(CIPHERTEXT) === true;
  return {
    ...versie,
    afnemerId: isEncrypted ? decrypt(afnemerId.slice(CIPHERTEXT.length)) : afnemerId,
    ldv: ldv === null ? null : decrypt(ldv),
    objecten: await mapWithinBudget(stored.objecten, revealObject(stored, keys)),
  };
}

function revealObject(
  { keyName, actieId }: StoredVersie,
  keys: IdentityKeys,
): (object: StoredObject) => GenummerdObject {
  return (object) => ({
    nummer: object.nr,
    soortObjectId: object.soort,
    objectId: keys.decrypt(keyName, actieId, object.id),
    betrokkenheid: object.betrokkenheid ?? null,
    soortenGegevens: object.gegevens ?? null,
  });
}

/** The positions of each person in a version: by keyed hash, the positions in `objecten` counted from 0. */
export function positionsByPerson({ objecten }: Pick<StoredVersie, 'objecten'>): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [position, { sleutel }] of objecten.entries()) {
    const known = positions.get(sleutel);
    if (known === undefined) positions.set(sleutel, [position]);
    else known.push(position);
  }
  return positions;
}

/** One version of an action; undefined when there is no such version. */
export async function readVersie(db: Db, actieId: string, versie: number): Promise<StoredVersie | undefined> {
  const { rows } = await db.query<VersieRow>({
    name: 'verwerkingenlog-read-versie',
    text: `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v where v.actie_id = $1::uuid and v.versie = $2::integer`,
    values: [actieId, versie],
  });
  return rows[0] === undefined ? undefined : fromRow(rows[0]);
}

/** The newest version of an action, unless the action is unknown or deleted. */
export async function readCurrent(db: Db, actieId: string): Promise<StoredVersie | undefined> {
  const last = await readLast(db, actieId);
  return last?.vervallen === true ? undefined : last;
}

/** The newest version of an action, also when that ends it. */
export async function readLast(db: Db, actieId: string): Promise<StoredVersie | undefined> {
  const { rows } = await db.query<VersieRow>({
    name: 'verwerkingenlog-read-last',
    text: `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v where v.actie_id = $1::uuid order by v.versie desc limit 1`,
    values: [actieId],
  });
  return rows[0] === undefined ? undefined : fromRow(rows[0]);
}

/** The versions of a month in batches, in the order of their identity. */
export async function* versionsOfMonth(
  db: Db,
  { from, to }: { readonly from: string; readonly to: string },
  batch: number,
): AsyncGenerator<StoredVersie[]> {
  for (let after: readonly [string, number] = [from, 0]; ; ) {
    const { rows } = await db.query<VersieRow>(
      `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
       where (v.actie_id, v.versie) > ($1::uuid, $2::integer) and v.actie_id < $3::uuid
       order by v.actie_id, v.versie limit $4::integer`,
      [...after, to, batch],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [last.actieId, last.versie];
    yield rows.map(fromRow);
  }
}

/** Which objects to read: those of a person, by the hashes of each key; one by its number; or without either the first ones. */
interface WantedObjects {
  readonly hashes?: readonly string[] | undefined;
  readonly number?: number;
  /** At most so many of each action. */
  readonly most?: number;
}

/** A current version with the objects that were wanted, and how many it has. */
export interface PartOfVersie {
  readonly stored: StoredVersie;
  readonly objects: number;
}

/** The current versions of actions that are not deleted, in the order asked: other objects, which may be very many, do not leave the database. */
export async function readCurrentParts(
  db: Db,
  acties: readonly string[],
  { hashes, number, most }: WantedObjects,
): Promise<PartOfVersie[]> {
  const { rows } = await db.query<VersieRow & { aantal: number }>({
    name: 'verwerkingenlog-read-current-parts',
    // Once for all: not for each version of an action that has very many.
    text: `
      with latest as materialized (
        select actie_id, max(versie) as versie from verwerkingenlog.versies where actie_id = any($1::uuid[]) group by actie_id
      )
      select ${SELECT_VERSIE}, json_array_length(v.objecten) as aantal,
        case when $2::uuid[] is null and $3::integer is null and json_array_length(v.objecten) <= $4::integer then v.objecten
          else coalesce((select json_agg(o.object order by o.place) from (
            select * from json_array_elements(v.objecten) with ordinality as e(object, place)
            where ($2::uuid[] is null or (e.object ->> 'sleutel')::uuid = any($2::uuid[]))
              and ($3::integer is null or (e.object ->> 'nr')::integer = $3::integer) order by place limit $4::integer
          ) o), '[]') end as objecten
      from verwerkingenlog.versies v join latest l on l.actie_id = v.actie_id and l.versie = v.versie
      where v.actie_id = any($1::uuid[]) and not v.vervallen`,
    values: [acties, hashes ?? null, number ?? null, most ?? null],
  });
  const parts = new Map(rows.map(({ aantal, ...row }) => [row.actieId, { stored: fromRow(row), objects: aantal }]));
  return acties.flatMap((actieId) => parts.get(actieId.toLowerCase()) ?? []);
}

/** Every version of an action, the first one first. */
export async function readHistory(db: Db, actieId: string): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v where v.actie_id = $1::uuid order by v.versie`,
    [actieId],
  );
  return rows.map(fromRow);
}

/** How far ahead of the database's clock a moment may lie (milliseconds): what is stored under a later one outlives its term. */
const MAX_AHEAD_MS = 86_400_000;

/** The latest moment that is taken (milliseconds since 1970), for one that is to be judged. */
export type LatestMoment = (moment: number) => number | Promise<number>;

/**
 * Asks the database only for a moment that lies beyond the last answer: that clock moves forward, so an earlier one is within bounds. For
 * what was done lately that is once a day.
 */
export function createLatestMoment(db: Db): LatestMoment {
  let latest = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<number> => {
    const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
    latest = (rows[0]?.now.getTime() ?? Number.NaN) + MAX_AHEAD_MS;
    return latest;
  };
  return (moment) => (moment > latest ? ask() : latest);
}
