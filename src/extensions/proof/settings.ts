import { choices, integer, list, optionalText } from '../../settings/kinds.ts';
import type { Config, Fault } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly proof: typeof settings.proof;
  }
}

/** Settings of the logs that prove what was recorded. */
export const settings = {
  proof: {
    key: optionalText('PROOF_KEY', {
      secret: true,
      pattern: /^[A-Za-z0-9+/]{43}=$/,
      allowed: '32 bytes in base64, as `koppelvlak proof key` makes them',
      description: 'Switches the proof logs on; the keys that sign them follow from it. It must stay the same.',
    }),
    sealingKey: optionalText('PROOF_SEALING_KEY', {
      secret: true,
      pattern: /^[A-Za-z0-9+/]{256}$/,
      allowed: 'a text as `koppelvlak proof key --sealing` makes it',
      description:
        'Instead of `PROOF_KEY` for commands that write to a log of proof (`feed publish`, `log prune`): it seals entries and cannot sign. The service needs `PROOF_KEY`.',
    }),
    logs: choices('PROOF_LOGS', ['verwerkingen', 'leveringen', 'raadsfeed'], {
      default: ['verwerkingen', 'leveringen', 'raadsfeed'],
      description: 'Which logs are kept; those of interfaces that are not in `AREAS` do not count.',
    }),
    ended: choices('PROOF_ENDED', ['verwerkingen', 'leveringen'], {
      default: [],
      description:
        'Logs of `PROOF_LOGS` that get no new entries any more: what is recorded is not proven from then on. What was entered stays proven.',
    }),
    intervalSeconds: integer('PROOF_INTERVAL_SECONDS', {
      default: 60,
      min: 1,
      max: 86_400,
      description: 'Time in seconds between two checkpoints of a proof log.',
    }),
    state: optionalText('PROOF_STATE', {
      description:
        'File with the last published checkpoint of each proof log, outside the database; keep it where a restored backup does not reach. Absent: in `KOPPELVLAK_HOME`, which production refuses.',
    }),
    instances: list('PROOF_INSTANCES', {
      item: /^https?:\/\/[^\s,/?#@]+(\/[^\s,?#]*)?$/,
      allowed: 'comma list of addresses with `http:` or `https:`',
      description:
        'Addresses of the other instances of this service: each is asked for the last checkpoint that it published, before a new one is signed. This instance’s own may be among them.',
    }),
    pad: integer('PROOF_PAD', {
      default: 0,
      min: 0,
      max: 256,
      description:
        'Each checkpoint grows by a multiple of this number of leaves, so that the size does not say how much was recorded; 0: not. Never in the feed.',
    }),
    witnesses: optionalText('PROOF_WITNESSES', {
      description:
        'File with the witnesses of the proof logs and how many of them must cosign, as C2SP tlog-policy writes it. Absent: none.',
    }),
    witnessFor: optionalText('PROOF_WITNESS_FOR', {
      description:
        'File with the verifier keys of logs of others, one a line, that this service is a witness for. Absent: it is none.',
    }),
  },
};

export const isServed = (): boolean => true;
export const mounts = ({ proof }: Config): string[] => (proof.key === undefined ? [] : ['/proof/v1']);

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
