/** The ids of the cases for signed messages, written down: an id never changes, wherever a rule comes to be listed. */
import type { RuleName } from './rule.ts';

interface RuleIds {
  /** In the suite for signed messages. */
  readonly own: string;
  /** The number in a chapter for what a party signs; absent: it is not judged there. */
  readonly number?: string;
}

/** In the order of the cases. */
export const RULE_IDS: Readonly<Record<RuleName, RuleIds>> = {
  digest: { own: 'S-DIG-01', number: '01' },
  'digest-form': { own: 'S-DIG-02', number: '02' },
  'digest-holds': { own: 'S-DIG-03', number: '03' },
  'content-digest': { own: 'S-DIG-04' },
  signature: { own: 'S-JWS-01', number: '04' },
  detached: { own: 'S-JWS-02', number: '05' },
  base64url: { own: 'S-JWS-03', number: '06' },
  json: { own: 'S-JWS-04', number: '07' },
  alg: { own: 'S-JWS-05', number: '08' },
  kid: { own: 'S-JWS-06', number: '09' },
  typ: { own: 'S-JWS-07', number: '10' },
  crit: { own: 'S-JWS-08', number: '11' },
  b64: { own: 'S-JWS-09', number: '12' },
  sigD: { own: 'S-JWS-10', number: '13' },
  form: { own: 'S-JWS-11', number: '14' },
  x5c: { own: 'S-JWS-12', number: '15' },
  x5t: { own: 'S-JWS-13', number: '16' },
  holds: { own: 'S-JWS-14', number: '17' },
  time: { own: 'S-JWS-15', number: '18' },
  'time-holds': { own: 'S-JWS-16', number: '19' },
  anchor: { own: 'S-CRT-01', number: '20' },
  validity: { own: 'S-CRT-02', number: '21' },
  usage: { own: 'S-CRT-03', number: '22' },
  strength: { own: 'S-CRT-04', number: '23' },
  oin: { own: 'S-CRT-05', number: '24' },
  revoked: { own: 'S-CRT-06', number: '25' },
  status: { own: 'S-CRT-07', number: '26' },
};
