/** Proofs that can be checked without a network (C2SP tlog-proof): an entry's place in a tree, and the checkpoint over that tree. */
import { type Checkpoint, parseCheckpoint, parseSize } from './checkpoint.ts';
import { HASH_BYTES, leafHash, verifyInclusion } from './merkle.ts';
import { decodeBase64, MAX_NOTE_BYTES, NoteError, openNote, splitNote, type VerifiedSignature } from './note.ts';
import type { Policy } from './policy.ts';

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

/** Most bytes of extra data: salts and commitments for tens of thousands of parts. */
const MAX_EXTRA_BYTES = 8 * 1024 * 1024;
/** Most bytes of a proof. */
export const MAX_PROOF_BYTES = Math.ceil((MAX_EXTRA_BYTES * 4) / 3) + MAX_NOTE_BYTES + 8192;
/** No path in a tree that can be counted is longer. */
const MAX_HASHES = 63;

/** A proof as text, which is a file with the extension `.tlog-proof`. */
export function formatProof(proof: Proof): string {
  const lines = [
    HEADER,
    ...(proof.extra === undefined ? [] : [`extra ${Buffer.from(proof.extra).toString('base64')}`]),
    `index ${proof.index}`,
    ...proof.hashes.map((item) => Buffer.from(item).toString('base64')),
    '',
    proof.checkpoint,
  ];
  return lines.join('\n');
}

/**
 * Reads a proof strictly, without checking it.
 * @throws {TypeError} that says what is wrong
 */
export function parseProof(text: string): Proof {
  if (Buffer.byteLength(text) > MAX_PROOF_BYTES) throw new TypeError('the proof is too large');
  const end = text.indexOf('\n\n');
  if (end === -1) throw new TypeError('the proof has no empty line before its checkpoint');
  const [header, ...lines] = text.slice(0, end).split('\n');
  if (header !== HEADER) throw new TypeError(`a proof begins with the line ${HEADER}`);
  const [first = ''] = lines;
  const extra = first.startsWith('extra ') ? decodeBase64(first.slice('extra '.length)) : undefined;
  if (first.startsWith('extra ')) {
    if (extra === undefined) throw new TypeError('the extra data of the proof is not base64');
    lines.shift();
  }
  const [index = '', ...path] = lines;
  if (!index.startsWith('index ')) throw new TypeError('the proof does not say which entry it is of');
  if (path.length > MAX_HASHES) throw new TypeError(`a proof has at most ${MAX_HASHES} hashes`);
  const hashes = path.map((line) => {
    const bytes = decodeBase64(line);
    if (bytes?.length !== HASH_BYTES) throw new TypeError('a hash of the proof is not a SHA-256 hash in base64');
    return bytes;
  });
  return {
    extra,
    index: parseSize(index.slice('index '.length), 'the index'),
    hashes,
    checkpoint: text.slice(end + 2),
  };
}

/** What a proof shows, or why it shows nothing. */
export type ProofVerdict =
  | {
      readonly isProven: true;
      readonly checkpoint: Checkpoint;
      /** Of witnesses that the policy knows. */
      readonly cosignatures: readonly VerifiedSignature[];
    }
  | { readonly isProven: false; readonly reason: string };

/** Checks that an entry is in the log, by the four steps of tlog-proof, Verifying a tlog proof. */
export function verifyProof(proof: Proof, entry: Uint8Array, policy: Policy): ProofVerdict {
  const opened = openCheckpoint(proof.checkpoint, policy);
  if (!('checkpoint' in opened)) return { isProven: false, reason: opened.reason };
  const { checkpoint, cosignatures } = opened;
  const { index, hashes } = proof;
  const claim = { index, size: checkpoint.size, leaf: leafHash(entry), root: checkpoint.root, proof: hashes };
  if (!verifyInclusion(claim)) {
    return { isProven: false, reason: 'the entry is not in the tree that the checkpoint is of, at this index' };
  }
  return { isProven: true, checkpoint, cosignatures };
}

/** A signed checkpoint with the signatures that a policy knows, or why the policy refuses it. Never throws. */
export function openCheckpoint(
  note: string,
  policy: Policy,
):
  | { readonly checkpoint: Checkpoint; readonly cosignatures: readonly VerifiedSignature[] }
  | { readonly reason: string } {
  try {
    const checkpoint = parseCheckpoint(splitNote(note).text);
    // The name of a log's key is its origin, so a key speaks for its own log only.
    const logKeys = policy.logs.map(({ key }) => key).filter(({ name }) => name === checkpoint.origin);
    if (logKeys.length === 0) return { reason: 'the checkpoint is of another log than the key' };
    const logSigned = openNote(note, logKeys);
    const all = openNote(note, [...logKeys, ...policy.witnesses.map(({ key }) => key)]);
    const cosignatures = all.verified.filter(({ key }) => !logSigned.verified.some((log) => log.key === key));
    if (!policy.isQuorum(cosignatures.map(({ key }) => key)))
      return { reason: 'too few witnesses cosigned the checkpoint' };
    return { checkpoint, cosignatures };
  } catch (error) {
    if (error instanceof NoteError || error instanceof TypeError) return { reason: error.message };
    throw error;
  }
}
