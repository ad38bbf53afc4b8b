/** Proofs that can be checked offline (C2SP tlog-proof): an entry's place in a tree, and the checkpoint over that tree. */
import { leafHash, verifyInclusion } from './merkle.ts';
import {
  type Checkpoint,
  checkpointIn,
  decodeBase64,
  FormatError,
  LOG_KEY,
  MAX_NOTE_BYTES,
  openNote,
  parseHash,
  parseSize,
  type VerifiedSignature,
  type VerifierKey,
  WITNESS_KEY,
} from './note.ts';

export interface Proof {
  /** For the application; not signed. */
  readonly extra: Uint8Array | undefined;
  readonly index: number;
  readonly hashes: readonly Uint8Array[];
  readonly checkpoint: string;
}

const HEADER = 'c2sp.org/tlog-proof@v1';

/** Maximum size of a proof: its checkpoint, and salts and commitments for tens of thousands of parts. */
export const MAX_PROOF_BYTES = 11 * 1024 * 1024 + MAX_NOTE_BYTES;

export function formatProof(proof: Proof): string {
  const extra = proof.extra === undefined ? [] : [`extra ${Buffer.from(proof.extra).toString('base64')}`];
  const hashes = proof.hashes.map((bytes) => Buffer.from(bytes).toString('base64'));
  return [HEADER, ...extra, `index ${proof.index}`, ...hashes, '', proof.checkpoint].join('\n');
}

/** Reads a proof strictly, without checking it. @throws {FormatError} with the fault */
export function parseProof(text: string): Proof {
  if (Buffer.byteLength(text) > MAX_PROOF_BYTES) throw new FormatError('the proof is too large');
  const end = text.indexOf('\n\n');
  if (end === -1) throw new FormatError('the proof has no empty line before its checkpoint');
  const [header, ...lines] = text.slice(0, end).split('\n');
  if (header !== HEADER) throw new FormatError(`a proof begins with the line ${HEADER}`);
  const encoded = lines[0]?.startsWith('extra ') === true ? lines.shift()?.slice(6) : undefined;
  const extra = encoded === undefined ? undefined : decodeBase64(encoded);
  if (encoded !== undefined && extra === undefined) throw new FormatError('the extra data of the proof is not base64');
  const [index = '', ...path] = lines;
  if (!index.startsWith('index ')) throw new FormatError('the proof does not say which entry it is of');
  const hashes = path.map((line) => parseHash(line, 'a hash of the proof'));
  return { extra, index: parseSize(index.slice(6), 'the index'), hashes, checkpoint: text.slice(end + 2) };
}

export interface TrustedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly cosignatures: readonly VerifiedSignature[];
}

/** By the four steps of tlog-proof, Verifying a tlog proof; see `openCheckpoint` for the keys. @throws {FormatError} with the reason */
export function verifyProof(proof: Proof, entry: Uint8Array, keys: readonly VerifierKey[]): TrustedCheckpoint {
  const opened = openCheckpoint(proof.checkpoint, keys);
  if (!verifyInclusion(proof.index, leafHash(entry), opened.checkpoint, proof.hashes))
    throw new FormatError('the entry is not in the tree of the checkpoint at this index');
  return opened;
}

/** One of the keys must be that of the log; every witness among them must have cosigned. @throws {FormatError} with the reason */
export function openCheckpoint(note: string, keys: readonly VerifierKey[]): TrustedCheckpoint {
  const checkpoint = checkpointIn(note);
  // The name of a log's key is its origin, so a key is valid for its own log only.
  const logKeys = keys.filter(({ name, type }) => type === LOG_KEY && name === checkpoint.origin);
  if (logKeys.length === 0) throw new FormatError('the checkpoint belongs to another log than the key');
  openNote(note, logKeys);
  const witnesses = keys.filter(({ type }) => type === WITNESS_KEY);
  const { verified } = openNote(note, [...logKeys, ...witnesses]);
  for (const witness of witnesses)
    if (!verified.some(({ key }) => key === witness)) throw new FormatError(`${witness.name} did not cosign it`);
  return { checkpoint, cosignatures: verified.filter(({ key }) => key.type === WITNESS_KEY) };
}
