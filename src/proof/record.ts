/**
 * What of a record goes into the log: 33 bytes that tell nothing about it, until whoever may see a part is given its salt. Parts are
 * shown or hidden together; a hidden one is known by its commitment only, and nobody outside gets the seed.
 */
import { createHmac, hash, hkdfSync } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { isRecord } from '../kernel/json-value.ts';
import { forEachWithinBudget } from '../kernel/scheduling.ts';
import { sha256 } from './tree/merkle.ts';
import { decodeBase64 } from './tree/note.ts';

/** Bytes of a seed, a salt, a commitment and a record hash. */
const SECRET_BYTES = 32;

/** First byte of an entry: of which members each part consists. A changed list gets the next number. */
const FORMAT = 0x01;

/** A part of a record: its name, and a JSON value as `JSON.parse` makes them. */
type Part = readonly [name: string, json: unknown];

/** Parts of a record by name. */
export type Parts = Readonly<Record<string, unknown>>;

/** A part, as far as it is known without its salt. */
export type Commitment = readonly [name: string, bytes: Uint8Array];

/** Commitments by the name of their part. */
export type Commitments = ReadonlyMap<string, Uint8Array>;

/** The salt of a part: HMAC-SHA-256(seed, name). */
export function partSalt(seed: Uint8Array, name: string): Uint8Array {
  if (seed.length !== SECRET_BYTES) throw new TypeError(`a seed has ${SECRET_BYTES} bytes`);
  return hmac(seed, name);
}

/**
 * The commitment to a part: HMAC-SHA-256(salt, canonical JSON of RFC 8785).
 * @throws {TypeError} when the value has no canonical form
 */
export function commitment(salt: Uint8Array, json: unknown): Uint8Array {
  return hmac(salt, canonicalJson(json));
}

/** The commitment to each part of a record, one at a time: a record may have very many. */
export function* commitmentsOf(seed: Uint8Array, parts: Iterable<Part>): Generator<Commitment> {
  for (const [name, json] of parts) yield [name, commitment(partSalt(seed, name), json)];
}

/**
 * Commitments to objects that are not there, so that nobody counts those that are: up to the next power of two, and two at least. They come
 * from the seed, so that the record can be checked later, and commit to no JSON at all.
 * @param count how many objects there are
 * @param nameOf the name of the part of the nth object that is not there, from 0
 */
export function* paddingCommitments(
  seed: Uint8Array,
  count: number,
  nameOf: (place: number) => string,
): Generator<Commitment> {
  const wanted = Math.max(2, 2 ** Math.ceil(Math.log2(Math.max(1, count))));
  for (let place = 0; place < wanted - count; place += 1) {
    const name = nameOf(place);
    yield [name, hmac(partSalt(seed, name), '')];
  }
}

/**
 * SHA-256 over all parts, sorted by the bytes of their names: length of the name (two bytes, big-endian) ‖ name ‖ commitment.
 * @throws {TypeError} on a name that is too long or a commitment that is none
 */
export function recordHash(commitments: Commitments): Uint8Array {
  const names = [...commitments.keys()];
  // In ASCII, as all names of ours are, the order of `sort` is that of the bytes.
  names.sort(names.every((name) => ASCII.test(name)) ? undefined : compareBytes);
  // A UTF-16 unit is three bytes of UTF-8 at most.
  const whole = Buffer.allocUnsafe(names.reduce((sum, name) => sum + 2 + 3 * name.length + SECRET_BYTES, 0));
  let place = 0;
  for (const name of names) {
    const bytes = commitments.get(name);
    const length = whole.write(name, place + 2);
    if (length > 0xffff || bytes?.length !== SECRET_BYTES) throw new TypeError('a part cannot be hashed');
    whole.writeUInt16BE(length, place);
    whole.set(bytes, place + 2 + length);
    place += 2 + length + SECRET_BYTES;
  }
  return sha256(whole.subarray(0, place));
}

/** Names that are the same in UTF-8 and UTF-16, unit by unit. */
const ASCII = /^[ -~]*$/;

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** What is logged: the format byte and the record hash. */
export function entryOf(hash: Uint8Array): Uint8Array {
  if (hash.length !== SECRET_BYTES) throw new TypeError(`a record hash has ${SECRET_BYTES} bytes`);
  return Buffer.concat([Uint8Array.of(FORMAT), hash]);
}

/** What goes with a proof, so that its reader can compute the entry from what he sees of the record. Values are base64. */
export interface Disclosure {
  /** Salts of the parts that he sees. */
  readonly parts: Readonly<Record<string, string>>;
  /** Commitments of the others. */
  readonly hidden: Readonly<Record<string, string>>;
}

/**
 * @param parts all parts of the record
 * @param shown the names of those that the reader sees
 * @param padding commitments of `paddingCommitments`, always hidden
 */
export async function disclosure(
  seed: Uint8Array,
  parts: Iterable<Part>,
  shown: ReadonlySet<string>,
  padding: Iterable<Commitment> = [],
): Promise<Disclosure> {
  const [salts, hidden] = [new Map<string, string>(), new Map<string, string>()];
  await forEachWithinBudget(parts, ([name, json]) => {
    const salt = partSalt(seed, name);
    if (shown.has(name)) salts.set(name, base64(salt));
    else hidden.set(name, base64(commitment(salt, json)));
  });
  await forEachWithinBudget(padding, ([name, bytes]) => hidden.set(name, base64(bytes)));
  return { parts: Object.fromEntries(salts), hidden: Object.fromEntries(hidden) };
}

/** A disclosure as the `extra` of a proof: JSON in UTF-8. */
export function encodeDisclosure(value: Disclosure): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** The entry that a reader computes from what he sees, or why he cannot. */
export type OpenedDisclosure = { readonly entry: Uint8Array } | { readonly reason: string };

/**
 * Computes the entry from the parts that a reader has and the `extra` of a proof. He must have exactly the parts that have a salt: with
 * less nothing is shown, and more would not be covered.
 */
export function openDisclosure(parts: Parts, extra: Uint8Array | undefined): OpenedDisclosure {
  const disclosed = readDisclosure(extra);
  if (disclosed === undefined)
    return { reason: 'the extra data of the proof is not a disclosure of salts and commitments' };
  const { salts, hidden } = disclosed;
  for (const name of salts.keys()) {
    if (!Object.hasOwn(parts, name)) return { reason: `the record lacks the part "${name}" that the proof covers` };
  }
  const commitments = new Map(hidden);
  for (const [name, json] of Object.entries(parts)) {
    const salt = salts.get(name);
    if (salt === undefined) return { reason: `the proof does not cover the part "${name}"` };
    if (hidden.has(name)) return { reason: `the proof both shows and hides the part "${name}"` };
    try {
      commitments.set(name, commitment(salt, json));
    } catch (error) {
      if (error instanceof TypeError) return { reason: `the part "${name}" cannot be hashed: ${error.message}` };
      throw error;
    }
  }
  return { entry: entryOf(recordHash(commitments)) };
}

interface Disclosed {
  readonly salts: ReadonlyMap<string, Uint8Array>;
  readonly hidden: ReadonlyMap<string, Uint8Array>;
}

function readDisclosure(extra: Uint8Array | undefined): Disclosed | undefined {
  const json = extra === undefined ? undefined : parseJson(extra);
  if (!isRecord(json)) return undefined;
  const [salts, hidden] = [readSecrets(json.parts), readSecrets(json.hidden)];
  return salts === undefined || hidden === undefined ? undefined : { salts, hidden };
}

function readSecrets(value: unknown): ReadonlyMap<string, Uint8Array> | undefined {
  if (!isRecord(value)) return undefined;
  const secrets = new Map<string, Uint8Array>();
  for (const [name, text] of Object.entries(value)) {
    const bytes = typeof text === 'string' ? decodeBase64(text) : undefined;
    if (bytes?.length !== SECRET_BYTES || Buffer.byteLength(name) > 0xffff) return undefined;
    secrets.set(name, bytes);
  }
  return secrets;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * The seed of a key of its own, from the one secret of the service (HKDF-SHA-256 of RFC 5869, without salt).
 * @param purpose the origin of a log, or the name of a witness
 */
export function deriveSeed(proofKey: Uint8Array, purpose: string): Uint8Array {
  if (proofKey.length !== SECRET_BYTES) throw new TypeError(`the key of the proofs has ${SECRET_BYTES} bytes`);
  return new Uint8Array(hkdfSync('sha256', proofKey, '', purpose, SECRET_BYTES));
}

/** The entry of a padding leaf: the format byte and HMAC-SHA-256(pad key, origin ‖ index in eight bytes, big-endian). */
export function paddingEntry(proofKey: Uint8Array, origin: string, index: number): Uint8Array {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(index));
  // No origin and no name of a witness has a colon, so no other key is derived from this text.
  const key = deriveSeed(proofKey, 'koppelvlak:padding');
  return entryOf(createHmac('sha256', key).update(origin).update(place).digest());
}

/** Bytes of a block of SHA-256. */
const BLOCK_BYTES = 64;

/** Used again by every call: most texts fit, and none of it outlives the call. */
const shortInner = Buffer.alloc(BLOCK_BYTES + 4096, 0x36);
const outer = Buffer.alloc(BLOCK_BYTES + SECRET_BYTES, 0x5c);

/** HMAC-SHA-256 (RFC 2104) in two hashes: `createHmac` takes more than three times as long, and every append makes ten. */
function hmac(key: Uint8Array, text: string): Uint8Array {
  if (key.length !== SECRET_BYTES) throw new TypeError(`a key has ${SECRET_BYTES} bytes`);
  // A UTF-16 unit is three bytes of UTF-8 at most.
  const inner = text.length * 3 <= 4096 ? shortInner : Buffer.alloc(BLOCK_BYTES + Buffer.byteLength(text), 0x36);
  for (let place = 0; place < SECRET_BYTES; place += 1) {
    const byte = key[place] ?? 0;
    inner[place] = byte ^ 0x36;
    outer[place] = byte ^ 0x5c;
  }
  const length = BLOCK_BYTES + inner.write(text, BLOCK_BYTES);
  outer.write(hash('sha256', inner.subarray(0, length), 'binary'), BLOCK_BYTES, 'latin1');
  return sha256(outer);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
