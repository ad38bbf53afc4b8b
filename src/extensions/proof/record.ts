/**
 * What of a record goes into the log: 33 bytes that tell nothing about it, until whoever may see a part is given its salt. Parts are
 * shown or hidden together; a hidden one is known by its commitment only, and nobody outside gets the seed.
 */
import { createHmac, createSecretKey, hash, hkdfSync } from 'node:crypto';
import { CanonicalFormError, canonicalJson } from '../../lib/json/canonical-json.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { forEachWithinBudget } from '../../lib/scheduling.ts';
import { FormatError } from '../../lib/tlog/format-error.ts';
import { decodeBase64 } from '../../lib/tlog/note.ts';

/** Bytes of a seed, a salt, a commitment and a record hash. */
const SECRET_BYTES = 32;

/** First byte of an entry: of which members each part consists. A changed list gets the next number. */
const FORMAT = 0x01;

/** Of parts that a record has several of: how many, and the name of the nth one without content, from 0. */
interface Padding {
  readonly count: number;
  readonly nameOf: (place: number) => string;
}

/** What a record is sealed as: its parts, JSON values as `JSON.parse` makes them. */
interface Parted {
  readonly parts: Iterable<readonly [name: string, json: unknown]>;
  readonly padding?: Padding;
}

/** Parts of a record by name. */
export type Parts = Readonly<Record<string, unknown>>;

/** Octets as a text with a character for each: `hash` and `Buffer.write` take much longer with buffers, and each append needs twenty. */
type Octets = string;

function octets(bytes: Uint8Array): Octets {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** The salt of a part: HMAC-SHA-256(seed, name). */
export function partSalt(seed: Uint8Array, name: string): Uint8Array {
  return Buffer.from(hmac(seedOctets(seed), name), 'latin1');
}

function seedOctets(seed: Uint8Array): Octets {
  if (seed.length !== SECRET_BYTES) throw new TypeError(`a seed has ${SECRET_BYTES} bytes`);
  return octets(seed);
}

/**
 * The commitment to a part: HMAC-SHA-256(salt, canonical JSON of RFC 8785).
 * @throws {CanonicalFormError} when the value has no canonical form
 */
function commitment(salt: Octets, json: unknown): Octets {
  return hmac(salt, canonicalJson(json));
}

/** The commitment to a part without content: to no JSON at all. */
function emptyCommitment(seed: Octets, name: string): Octets {
  return hmac(hmac(seed, name), '');
}

/**
 * Names of objects that are not there, so that nobody counts those that are: up to the next power of two, and two at least. Commitments to them
 * come from the seed, so that the record can be checked later.
 */
export function* paddingNames(padding: Padding | undefined): Generator<string> {
  if (padding === undefined) return;
  const { count, nameOf } = padding;
  const wanted = Math.max(2, 2 ** Math.ceil(Math.log2(Math.max(1, count))));
  for (let place = 0; place < wanted - count; place += 1) yield nameOf(place);
}

/**
 * The entry of a record, and nothing kept of its parts.
 * @throws {CanonicalFormError | FormatError} when a part has no canonical form or its name is too long
 */
export function entryOf(seed: Uint8Array, { parts, padding }: Parted): Uint8Array {
  const [secret, entry] = [seedOctets(seed), new EntryHash()];
  for (const [name, json] of parts) entry.add(name, commitment(hmac(secret, name), json));
  for (const name of paddingNames(padding)) entry.add(name, emptyCommitment(secret, name));
  return entry.digest();
}

/** The same for a record that may have very many parts. */
export async function entryWithinBudget(seed: Uint8Array, { parts, padding }: Parted): Promise<Uint8Array> {
  const [secret, entry] = [seedOctets(seed), new EntryHash()];
  await forEachWithinBudget(parts, ([name, json]) => entry.add(name, commitment(hmac(secret, name), json)));
  await forEachWithinBudget(paddingNames(padding), (name) => entry.add(name, emptyCommitment(secret, name)));
  return entry.digest();
}

/**
 * Computes an entry: the format byte, and SHA-256 over all parts, sorted by the bytes of their names: length of the name (two bytes,
 * big-endian) ‖ name ‖ commitment.
 */
class EntryHash {
  #bytes = Buffer.allocUnsafe(512);
  #length = 0;
  #last = '';
  /** Parts come sorted, as a rule. In ASCII, as all names of ours are, the order of texts is that of their bytes. */
  #isSorted = true;

  /** @throws {FormatError} on a name that is too long */
  add(name: string, committed: Octets): void {
    // A UTF-16 unit is three bytes of UTF-8 at most.
    const most = this.#length + 2 + 3 * name.length + SECRET_BYTES;
    if (most > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * most);
    const length = this.#bytes.write(name, this.#length + 2);
    if (length > 0xffff) throw new FormatError('the name of a part is too long');
    this.#isSorted &&= length === name.length && name > this.#last;
    this.#last = name;
    this.#bytes.writeUInt16BE(length, this.#length);
    this.#bytes.write(committed, this.#length + 2 + length, 'latin1');
    this.#length += 2 + length + SECRET_BYTES;
  }

  digest(): Uint8Array {
    const whole = this.#bytes.subarray(0, this.#length);
    return entryWith(hash('sha256', this.#isSorted ? whole : sortedParts(whole), 'binary'));
  }
}

function sortedParts(whole: Buffer): Buffer {
  const parts: { readonly name: Buffer; readonly bytes: Buffer }[] = [];
  for (let place = 0; place < whole.length; ) {
    const named = place + 2 + whole.readUInt16BE(place);
    parts.push({ name: whole.subarray(place + 2, named), bytes: whole.subarray(place, named + SECRET_BYTES) });
    place = named + SECRET_BYTES;
  }
  parts.sort((a, b) => Buffer.compare(a.name, b.name));
  return Buffer.concat(parts.map(({ bytes }) => bytes));
}

/** What is logged: the format byte and a hash. */
function entryWith(digest: Octets): Uint8Array {
  const entry = Buffer.allocUnsafe(1 + SECRET_BYTES);
  entry[0] = FORMAT;
  entry.write(digest, 1, 'latin1');
  return entry;
}

/** What goes with a proof, so that its reader can compute the entry from what he sees of the record. Values are base64. */
export interface Disclosure {
  /** Salts of the parts that he sees. */
  readonly parts: Readonly<Record<string, string>>;
  /** Commitments of the others. */
  readonly hidden: Readonly<Record<string, string>>;
}

/** @param shown names of the parts that the reader sees; those without content are always hidden */
export async function disclosure(
  seed: Uint8Array,
  { parts, padding }: Parted,
  shown: ReadonlySet<string>,
): Promise<Disclosure> {
  const secret = seedOctets(seed);
  const [salts, hidden] = [new Map<string, string>(), new Map<string, string>()];
  await forEachWithinBudget(parts, ([name, json]) => {
    const salt = hmac(secret, name);
    if (shown.has(name)) salts.set(name, base64(salt));
    else hidden.set(name, base64(commitment(salt, json)));
  });
  await forEachWithinBudget(paddingNames(padding), (name) => hidden.set(name, base64(emptyCommitment(secret, name))));
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
  const entry = new EntryHash();
  for (const [name, bytes] of hidden) entry.add(name, bytes);
  for (const [name, json] of Object.entries(parts)) {
    const salt = salts.get(name);
    if (salt === undefined) return { reason: `the proof does not cover the part "${name}"` };
    if (hidden.has(name)) return { reason: `the proof both shows and hides the part "${name}"` };
    try {
      entry.add(name, commitment(salt, json));
    } catch (error) {
      if (error instanceof CanonicalFormError || error instanceof FormatError)
        return { reason: `the part "${name}" cannot be hashed: ${error.message}` };
      throw error;
    }
  }
  return { entry: entry.digest() };
}

interface Disclosed {
  readonly salts: ReadonlyMap<string, Octets>;
  readonly hidden: ReadonlyMap<string, Octets>;
}

function readDisclosure(extra: Uint8Array | undefined): Disclosed | undefined {
  const json = extra === undefined ? undefined : parseJson(extra);
  if (!isRecord(json)) return undefined;
  const [salts, hidden] = [readSecrets(json.parts), readSecrets(json.hidden)];
  return salts === undefined || hidden === undefined ? undefined : { salts, hidden };
}

function readSecrets(value: unknown): ReadonlyMap<string, Octets> | undefined {
  if (!isRecord(value)) return undefined;
  const secrets = new Map<string, Octets>();
  for (const [name, text] of Object.entries(value)) {
    const bytes = typeof text === 'string' ? decodeBase64(text) : undefined;
    if (bytes?.length !== SECRET_BYTES || Buffer.byteLength(name) > 0xffff) return undefined;
    secrets.set(name, octets(bytes));
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

/** Gives the entries of an origin's padding leaves: the format byte and HMAC-SHA-256(pad key, origin ‖ index in eight bytes, big-endian). */
export function paddingEntries(proofKey: Uint8Array, origin: string): (index: number) => Uint8Array {
  // No origin and no name of a witness has a colon, so no other key is derived from this text.
  const key = createSecretKey(deriveSeed(proofKey, 'koppelvlak:padding'));
  const place = Buffer.alloc(8);
  return (index) => {
    place.writeBigUInt64BE(BigInt(index));
    return entryWith(createHmac('sha256', key).update(origin).update(place).digest('binary'));
  };
}

/** Bytes of a block of SHA-256. */
const BLOCK_BYTES = 64;

/** Used again by every call: most texts fit, and none of it outlives the call. */
const shortInner = Buffer.alloc(BLOCK_BYTES + 4096, 0x36);
const outer = Buffer.alloc(BLOCK_BYTES + SECRET_BYTES, 0x5c);

/** HMAC-SHA-256 (RFC 2104) in two hashes: `createHmac` takes more than three times as long, and every append makes ten. */
function hmac(key: Octets, text: string): Octets {
  // A UTF-16 unit is three bytes of UTF-8 at most.
  const inner = text.length * 3 <= 4096 ? shortInner : Buffer.alloc(BLOCK_BYTES + Buffer.byteLength(text), 0x36);
  for (let place = 0; place < SECRET_BYTES; place += 1) {
    const byte = key.charCodeAt(place);
    inner[place] = byte ^ 0x36;
    outer[place] = byte ^ 0x5c;
  }
  const length = BLOCK_BYTES + inner.write(text, BLOCK_BYTES);
  outer.write(hash('sha256', inner.subarray(0, length), 'binary'), BLOCK_BYTES, 'latin1');
  return hash('sha256', outer, 'binary');
}

function base64(bytes: Octets): string {
  return Buffer.from(bytes, 'latin1').toString('base64');
}
