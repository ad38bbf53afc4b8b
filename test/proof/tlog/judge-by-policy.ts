/** A witness policy's verdict on a signed checkpoint, for an outsider. */
import { openNote, parseVerifierKey, type VerifiedSignature, WITNESS_KEY } from '../../../src/proof/tlog/note.ts';
import { parsePolicy } from '../../../src/proof/tlog/policy.ts';
import { openCheckpoint, type TrustedCheckpoint } from '../../../src/proof/tlog/proof-file.ts';

/** @param policy a text that contains the log's key */
export function judgeByPolicy(note: string, policy: string): TrustedCheckpoint | { readonly reason: string } {
  const log = parseVerifierKey(/^log (\S+)/m.exec(policy)?.[1] ?? '');
  const { witnesses, isQuorum } = parsePolicy(policy);
  const { checkpoint } = openCheckpoint(note, [log]);
  const { verified } = openNote(note, [log, ...witnesses.map(({ key }) => key)]);
  const cosignatures: VerifiedSignature[] = verified.filter(({ key }) => key.type === WITNESS_KEY);
  if (!isQuorum(cosignatures.map(({ key }) => key))) return { reason: 'too few witnesses cosigned the checkpoint' };
  return { checkpoint, cosignatures };
}
