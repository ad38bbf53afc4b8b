/** What is asked of a witness and when it agrees (C2SP tlog-witness, add-checkpoint); who keeps its state is given. */

import { EMPTY_ROOT, verifyConsistency } from '../../../lib/tlog/merkle.ts';
import {
  type Checkpoint,
  checkpointIn,
  FormatError,
  formatNote,
  MAX_NOTE_BYTES,
  NoteError,
  type NoteSigner,
  openNote,
  parseHash,
  parseSize,
  type VerifierKey,
} from '../../../lib/tlog/note.ts';

/** Most hashes of a consistency proof. */
const MAX_HASHES = 63;
/** Most bytes of a request: the proof, its first line and a checkpoint. */
export const MAX_REQUEST_BYTES = MAX_NOTE_BYTES + 4096;

interface AddCheckpoint {
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
  /** The signed checkpoint. */
  readonly note: string;
}

/** The body of a request. */
export function formatAddCheckpoint({ oldSize, proof, note }: AddCheckpoint): string {
  return [`old ${oldSize}`, ...proof.map((item) => Buffer.from(item).toString('base64')), '', note].join('\n');
}

/** @throws {FormatError} when the body is not one of the protocol */
function parseAddCheckpoint(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n');
  if (end === -1) throw new FormatError('the request has no empty line before its checkpoint');
  const [old = '', ...path] = body.slice(0, end).split('\n');
  if (!old.startsWith('old ')) throw new FormatError('the request begins with the old size');
  if (path.length > MAX_HASHES) throw new FormatError(`the request has more than ${MAX_HASHES} hashes`);
  const proof = path.map((line) => parseHash(line, 'a line of the proof'));
  return { oldSize: parseSize(old.slice('old '.length), 'the old size'), proof, note: body.slice(end + 2) };
}

/** An answer: `size` goes with 409, `lines` with 200, otherwise a reason. */
type WitnessAnswer =
  | { readonly status: 200; readonly lines: string }
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 404 | 422; readonly reason: string };

/** Where a witness keeps the last checkpoint that it cosigned of each log. */
export interface WitnessState {
  /**
   * Runs `decide` with the last checkpoint of a log, and keeps what it returns before it resolves. For one log, also over several
   * instances, one runs at a time.
   */
  update(origin: string, decide: (last: Checkpoint | undefined) => string | undefined): Promise<void>;
  /** The last checkpoint of a log, with both signatures. */
  read(origin: string): Promise<string | undefined>;
}

export interface WitnessNeeds {
  readonly signer: NoteSigner;
  /** Keys of the logs that this witness vouches for; their names are the origins. */
  readonly logKeys: readonly VerifierKey[];
  readonly state: WitnessState;
  /** Seconds since 1970. */
  readonly now: () => number;
}

/** Judges a request, in the order of the protocol: form, origin, signature, sizes, proof. */
export async function addCheckpoint(body: string, needs: WitnessNeeds): Promise<WitnessAnswer> {
  const { signer, logKeys, state, now } = needs;
  let request: AddCheckpoint;
  let checkpoint: Checkpoint;
  try {
    request = parseAddCheckpoint(body);
    checkpoint = checkpointIn(request.note);
  } catch (error) {
    if (error instanceof FormatError) return { status: 400, reason: error.message };
    throw error;
  }
  const keys = logKeys.filter(({ name }) => name === checkpoint.origin);
  if (keys.length === 0) return { status: 404, reason: 'this witness does not vouch for that log' };
  const signed = openedBy(request.note, keys);
  if (signed === undefined) return { status: 403, reason: 'the log did not sign the checkpoint' };
  if (request.oldSize > checkpoint.size) return { status: 400, reason: 'the old size is over that of the checkpoint' };
  let answer: WitnessAnswer = { status: 422, reason: 'nothing was decided' };
  await state.update(checkpoint.origin, (last) => {
    answer = judge(request, checkpoint, last);
    if (answer.status !== 200) return undefined;
    const cosignature = signer.sign(signed.text, now());
    answer = { status: 200, lines: cosignature };
    return formatNote(signed.text, [...signed.verified.map(({ line }) => line), cosignature]);
  });
  return answer;
}

function openedBy(note: string, keys: readonly VerifierKey[]) {
  try {
    return openNote(note, keys);
  } catch (error) {
    if (error instanceof NoteError) return undefined;
    throw error;
  }
}

function judge({ oldSize, proof }: AddCheckpoint, checkpoint: Checkpoint, last: Checkpoint | undefined): WitnessAnswer {
  const known = last ?? { size: 0, root: EMPTY_ROOT };
  if (oldSize !== known.size) return { status: 409, size: known.size };
  if (!verifyConsistency(known, checkpoint, proof))
    return { status: 422, reason: 'the checkpoint does not continue the last one' };
  return { status: 200, lines: '' };
}
