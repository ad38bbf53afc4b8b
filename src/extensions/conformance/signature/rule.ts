/** What a rule for signed messages consists of, and what rules of both kinds read of a message. */
import { type Certificate, JadesError, type JadesErrorCode, parseCertificate } from '../../../lib/jades/certificate.ts';
import type { Clause, Level } from '../case.ts';
import type { SignedMessage, Trust } from './message.ts';

export type RuleName =
  | 'digest'
  | 'digest-form'
  | 'digest-holds'
  | 'content-digest'
  | 'signature'
  | 'detached'
  | 'base64url'
  | 'json'
  | 'alg'
  | 'kid'
  | 'typ'
  | 'crit'
  | 'b64'
  | 'sigD'
  | 'form'
  | 'x5c'
  | 'x5t'
  | 'holds'
  | 'time'
  | 'time-holds'
  | 'anchor'
  | 'validity'
  | 'usage'
  | 'strength'
  | 'oin'
  | 'revoked'
  | 'status';

export interface SignatureRule {
  readonly title: { readonly nl: string; readonly en: string };
  readonly level: Level;
  readonly source: Clause;
  /** Rules without which this one means nothing. */
  readonly needs: readonly RuleName[];
  /** What is wrong; undefined: nothing. Of a rule that is `open`, what is seen. @throws {Absent} when the message does not have it */
  readonly judge: (message: SignedMessage, trust: Trust) => string | undefined | Promise<string | undefined>;
}

/** The message does not have what the rule is about. */
export class Absent extends Error {
  readonly code = 'absent';
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export const rule = <Judge extends SignatureRule['judge']>(
  [nl, en]: readonly [string, string],
  level: Level,
  source: Clause,
  needs: readonly RuleName[],
  judge: Judge,
): SignatureRule => ({ title: { nl, en }, level, source, needs, judge });

/** Of each `x5c`: every rule reads the same ones. */
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

/** Why the library refuses, for one of these reasons. */
export async function refusal(work: () => unknown, ...codes: readonly JadesErrorCode[]): Promise<string | undefined> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof JadesError)) throw error;
    if (codes.includes(error.code)) return error.message;
  }
  return undefined;
}
