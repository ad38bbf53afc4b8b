/** The entry of a record: 33 bytes that reveal nothing about it without the salt of a part. Nobody outside gets the seed of the salts. */
import { hash } from 'node:crypto';
import { hmacSha256, type Octets, octets } from '../lib/hmac.ts';
import { CanonicalFormError, canonicalJson } from '../lib/json/canonical-json.ts';
import { isRecord } from '../lib/json/json-value.ts';
import { parseIfJson } from '../lib/json/parse-untrusted.ts';
import { mapWithinBudget } from '../lib/scheduling.ts';
import { decodeBase64, FormatError } from './tlog/note.ts';

const SECRET_BYTES = 32;

/** The first format of records, and the only one of other entries. */
const FIRST_FORMAT = 0x01;

export type Parts = Readonly<Record<string, unknown>>;

export interface ProofRecord {
  /** The version of the list of members in each part: the first byte of its entry. Absent: 1. */
  readonly format?: number;
  /** The format of new records is newer. */
  readonly isOlder?: boolean;
  /** Not an object: one with its own names for each record is slow. */
  readonly parts: Iterable<readonly [name: string, json: unknown]>;
  /** Kinds of parts that a record may have several of: padded with parts without content, so that their number stays hidden. */
  readonly padding?: {
    readonly count: number;
    /** Name of the nth part without content, from 0. */
    readonly nameOf: (place: number) => string;
  };
}

/** A part with its salt; without `json` one of the padding, which has no content. */
interface SaltedPart {
  readonly name: string;
  readonly salt: Octets;
  readonly json?: unknown;
}

/** HMAC-SHA-256(seed, name). */
export function partSalt(seed: Uint8Array, name: string): Uint8Array {
  return Buffer.from(hmacSha256(octets(seed), name), 'latin1');
}

/** Padded up to the next power of two, at least two. Everything follows from the seed, so that the record can be checked later. */
function* saltedParts(seed: Uint8Array, { parts, padding }: ProofRecord): Generator<SaltedPart> {
  if (seed.length !== SECRET_BYTES) throw new TypeError(`a seed has ${SECRET_BYTES} bytes`);
  const secret = octets(seed);
  for (const [name, json] of parts) yield { name, salt: hmacSha256(secret, name), json };
  if (padding === undefined) return;
  const wanted = Math.max(2, 2 ** Math.ceil(Math.log2(Math.max(1, padding.count))));
  for (let place = 0; place < wanted - padding.count; place += 1) {
    const name = padding.nameOf(place);
    yield { name, salt: hmacSha256(secret, name) };
  }
}

type Committed = readonly [name: string, commitment: Octets];

/** A part with its commitment, HMAC-SHA-256(salt, canonical JSON of RFC 8785). @throws {CanonicalFormError} */
function committed({ name, salt, json }: SaltedPart): Committed {
  return [name, hmacSha256(salt, json === undefined ? '' : canonicalJson(json))];
}

/** The entry of a record. @throws {CanonicalFormError | FormatError} when a part has no canonical form or its name is too long */
export function entryOf(seed: Uint8Array, record: ProofRecord): Uint8Array {
  return joined(Array.from(saltedParts(seed, record), committed), record.format);
}

/** The same for a record that may have very many parts. */
export async function entryWithinBudget(seed: Uint8Array, record: ProofRecord): Promise<Uint8Array> {
  return joined(await mapWithinBudget(saltedParts(seed, record), committed), record.format);
}

/** The format byte, and SHA-256 over all parts by the bytes of their names: length of the name (two bytes, big-endian) ‖ name ‖ commitment. */
function joined(parts: readonly Committed[], format?: number): Uint8Array {
  // As octets, the order of texts is that of their bytes.
  const named = parts.map(([name, bytes]): Committed => [Buffer.from(name).toString('latin1'), bytes]);
  let whole: Octets = '';
  for (const [name, bytes] of named.sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (name.length > 0xffff) throw new FormatError('the name of a part is too long');
    whole += String.fromCharCode(name.length >> 8, name.length & 0xff) + name + bytes;
  }
  return entryWith(hash('sha256', Buffer.from(whole, 'latin1'), 'binary'), format);
}

export function entryWith(digest: Octets, format = FIRST_FORMAT): Uint8Array {
  const entry = Buffer.allocUnsafe(1 + SECRET_BYTES);
  entry[0] = format;
  entry.write(digest, 1, 'latin1');
  return entry;
}

/**
 * The `extra` of a proof: JSON with the salts (base64) of the `parts` that this reader sees, and the commitments to the `hidden` others, also those
 * without content; the `format` unless it is the first; for an older one the `members` of each shown part, because today's answer may have more.
 */
export async function disclosure(
  seed: Uint8Array,
  record: ProofRecord,
  shown: ReadonlySet<string>,
): Promise<Uint8Array> {
  const [salts, hidden] = [new Map<string, string>(), new Map<string, string>()];
  const members = new Map<string, readonly string[]>();
  await mapWithinBudget(saltedParts(seed, record), (part) => {
    if (part.json !== undefined && shown.has(part.name)) {
      salts.set(part.name, base64(part.salt));
      if (isRecord(part.json)) members.set(part.name, Object.keys(part.json));
    } else hidden.set(part.name, base64(committed(part)[1]));
  });
  const extra = {
    format: record.format === FIRST_FORMAT ? undefined : record.format,
    members: record.isOlder === true ? Object.fromEntries(members) : undefined,
    parts: Object.fromEntries(salts),
    hidden: Object.fromEntries(hidden),
  };
  return Buffer.from(JSON.stringify(extra));
}

/** @throws {FormatError} unless the reader has exactly the parts that have a salt: with fewer nothing is shown, more would not be covered */
export function openDisclosure(
  parts: Parts,
  extra: Uint8Array | undefined,
): { readonly entry: Uint8Array; readonly hiddenParts: number } {
  const json = extra && parseIfJson(extra, { bytes: extra.length });
  const [salts, hidden] = isRecord(json) ? [readSecrets(json.parts), readSecrets(json.hidden)] : [];
  const { format = FIRST_FORMAT, members } = isRecord(json) ? json : {};
  if (salts === undefined || hidden === undefined || !isFormat(format))
    throw new FormatError('the extra data of the proof is not a disclosure of salts and commitments');
  for (const name of salts.keys()) {
    if (!Object.hasOwn(parts, name)) throw new FormatError(`the record lacks the part "${name}" that the proof covers`);
  }
  const entry: Committed[] = [...hidden];
  for (const [name, json] of Object.entries(parts)) {
    const salt = salts.get(name);
    if (salt === undefined) throw new FormatError(`the proof does not cover the part "${name}"`);
    if (hidden.has(name)) throw new FormatError(`the proof both shows and hides the part "${name}"`);
    try {
      entry.push(committed({ name, salt, json: isRecord(members) ? onlyMembers(name, json, members[name]) : json }));
    } catch (error) {
      if (error instanceof CanonicalFormError)
        throw new FormatError(`the part "${name}" cannot be hashed: ${error.message}`);
      throw error;
    }
  }
  return { entry: joined(entry, format), hiddenParts: hidden.size };
}

const isFormat = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= FIRST_FORMAT && value <= 0xff;

/** A part as its older format had it. @throws {FormatError} when a newer member has a value: anybody could have written it */
function onlyMembers(name: string, json: unknown, names: unknown): unknown {
  if (!isRecord(json) || !Array.isArray(names)) return json;
  const newer = Object.entries(json).filter(([member]) => !names.includes(member));
  const said = newer.find(([, value]) => value !== null);
  if (said !== undefined)
    throw new FormatError(`the proof does not cover the member "${said[0]}" of the part "${name}"`);
  return Object.fromEntries(Object.entries(json).filter(([member]) => names.includes(member)));
}

function readSecrets(value: unknown): ReadonlyMap<string, Octets> | undefined {
  if (!isRecord(value)) return undefined;
  const secrets = new Map<string, Octets>();
  for (const [name, text] of Object.entries(value)) {
    const bytes = typeof text === 'string' ? decodeBase64(text) : undefined;
    if (bytes?.length !== SECRET_BYTES) return undefined;
    secrets.set(name, octets(bytes));
  }
  return secrets;
}

function base64(bytes: Octets): string {
  return Buffer.from(bytes, 'latin1').toString('base64');
}
