/** Persons' identifiers at rest: encrypted with AES-256-GCM, found by HMAC-SHA-256. @see NIST SP 800-38D, RFC 5869 */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomUUID } from 'node:crypto';
import { hmacSha256, type Octets, octets } from '../../lib/hmac.ts';
import { OIN } from '../../lib/patterns.ts';
import { Problem } from '../../lib/problem.ts';
import { mapWithinBudget } from '../../lib/scheduling.ts';
import type { ProofWriter, Sealed } from '../../proof/proof-log.ts';
import { verwerkingenlogProblems } from '../problems.ts';
import { PROOF_FORMAT } from './members.ts';
import { proofRecordOf } from './proof-parts.ts';
import { type GenummerdObject, personKey, type Versie } from './verwerkingsactie.ts';

export class UnknownKeyError extends Problem {
  constructor(name: string) {
    const message = `VERWERKINGENLOG_KEY has no key named ${name}`;
    super(verwerkingenlogProblems.sleutelOntbreekt, {
      headers: { 'retry-after': '5' },
      cause: new Error(message),
    });
    this.name = 'UnknownKeyError';
    this.message = message;
  }
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Digits of an action's identity that name a span of 2^32 ms (50 days). Each has its own key, because one is safe for 2^32 random IVs. */
const SPAN_DIGITS = 4;
const REMEMBERED_SPANS = 64;

interface Key {
  readonly hash: Octets;
  readonly idempotency: Octets;
  readonly check: Octets;
  readonly cipher: (actieId: string) => KeyObject;
}

export type IdentityKeys = ReturnType<typeof createIdentityKeys>;

/** Functions that take the name of a key throw an `UnknownKeyError`. @param setting comma list of `name:base64 of 32 bytes`, the current first */
export function createIdentityKeys(setting: string) {
  const keys = new Map<string, Key>();
  for (const item of setting.split(',')) {
    const [name = '', secret = ''] = item.split(':');
    keys.set(name, deriveKey(Buffer.from(secret, 'base64')));
  }
  const names: readonly string[] = [...keys.keys()];
  const [current = ''] = names;
  const find = (name: string): Key => {
    const key = keys.get(name);
    if (key === undefined) throw new UnknownKeyError(name);
    return key;
  };
  return {
    current,
    /** The current one first. */
    names,
    /** Hashes idempotency keys: the same in all instances, whichever key is their first. */
    hashing: current,
    has: (name: string) => keys.has(name),
    /** The same however kind and number are written. 128 bits are enough to search by: results are compared with the identity itself. */
    hash: (name: string, soortObjectId: string, objectId: string) =>
      hmacUuid(find(name).hash, `persoon\n${personKey({ soortObjectId, objectId })}`),
    hashIdempotency: (name: string, text: string) => hmacUuid(find(name).idempotency, text),
    checkValue: (name: string) => Buffer.from(hmacSha256(find(name).check, name), 'latin1').toString('base64'),
    encrypt: (name: string, actieId: string, plain: string) => encrypt(find(name).cipher(actieId), actieId, plain),
    /** @throws {Error} when the text was not encrypted by this key for this action */
    decrypt: (name: string, actieId: string, stored: string) =>
      decrypt(find(name).cipher(actieId), actieId, Buffer.from(stored, 'base64')),
  };
}

/** The first 128 bits of a hash in the form of a UUID: the database stores and compares those as 16 bytes. */
function hmacUuid(key: Octets, text: string): string {
  const hex = hmacSha256(key, text, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

function deriveKey(secret: Buffer): Key {
  const spans = new Map<string, KeyObject>();
  return {
    hash: octets(derive(secret, 'zoeken')),
    idempotency: octets(derive(secret, 'idempotentie')),
    check: octets(derive(secret, 'controle')),
    cipher(actieId) {
      const span = actieId.slice(0, SPAN_DIGITS);
      const known = spans.get(span);
      if (known !== undefined) return known;
      if (spans.size >= REMEMBERED_SPANS) spans.clear();
      const key = createSecretKey(derive(secret, `versleutelen ${span}`));
      spans.set(span, key);
      return key;
    },
  };
}

function derive(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `koppelvlak verwerkingenlog ${purpose}`, 32));
}

/** Bound to the action: a text that is moved to another action does not decrypt. */
function encrypt(key: KeyObject, actieId: string, plain: string): string {
  // 96 random bits, without the version and variant: Node keeps entropy ready for UUIDs only.
  const uuid = randomUUID();
  const iv = Buffer.from(uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(24), 'hex');
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(actieId));
  return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

function decrypt(key: KeyObject, actieId: string, stored: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, stored.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(actieId))
    .setAuthTag(stored.subarray(-TAG_BYTES));
  return decipher.update(stored.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

interface StoredObject {
  readonly nr: number;
  readonly soort: string;
  /** Encrypted with the key of the row. */
  readonly id: string;
  /** Keyed hash of the person. */
  readonly sleutel: string;
  readonly betrokkenheid?: string;
  readonly gegevens?: readonly string[];
}

export interface StoredVersie extends Omit<Versie, 'objecten'> {
  readonly keyName: string;
  /** The seed of its entry in the proof log, encrypted like the identifiers; `null`: it has no entry. */
  readonly seed: string | null;
  /** Leads to that entry; assigned when it is stored. */
  readonly bewijsNr: number | null;
  readonly objecten: readonly StoredObject[];
}

export interface SealedVersie {
  readonly versie: StoredVersie;
  readonly entry?: Uint8Array | undefined;
}

/** A version as it is stored: sealed when there is a proof log, identifiers encrypted with the current key and hashed. */
export function toStore(writer: ProofWriter | undefined, versie: Versie, keys: IdentityKeys): SealedVersie {
  const sealed = writer?.seal(proofRecordOf(versie));
  return protect(
    versie,
    keys,
    sealed,
    versie.objecten.map((object) => protectObject(object, versie.actieId, keys)),
  );
}

/** The same for a version that may have very many objects. Waiting for each costs an ordinary append a tenth of its processor time. */
export async function toStoreWithinBudget(
  writer: ProofWriter | undefined,
  versie: Versie,
  keys: IdentityKeys,
): Promise<SealedVersie> {
  const sealed = await writer?.sealWithinBudget(proofRecordOf(versie));
  const objecten = await mapWithinBudget(versie.objecten, (object) => protectObject(object, versie.actieId, keys));
  return protect(versie, keys, sealed, objecten);
}

function protect(
  versie: Versie,
  keys: IdentityKeys,
  sealed: Sealed | undefined,
  objecten: readonly StoredObject[],
): SealedVersie {
  const { actieId, soortAfnemerId, afnemerId, ldv } = versie;
  const { current: keyName } = keys;
  const isPlain = afnemerId === null || isOrganisation(soortAfnemerId, afnemerId);
  return {
    versie: {
      ...versie,
      keyName,
      seed: sealed === undefined ? null : encryptSeed(keyName, actieId, sealed.seed, keys),
      bewijsNr: null,
      afnemerId: isPlain ? afnemerId : `${CIPHERTEXT}${keys.encrypt(keyName, actieId, afnemerId)}`,
      ldv: ldv === null ? null : keys.encrypt(keyName, actieId, ldv),
      objecten,
    },
    entry: sealed?.entry,
  };
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

/** How the ciphertext of a receiver begins; only a certain organisation is stored in plain text. */
const CIPHERTEXT = 'gcm:';

/** Any other identification may be that of a person, whatever its kind is called. */
export function isOrganisation(kind: string | null, id: string): boolean {
  return kind === 'OIN' && OIN.test(id);
}

export function encryptSeed(keyName: string, actieId: string, seed: Uint8Array, keys: IdentityKeys): string {
  return keys.encrypt(keyName, actieId, `${PROOF_FORMAT} ${Buffer.from(seed).toString('base64')}`);
}

/**
 * The record of a stored version as it was when its entry was made, and the seed. @param versie the same in clear
 * @throws {Error} when the row has no seed, or it was not encrypted for this action with the key of its row
 */
export function provenRecord({ keyName, actieId, seed }: StoredVersie, versie: Versie, keys: IdentityKeys) {
  if (seed === null) throw new Error('the version has no seed');
  const [format, base64 = ''] = keys.decrypt(keyName, actieId, seed).split(' ');
  return { record: proofRecordOf(versie, Number(format)), seed: Buffer.from(base64, 'base64') };
}

/** @throws {UnknownKeyError} when it was encrypted with a key that is not configured; {Error} when it cannot be decrypted */
export async function reveal(stored: StoredVersie, keys: IdentityKeys): Promise<Versie> {
  const { keyName, seed: _, bewijsNr: __, afnemerId, ldv, ...versie } = stored;
  const decrypt = (text: string): string => keys.decrypt(keyName, versie.actieId, text);
  return {
    ...versie,
    afnemerId: afnemerId?.startsWith(CIPHERTEXT) ? decrypt(afnemerId.slice(CIPHERTEXT.length)) : afnemerId,
    ldv: ldv === null ? null : decrypt(ldv),
    objecten: await mapWithinBudget(stored.objecten, ({ nr, soort, id, betrokkenheid, gegevens }) => ({
      nummer: nr,
      soortObjectId: soort,
      objectId: decrypt(id),
      betrokkenheid: betrokkenheid ?? null,
      soortenGegevens: gegevens ?? null,
    })),
  };
}

export function hideIdentifiers({ keyName: _, seed: __, bewijsNr: ___, ...stored }: StoredVersie) {
  const { soortAfnemerId, afnemerId, ldv, objecten } = stored;
  const isShown = afnemerId === null || isOrganisation(soortAfnemerId, afnemerId);
  return {
    ...stored,
    afnemerId: isShown ? afnemerId : '(hidden)',
    ldv: ldv === null ? null : '(hidden)',
    objecten: objecten.map(({ nr, soort }) => ({ nr, soort })),
  };
}

/** By keyed hash of the person, counted from 0. */
export function positionsByPerson({ objecten }: Pick<StoredVersie, 'objecten'>): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [position, { sleutel }] of objecten.entries()) {
    const known = positions.get(sleutel);
    if (known === undefined) positions.set(sleutel, [position]);
    else known.push(position);
  }
  return positions;
}
