/** Who somebody is however that is written, and persons' identifiers at rest: encrypted with AES-256-GCM, found by HMAC-SHA-256. @see NIST SP 800-38D, RFC 5869 */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomUUID } from 'node:crypto';
import { hmacSha256, type Octets, octets } from '../../lib/hmac.ts';
import { Problem } from '../../lib/problem.ts';
import { verwerkingenlogProblems } from '../problems.ts';

/** A person's identification, as callers write it. */
export interface Person {
  readonly soortObjectId: string;
  readonly objectId: string;
}

/**
 * Whether a kind of identification means a citizen service number. The standard has no closed list of kinds, and callers write it in many
 * ways: ` bsn`, `B.S.N.`, `BSN:`, `Burgerservicenummer`, its older name, its OID or its address in FHIR.
 */
export function isBsnKind(kind: unknown): boolean {
  return typeof kind === 'string' && BSN_KINDS.has(lettersAndDigits(kind).toLowerCase());
}

const BSN_KINDS: ReadonlySet<string> = new Set(
  [
    ...['bsn', 'burgerservicenummer', 'sofi', 'sofinummer'],
    ...['2.16.840.1.113883.2.4.6.3', 'urn:oid:2.16.840.1.113883.2.4.6.3', 'http://fhir.nl/fhir/NamingSystem/bsn'],
  ].map((kind) => lettersAndDigits(kind).toLowerCase()),
);

/** The nine digits of a citizen service number, however it is punctuated; undefined when it has other characters than digits. */
export function bsnDigits(text: string): string | undefined {
  const digits = lettersAndDigits(text).replaceAll(/\p{Nd}/gu, decimal);
  if (!/^\d+$/.test(digits)) return undefined;
  const number = digits.replace(/^0+/, '').padStart(BSN_DIGITS, '0');
  return number.length === BSN_DIGITS ? number : undefined;
}

const BSN_DIGITS = 9;

/** A digit of any script as one of ASCII. Those of a script follow each other by tens. */
function decimal(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value % 10);
}

/** Also without marks of no width. */
function lettersAndDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The form that a person is looked up by. */
function normalPerson(person: Person): Person {
  const { soortObjectId, objectId } = person;
  if (soortObjectId === 'BSN' && /^\d{9}$/.test(objectId)) return person;
  if (isBsnKind(soortObjectId)) return { soortObjectId: 'BSN', objectId: bsnDigits(objectId) ?? objectId };
  const kind = soortObjectId
    .normalize('NFKC')
    .replaceAll(/[\s.\p{Cf}]/gu, '')
    .toLowerCase();
  // What consists of such characters only stays as it is.
  return { soortObjectId: kind === '' ? soortObjectId : kind, objectId };
}

/** A person as one text: the same for every way of writing, and different for any two persons. */
export function personKey(person: Person): string {
  return personText(normalPerson(person));
}

/** An identification as one text, different for any two whatever is in them. */
function personText({ soortObjectId, objectId }: Person): string {
  // A kind is never empty, so nothing else begins with a line break.
  return soortObjectId.includes('\n')
    ? `\n${JSON.stringify([soortObjectId, objectId])}`
    : `${soortObjectId}\n${objectId}`;
}

export function isSamePerson(one: Person, other: Person): boolean {
  return personKey(one) === personKey(other);
}

export interface IdentityKeys {
  /** The name of the key that new versions are written with. */
  readonly current: string;
  /** Every key that can be read with, the current one first. */
  readonly names: readonly string[];
  /** The key that idempotency keys are hashed with: the same in all instances, whichever key is their first. */
  readonly hashing: string;
  has(name: string): boolean;
  /** The keyed hash of a person, in the form of a UUID: the same however kind and number are written. @throws {UnknownKeyError} */
  hash(name: string, soortObjectId: string, objectId: string): string;
  /** The keyed hash of a text that belongs to an idempotency key, in the form of a UUID. @throws {UnknownKeyError} */
  hashIdempotency(name: string, text: string): string;
  /** Recognises a key without giving it away. @throws {UnknownKeyError} */
  checkValue(name: string): string;
  /** @throws {UnknownKeyError} */
  encrypt(name: string, actieId: string, plain: string): string;
  /** @throws {UnknownKeyError} and {Error} when the text was not encrypted by this key for this action */
  decrypt(name: string, actieId: string, stored: string): string;
}

/** A version was encrypted with a key that the configuration does not have. */
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
/**
 * Each span of 2^32 ms (50 days) has a derived key of its own, for one key bears 2^32 random IVs. The first digits of an action's
 * identity name the span.
 */
const SPAN_DIGITS = 4;
const REMEMBERED_SPANS = 64;

interface Key {
  readonly hash: Octets;
  readonly idempotency: Octets;
  readonly check: Octets;
  readonly cipher: (actieId: string) => KeyObject;
}

/** @param setting comma list of `name:base64 of 32 bytes`, the current key first */
export function createIdentityKeys(setting: string): IdentityKeys {
  const keys = new Map<string, Key>();
  for (const item of setting.split(',')) {
    const [name = '', secret = ''] = item.split(':');
    keys.set(name, deriveKey(Buffer.from(secret, 'base64')));
  }
  const names = [...keys.keys()];
  const [current = ''] = names;
  const find = (name: string): Key => {
    const key = keys.get(name);
    if (key === undefined) throw new UnknownKeyError(name);
    return key;
  };
  return {
    current,
    names,
    hashing: current,
    has: (name) => keys.has(name),
    // 128 bits are enough to search by; what is found is compared with the identity itself.
    hash: (name, soortObjectId, objectId) =>
      hmacUuid(find(name).hash, `persoon\n${personKey({ soortObjectId, objectId })}`),
    hashIdempotency: (name, text) => hmacUuid(find(name).idempotency, text),
    checkValue: (name) => Buffer.from(hmacSha256(find(name).check, name), 'latin1').toString('base64'),
    encrypt: (name, actieId, plain) => encrypt(find(name).cipher(actieId), actieId, plain),
    decrypt: (name, actieId, stored) => decrypt(find(name).cipher(actieId), actieId, Buffer.from(stored, 'base64')),
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

/** Bound to the action: moved to another action, a text does not decrypt. */
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
