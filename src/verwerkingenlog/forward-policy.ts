import type { Config } from '../settings/config.ts';

/** Which new actions are forwarded to another logbook; undefined: none. */
export type ForwardPolicy = 'normaal' | 'alles' | undefined;

export function forwardPolicy({ ldvOut }: Pick<Config, 'ldvOut'>): ForwardPolicy {
  if (ldvOut.forwardUrl === undefined) return undefined;
  return ldvOut.forwardConfidential ? 'alles' : 'normaal';
}
