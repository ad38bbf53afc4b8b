import { addresses, choices, file, integer, optional, secret, setting, text } from '../settings/kinds.ts';

const LOGS = ['verwerkingen', 'leveringen', 'raadsfeed'] as const;

export const proofSettings = {
  proof: {
    key: secret(
      'PROOF_KEY',
      text(/^[A-Za-z0-9+/]{43}=$/, 'output of `koppelvlak proof key`'),
      'Switches the proof logs on and signs them. It must stay the same.',
    ),
    sealingKey: secret(
      'PROOF_SEALING_KEY',
      text(/^[A-Za-z0-9+/]{256}$/, 'output of `koppelvlak proof key --sealing`'),
      'Instead of `PROOF_KEY` for commands (`feed publish`, `log prune`): seals entries, cannot sign.',
    ),
    logs: setting('PROOF_LOGS', choices(...LOGS), LOGS, 'Logs to keep, of the interfaces in `AREAS`.'),
    ended: setting(
      'PROOF_ENDED',
      choices('verwerkingen', 'leveringen'),
      [],
      'Logs that get no new entries; existing ones stay proven.',
    ),
    state: optional(
      'PROOF_STATE',
      file,
      'Last published checkpoints; keep it where a restored backup does not reach. Required in production.',
    ),
    instances: setting(
      'PROOF_INSTANCES',
      addresses,
      [],
      'All instances of this service, asked for their last checkpoint before signing.',
    ),
    witnesses: optional('PROOF_WITNESSES', file, 'Witnesses, and how many must cosign (C2SP tlog-policy).'),
    witnessFor: optional('PROOF_WITNESS_FOR', file, 'Verifier keys, one a line, of logs that this service witnesses.'),

    pad: setting(
      'PROOF_PAD',
      integer(0, 256),
      0,
      'Checkpoints grow by a multiple of this, to hide how much was recorded; not in the feed.',
    ),
  },
};

/** Settings that no operator has a reason to change, by group; tests override them. */
export const proofConstants = {
  proof: {
    intervalSeconds: 60,
  },
};
