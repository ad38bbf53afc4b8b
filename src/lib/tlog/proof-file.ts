/** Proofs that can be checked without a network (C2SP tlog-proof): an entry's place in a tree, and the checkpoint over that tree. */

import { leafHash, verifyInclusion } from './merkle.ts';
import { decodeBase64, FormatError, MAX_NOTE_BYTES, parseHash, parseSize } from './note.ts';
import { openCheckpoint, type Policy, type TrustedCheckpoint } from './policy.ts';

export interface Proof {
  /** For the application; nobody signed it. */
  readonly extra: Uint8Array | undefined;
  readonly index: number;
  /** The audit path, from the leaf's sibling up. */
  readonly hashes: readonly Uint8Array[];
  /** The signed checkpoint, as the log published it. */
  readonly checkpoint: string;
}

const HEADER = 'c2sp.org/tlog-proof@v1';

/** Most bytes of a proof: its checkpoint, and salts and commitments for tens of thousands of parts. */
export const MAX_PROOF_BYTES = 11 * 1024 * 1024 + MAX_NOTE_BYTES;
/** No path in a tree that can be counted is longer. */
const MAX_HASHES = 63;

/** A proof as text, which is a file with the extension `.tlog-proof`. */
export function formatProof(proof: Proof): string {
  const extra = proof.extra === undefined ? [] : [`extra ${Buffer.from(proof.extra).toString('base64')}`];
  const hashes = proof.hashes.map((bytes) => Buffer.from(bytes).toString('base64'));
  return [HEADER, ...extra, `index ${proof.index}`, ...hashes, '', proof.checkpoint].join('\n');
}

/**
 * Reads a proof strictly, without checking it.
 * @throws {FormatError} that says what is wrong
 */
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
  if (path.length > MAX_HASHES) throw new FormatError(`a proof has at most ${MAX_HASHES} hashes`);
  const hashes = path.map((line) => parseHash(line, 'a hash of the proof'));
  return { extra, index: parseSize(index.slice(6), 'the index'), hashes, checkpoint: text.slice(end + 2) };
}

/** What a proof shows, or why it shows nothing. */
export type ProofVerdict =
  | ({ readonly isProven: true } & TrustedCheckpoint)
  | { readonly isProven: false; readonly reason: string };

/** Checks that an entry is in the log, by the four steps of tlog-proof, Verifying a tlog proof. */
export function verifyProof(proof: Proof, entry: Uint8Array, policy: Policy): ProofVerdict {
  const opened = openCheckpoint(proof.checkpoint, policy);
  if ('reason' in opened) return { isProven: false, reason: opened.reason };
  if (verifyInclusion(proof.index, leafHash(entry), opened.checkpoint, proof.hashes))
    return { isProven: true, ...opened };
  return { isProven: false, reason: 'the entry is not in the tree that the checkpoint is of, at this index' };
}
