import type { Client } from '../exchange.ts';
import { LOGS, readLdvSubject } from '../ldv/subject.ts';
import { LDV } from '../ldv/suite.ts';
import type { CaseResult } from '../run-suite.ts';
import { runCases } from './run-cases.ts';

/** Cases for a busy service only, and for TLS, which is not required on this machine. */
export const NOT_OFFERED = ['L-ANS-14', 'L-ANS-17'];

/**
 * Runs the cases against an address, as fast as it answers.
 * @param token for each scope
 */
export function runLdv(
  url: string,
  token: (scope: string) => Promise<string>,
  isWanted?: (id: string) => boolean,
): Promise<readonly CaseResult[]> {
  const tokens = { [LOGS]: () => token(LOGS) };
  const open = (client: Client) => readLdvSubject(url, client, tokens);
  return runCases({ suite: LDV, tested: url, tokens, isWanted, open });
}
