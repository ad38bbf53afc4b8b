import {
  type Certificate,
  JadesError,
  type JadesErrorCode,
  parseCertificate,
} from '../../src/lib/jades/certificate.ts';
import type { Grade } from '../case.ts';
import type { SignedMessage, Trust } from './message.ts';

/**
 * The case ids in order, written out: an id never changes, wherever its rule is listed. `own` is that in the suite for
 * signed messages, `number` that in a chapter on one party's signatures, if the rule is tested there.
 */
export const RULE_IDS = {
  digest: { own: 'S-DIG-01', number: '01' },
  'digest-form': { own: 'S-DIG-02', number: '02' },
  'digest-holds': { own: 'S-DIG-03', number: '03' },
  'content-digest': { own: 'S-DIG-04', number: undefined },
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
export type RuleName = keyof typeof RULE_IDS;

export type SignatureRule = Grade & {
  readonly nl: string;
  readonly en: string;
  /** Rules without which this one means nothing; by default, that the header can be read. */
  readonly needs?: readonly RuleName[];
  /**
   * The fault; undefined when there is none. For an `open` rule, the observation.
   * @throws {Skipped} when the message lacks the part in question
   */
  readonly judge: (message: SignedMessage, trust: Trust) => string | undefined | Promise<string | undefined>;
};

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Cached per `x5c`: every rule reads the same certificates. */
const chains = new WeakMap<readonly unknown[], readonly Certificate[]>();

/** @throws when one cannot be read */
export function certificatesOf({ header: { x5c } }: SignedMessage): readonly Certificate[] {
  if (!Array.isArray(x5c) || x5c.length === 0) throw new Error('there is no `x5c` with certificates');
  const known = chains.get(x5c);
  if (known !== undefined) return known;
  const chain = x5c.map((text: unknown) => {
    if (typeof text !== 'string' || !BASE64.test(text)) throw new Error('`x5c` is not base64');
    return parseCertificate(Buffer.from(text, 'base64'));
  });
  chains.set(x5c, chain);
  return chain;
}

/** Why the library refuses the message, if for one of these reasons. */
export async function refusal(work: () => unknown, ...codes: readonly JadesErrorCode[]): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof JadesError)) throw error;
    if (codes.includes(error.code)) return error.message;
  }
  return undefined;
}
