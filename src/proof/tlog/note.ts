/** Notes (C2SP signed-note) with checkpoints (tlog-checkpoint), signed by logs, and with a time by witnesses (tlog-cosignature). */
import { createPrivateKey, createPublicKey, hash, sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { HASH_BYTES, type Tree } from './merkle.ts';

/** Text from outside is malformed. Not a `TypeError`, which may just as well be a fault of this program. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

export function readOrReason<T extends object>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
}

export const LOG_KEY = 0x01;
export const WITNESS_KEY = 0x04;
type KeyType = typeof LOG_KEY | typeof WITNESS_KEY;

/** Maximum bytes of a note: room for a hundred signatures, also post-quantum ones. signed-note demands room for sixteen. */
export const MAX_NOTE_BYTES = 256 * 1024;
/** Every signature is compared with every known key; a stranger could send thousands of short ones. */
const MAX_SIGNATURES = 100;

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Precedes the raw key in its DER form (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface VerifierKey {
  readonly name: string;
  readonly id: string;
  readonly type: KeyType;
  readonly publicKey: Uint8Array;
  /** As one line: `name+id+base64`. */
  readonly text: string;
}

interface NoteSignature extends Pick<VerifierKey, 'name' | 'id'> {
  readonly signature: Uint8Array;
  /** As the note has it, with its newline. */
  readonly line: string;
}

/** A verified signature; `time` in seconds since 1970 for a cosignature. */
export interface VerifiedSignature extends NoteSignature {
  readonly key: VerifierKey;
  readonly time: number | undefined;
}

/** signed-note, Format: not empty, no Unicode space, no plus; and nothing that would break a line. */
const KEY_NAME = /^[^\s\u0085+\p{Cc}]+$/u;

/** Reads a verifier key (signed-note, Verifier keys) and checks its id. @throws {FormatError} with the fault, without the key */
export function parseVerifierKey(text: string): VerifierKey {
  const [name = '', id = '', ...rest] = text.split('+');
  const bytes = decodeBase64(rest.join('+'));
  if (!KEY_NAME.test(name) || bytes === undefined) {
    throw new FormatError('a verifier key is written name+id+base64');
  }
  const [type] = bytes;
  if ((type !== LOG_KEY && type !== WITNESS_KEY) || bytes.length !== 1 + KEY_BYTES) {
    throw new FormatError('a verifier key is an Ed25519 key of type 0x01 or 0x04');
  }
  const key = verifierKey(name, type, bytes.subarray(1));
  if (key.id !== id) throw new FormatError('the id of a verifier key does not belong to its name and key');
  return key;
}

function verifierKey(name: string, type: KeyType, publicKey: Uint8Array): VerifierKey {
  const typed = Buffer.concat([Uint8Array.of(type), publicKey]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'hex').slice(0, 8);
  return { name, id, type, publicKey, text: `${name}+${id}+${typed.toString('base64')}` };
}

export interface NoteSigner {
  readonly key: VerifierKey;
  /** A signature line for a text, with its newline. @param time seconds since 1970, for a cosignature; ignored by a log's key */
  sign(text: string, time?: number): string;
}

/** @param seed private key of Ed25519: 32 bytes @throws {TypeError} when the name or the seed is unusable */
export function createSigner(name: string, seed: Uint8Array, type: KeyType = LOG_KEY): NoteSigner {
  if (!KEY_NAME.test(name)) throw new TypeError('the name of a key has no space and no plus');
  if (seed.length !== KEY_BYTES) throw new TypeError(`the seed of a key has ${KEY_BYTES} bytes`);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const key = verifierKey(name, type, spki.subarray(SPKI_PREFIX.length));
  return {
    key,
    sign(text, time = Math.floor(Date.now() / 1000)) {
      const signature =
        type === LOG_KEY
          ? signBytes(null, messageOf(text), privateKey)
          : Buffer.concat([writeTime(time), signBytes(null, messageOf(text, time), privateKey)]);
      return `\u2014 ${name} ${Buffer.concat([Buffer.from(key.id, 'hex'), signature]).toString('base64')}\n`;
    },
  };
}

/** @param text ends with a newline @param lines made by `NoteSigner.sign` */
export function formatNote(text: string, lines: readonly string[]): string {
  return `${text}\n${lines.join('')}`;
}

/** tlog-cosignature, Ed25519 signed message. */
function messageOf(text: string, time?: number): Uint8Array {
  return Buffer.from(time === undefined ? text : `cosignature/v1\ntime ${time}\n${text}`);
}

export function splitNote(note: string): { readonly text: string; readonly signatures: readonly NoteSignature[] } {
  if (Buffer.byteLength(note) > MAX_NOTE_BYTES) throw new FormatError('the note is too large');
  // signed-note, Format: no control character of ASCII but the newline.
  if (!note.isWellFormed() || /[^\n\x20-\u{10ffff}]/u.test(note))
    throw new FormatError('the note has characters that none may have');
  const end = note.lastIndexOf('\n\n');
  if (end === -1) throw new FormatError('the note has no empty line before its signatures');
  const lines = note.slice(end + 2).split('\n');
  if (lines.pop() !== '' || lines.length === 0)
    throw new FormatError('the note has no signature, or its last line no end');
  if (lines.length > MAX_SIGNATURES) throw new FormatError(`the note has more than ${MAX_SIGNATURES} signatures`);
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...more] = line.split(' ');
  const bytes = decodeBase64(encoded);
  if (dash !== '\u2014' || !KEY_NAME.test(name) || bytes === undefined || bytes.length < 5 || more.length > 0) {
    throw new FormatError('a signature line is not written as one');
  }
  const id = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  return { name, id, signature: bytes.subarray(4), line: `${line}\n` };
}

/**
 * Verifies the signatures of known keys, at least one, and ignores the others (signed-note, Signatures).
 * @throws {FormatError} when it is malformed, when a known key's signature does not verify, or when no known key signed it
 */
export function openNote(
  note: string,
  keys: readonly VerifierKey[],
): { readonly text: string; readonly verified: readonly VerifiedSignature[] } {
  const { text, signatures } = splitNote(note);
  const verified = new Map<string, VerifiedSignature>();
  for (const signature of signatures) {
    const key = keys.find(({ name, id }) => name === signature.name && id === signature.id);
    // A second signature by the same key adds nothing.
    if (key === undefined || verified.has(key.text)) continue;
    const result = verifySignature(text, signature, key);
    if (result === undefined) throw new FormatError(`the signature of ${key.name} does not verify`);
    verified.set(key.text, result);
  }
  if (verified.size === 0) throw new FormatError('no known key signed the note');
  return { text, verified: [...verified.values()] };
}

function verifySignature(text: string, from: NoteSignature, key: VerifierKey): VerifiedSignature | undefined {
  const isCosignature = key.type === WITNESS_KEY;
  const time = isCosignature ? readTime(from.signature) : undefined;
  const signature = isCosignature ? from.signature.subarray(8) : from.signature;
  const spki = Buffer.concat([SPKI_PREFIX, key.publicKey]);
  const isSigned =
    isCosignature === (time !== undefined) &&
    signature.length === SIGNATURE_BYTES &&
    verifyBytes(null, messageOf(text, time), createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature);
  return isSigned ? { ...from, key, time } : undefined;
}

function writeTime(seconds: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(seconds));
  return bytes;
}

/** Undefined for zero and for impossible times. */
function readTime(signature: Uint8Array): number | undefined {
  if (signature.length < 8) return undefined;
  const time = Number(Buffer.from(signature.subarray(0, 8)).readBigUInt64BE());
  return time > 0 && Number.isSafeInteger(time) ? time : undefined;
}

/** Undefined when the text is not canonical base64 (RFC 4648 section 4): text with two spellings can be changed without a trace. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

export interface Checkpoint extends Tree {
  /** The log's identity, and the name of its key. */
  readonly origin: string;
}

export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
}

/** Strictly: nothing in it has two spellings. Extension lines may follow the root. @throws {FormatError} that names the wrong line */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length < 3)
    throw new FormatError('a checkpoint has at least three lines, each ended');
  if (lines.includes('')) throw new FormatError('a checkpoint has no empty line');
  const [origin = '', size = '', root = ''] = lines;
  return { origin, size: parseSize(size, 'the second line'), root: parseHash(root, 'the third line') };
}

/** The checkpoint in a signed note, whose signatures are not verified. @throws {FormatError} when it is not a checkpoint */
export function checkpointIn(note: string): Checkpoint {
  return parseCheckpoint(splitNote(note).text);
}

/** A whole number in decimal without leading zeroes, small enough to be exact. @throws {FormatError} */
export function parseSize(text: string, what: string): number {
  const size = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw new FormatError(`${what} is not a whole number without leading zeroes`);
  return size;
}

export function parseHash(text: string, what: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (bytes?.length !== HASH_BYTES) throw new FormatError(`${what} is not a SHA-256 hash in base64`);
  return bytes;
}
