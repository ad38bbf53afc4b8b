import { mapWithinBudget } from '../../kernel/scheduling.ts';
import { isOrganisation } from '../domain/identification.ts';
import type { IdentityKeys, KeyName } from '../domain/identity-keys.ts';
import type { GenummerdObject, Versie } from '../domain/verwerkingsactie.ts';

/** An object in the column `objecten`. */
export interface StoredObject {
  readonly nr: number;
  readonly soort: string;
  /** As it came, or encrypted with the key of the row. */
  readonly id: string;
  /** Keyed hash of the identity. */
  readonly sleutel: string;
  readonly betrokkenheid?: string;
  readonly gegevens?: readonly string[];
}

/** A version as it stands in the table. */
export interface StoredVersie extends Omit<Versie, 'objecten'> {
  readonly sleutelnaam: KeyName;
  readonly objecten: readonly StoredObject[];
}

/** A version ready to be kept: identifiers encrypted with the current key, and hashed. */
export function protect(versie: Versie, keys: IdentityKeys): StoredVersie {
  const objecten = versie.objecten.map((object) => protectObject(object, versie.actieId, keys));
  return { ...versie, sleutelnaam: keys.current, afnemerId: protectAfnemer(versie, keys), objecten };
}

/** The same for a version that may have very many objects. */
export async function protectInTurns(versie: Versie, keys: IdentityKeys): Promise<StoredVersie> {
  const objecten = await mapWithinBudget(versie.objecten, (object) => protectObject(object, versie.actieId, keys));
  return { ...versie, sleutelnaam: keys.current, afnemerId: protectAfnemer(versie, keys), objecten };
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

/**
 * The version that a row holds.
 * @throws {UnknownKeyError} when it was encrypted with a key that is not configured
 */
export function reveal(stored: StoredVersie, keys: IdentityKeys): Versie {
  const { sleutelnaam, objecten, ...versie } = stored;
  return {
    ...versie,
    afnemerId: revealAfnemer(stored, keys),
    objecten: objecten.map((object) => revealObject(object, stored, keys)),
  };
}

/**
 * The same for a version that may have very many objects.
 * @throws {UnknownKeyError} as `reveal`
 */
export async function revealInTurns(stored: StoredVersie, keys: IdentityKeys): Promise<Versie> {
  const { sleutelnaam, objecten, ...versie } = stored;
  return {
    ...versie,
    afnemerId: revealAfnemer(stored, keys),
    objecten: await mapWithinBudget(objecten, (object) => revealObject(object, stored, keys)),
  };
}

function revealObject(object: StoredObject, row: StoredVersie, keys: IdentityKeys): GenummerdObject {
  return {
    nummer: object.nr,
    soortObjectId: object.soort,
    objectId: keys.decrypt(row.sleutelnaam, row.actieId, object.id),
    betrokkenheid: object.betrokkenheid ?? null,
    soortenGegevens: object.gegevens ?? null,
  };
}

/** A ciphertext as it is marked; longer than anything that was ever kept as it came (40 characters). */
const CIPHERTEXT = /^gcm:([A-Za-z0-9+/]{38,}={0,2})$/;

/** Who received the data is kept as it came only when it is surely an organisation. */
function protectAfnemer({ actieId, soortAfnemerId, afnemerId }: Versie, keys: IdentityKeys): string | null {
  if (afnemerId === null || keys.current === null || isOrganisation(soortAfnemerId, afnemerId)) return afnemerId;
  return `gcm:${keys.encrypt(keys.current, actieId, afnemerId)}`;
}

function revealAfnemer(stored: StoredVersie, keys: IdentityKeys): string | null {
  const { actieId, sleutelnaam, soortAfnemerId, afnemerId } = stored;
  if (afnemerId === null || sleutelnaam === null) return afnemerId;
  const ciphertext = CIPHERTEXT.exec(afnemerId)?.[1];
  if (ciphertext !== undefined) return keys.decrypt(sleutelnaam, actieId, ciphertext);
  // Earlier versions of the log encrypted it for this kind alone, and did not mark it.
  return soortAfnemerId === 'BSN' ? keys.decrypt(sleutelnaam, actieId, afnemerId) : afnemerId;
}

/** Where each person stands in a version: by keyed hash, the places in `objecten` counted from 0. */
export function placesByPerson({ objecten }: Pick<StoredVersie, 'objecten'>): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, { sleutel }] of objecten.entries()) {
    const known = places.get(sleutel);
    if (known === undefined) places.set(sleutel, [place]);
    else known.push(place);
  }
  return places;
}
