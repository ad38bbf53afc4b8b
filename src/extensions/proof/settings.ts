import { choices, fixed, integer, list, optional, secret, setting, text } from '../../settings/kinds.ts';
import type { Config, Fault } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly proof: typeof settings.proof;
  }
}

const LOGS = ['verwerkingen', 'leveringen', 'raadsfeed'] as const;

/** Settings of the logs that prove what was recorded. */
export const settings = {
  proof: {
    key: secret(
      'PROOF_KEY',
      text(/^[A-Za-z0-9+/]{43}=$/, '32 bytes in base64, as `koppelvlak proof key` makes them'),
      'Switches the proof logs on; the keys that sign them follow from it. It must stay the same.',
    ),
    sealingKey: secret(
      'PROOF_SEALING_KEY',
      text(/^[A-Za-z0-9+/]{256}$/, 'a text as `koppelvlak proof key --sealing` makes it'),
      'Instead of `PROOF_KEY` for commands that write to a log of proof (`feed publish`, `log prune`): it seals entries and cannot sign. The service needs `PROOF_KEY`.',
    ),
    logs: setting(
      'PROOF_LOGS',
      choices(...LOGS),
      LOGS,
      'Which logs are kept; those of interfaces that are not in `AREAS` do not count.',
    ),
    ended: setting(
      'PROOF_ENDED',
      choices('verwerkingen', 'leveringen'),
      [],
      'Logs of `PROOF_LOGS` that get no new entries any more: what is recorded is not proven from then on. What was entered stays proven.',
    ),
    state: optional(
      'PROOF_STATE',
      text(),
      'File with the last published checkpoint of each proof log, outside the database; keep it where a restored backup does not reach. Absent: in `KOPPELVLAK_HOME`, which production refuses.',
    ),
    instances: setting(
      'PROOF_INSTANCES',
      list(/^https?:\/\/[^\s,/?#@]+(\/[^\s,?#]*)?$/, 'comma list of addresses with `http:` or `https:`'),
      [],
      'Addresses of the other instances of this service: each is asked for the last checkpoint that it published, before a new one is signed. This instance’s own may be among them.',
    ),
    witnesses: optional(
      'PROOF_WITNESSES',
      text(),
      'File with the witnesses of the proof logs and how many of them must cosign, as C2SP tlog-policy writes it. Absent: none.',
    ),
    witnessFor: optional(
      'PROOF_WITNESS_FOR',
      text(),
      'File with the verifier keys of logs of others, one a line, that this service is a witness for. Absent: it witnesses no logs.',
    ),

    pad: setting(
      'PROOF_PAD',
      integer(0, 256),
      0,
      'Each checkpoint grows by a multiple of this number of leaves, so that the size does not say how much was recorded; 0: it does not. Never in the feed.',
    ),

    /** Time in seconds between two checkpoints of a proof log. */
    intervalSeconds: fixed('PROOF_INTERVAL_SECONDS', 60),
  },
};

export const isServed = (): boolean => true;

export function contradictions({ proof, server, verwerkingenlog }: Config, fault: Fault): void {
  if (proof.key === undefined && proof.sealingKey === undefined) return;
  const needsTokens = server.areas.some((area) => area !== 'raadsfeed');
  if (needsTokens && proof.logs.includes('verwerkingen') && verwerkingenlog.key === undefined)
    fault(
      ['VERWERKINGENLOG_KEY', 'PROOF_KEY', 'PROOF_LOGS'],
      'is missing',
      'keys for identifiers: they encrypt the secrets of the proof log `verwerkingen`',
    );
  if (server.environment === 'production' && proof.key !== undefined && proof.state === undefined)
    fault(['PROOF_STATE', 'PROOF_KEY', 'NODE_ENV'], 'is missing', 'a file where a restored backup does not reach');
}
